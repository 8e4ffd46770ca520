import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { Language, Parser, type Tree, type TreeCursor } from 'web-tree-sitter';
import { SYNTAX_LIMITS, type ParsedScript, type ShellParser, type SyntaxNode } from './syntax.js';

let opened: Promise<ShellParser> | undefined;

/** The grammar of bash, loaded once per process. The trees it gives are plain data: nothing has to be freed. */
export function openBashGrammar(): Promise<ShellParser> {
  opened ??= load();
  return opened;
}

/** To optimise the grammar's one huge function the engine takes hundreds of MiB for a while, and saves a tenth of a millisecond. */
const ENGINE_FLAGS = ['--no-wasm-tier-up', '--no-wasm-dynamic-tiering'];

async function load(): Promise<ShellParser> {
  for (const flag of ENGINE_FLAGS) setFlagsFromString(flag);
  await Parser.init();
  // The grammar's package has no exports map: the file beside its package.json is where it is.
  const wasm = fileURLToPath(import.meta.resolve('tree-sitter-bash/tree-sitter-bash.wasm'));
  const language = await Language.load(await readFile(wasm));
  const parser = new Parser();
  parser.setLanguage(language);
  return { parse: (text) => parse(parser, text) };
}

function parse(parser: Parser, text: string): ParsedScript {
  if (text.length > SYNTAX_LIMITS.charsMax)
    return { ok: false, reason: `The command is longer than ${SYNTAX_LIMITS.charsMax} characters.` };
  let tree: Tree | null = null;
  try {
    tree = parser.parse(text, null, { progressCallback: tooMuchWork() });
    if (tree === null) {
      parser.reset();
      return { ok: false, reason: 'The command takes too long to read.' };
    }
    return copied(tree);
  } catch {
    parser.reset();
    return { ok: false, reason: 'The command cannot be read.' };
  } finally {
    tree?.delete();
  }
}

/** Measured by the thread's own work: a machine that stalls must not turn a plain command into one that nobody can read. */
function tooMuchWork(): () => boolean {
  const before = process.threadCpuUsage();
  let asked = 0;
  return () => {
    if (++asked <= SYNTAX_LIMITS.parseStepsMin) return false;
    const { user, system } = process.threadCpuUsage(before);
    return user + system > SYNTAX_LIMITS.parseCpuMsMax * 1_000;
  };
}

class TooMuch extends Error {}

function copied(tree: Tree): ParsedScript {
  const cursor = tree.walk();
  try {
    return { ok: true, root: copy(cursor, { left: SYNTAX_LIMITS.nodesMax }, 0) };
  } catch (error) {
    if (error instanceof TooMuch) return { ok: false, reason: error.message };
    throw error;
  } finally {
    cursor.delete();
  }
}

function copy(cursor: TreeCursor, budget: { left: number }, depth: number): SyntaxNode {
  if (--budget.left < 0) throw new TooMuch(`The command has more than ${SYNTAX_LIMITS.nodesMax} parts.`);
  if (depth > SYNTAX_LIMITS.depthMax) throw new TooMuch(`The command is nested deeper than ${SYNTAX_LIMITS.depthMax}.`);
  const type = cursor.nodeIsMissing ? 'MISSING' : cursor.nodeType;
  const { nodeIsNamed: named, currentFieldName: field, startIndex: start, endIndex: end } = cursor;
  const children: SyntaxNode[] = [];
  if (cursor.gotoFirstChild()) {
    do children.push(copy(cursor, budget, depth + 1));
    while (cursor.gotoNextSibling());
    cursor.gotoParent();
  }
  return { type, named, field, start, end, children };
}
