import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseDocument } from 'yaml';
import { parseRunbook, type ParsedRunbook, type Runbook } from '#libs/planner';
import { sentenceOf, type RunbookInfo } from '#proto';
import { promptsDirectory } from './load-prompts.adapter.js';
import { PROMPT_LIMITS } from './prompt-file.js';

export interface RunbookDirectory {
  readonly path: string;
  readonly source: RunbookInfo['source'];
}

export interface LoadedRunbooks {
  /** By name, each once. */
  readonly runbooks: readonly Runbook[];
  /** Files that cannot be used and why, a sentence each; what is beside them can be used all the same. */
  readonly problems: readonly string[];
  /** The path of each, by name. */
  readonly files: ReadonlyMap<string, string>;
  /** Paths of files that cannot be used. */
  readonly broken: ReadonlySet<string>;
}

/** `prompts/runbooks` of this installation, and the operator's in ORRERY_RUNBOOKS_DIR, whose runbooks win by name. */
export function runbookDirectories(environment: NodeJS.ProcessEnv = process.env): RunbookDirectory[] {
  const shipped = { path: join(promptsDirectory({}), 'runbooks'), source: 'shipped' } as const;
  const own = environment['ORRERY_RUNBOOKS_DIR'] ?? '';
  return own === '' ? [shipped] : [shipped, { path: own, source: 'operator' }];
}

/** Reads every `.yaml` file of these directories; of one name the last directory wins. Never throws for what stands in a file. */
export async function loadRunbooks(
  directories: readonly RunbookDirectory[] = runbookDirectories(),
): Promise<LoadedRunbooks> {
  const byName = new Map<string, Runbook>();
  const files = new Map<string, string>();
  const broken = new Set<string>();
  const problems: string[] = [];
  for (const { path, source } of directories) {
    const fileOf = new Map<string, string>();
    for (const file of await yamlFiles(path, problems)) {
      const parsed = await readRunbook(join(path, file), source);
      if (!parsed.ok) {
        broken.add(join(path, file));
        problems.push(...parsed.issues.map((issue) => `${file}: ${sentenceOf(issue)}`));
        continue;
      }
      const { name } = parsed.runbook.info;
      const first = fileOf.get(name);
      if (first !== undefined) {
        problems.push(`${file}: name: "${name}" is already the runbook in ${first}`);
        continue;
      }
      fileOf.set(name, file);
      files.set(name, join(path, file));
      byName.set(name, parsed.runbook);
    }
  }
  const runbooks = [...byName.values()].toSorted((one, other) => (one.info.name < other.info.name ? -1 : 1));
  return { runbooks, problems, files, broken };
}

/** A runbook as it stands in a file. `bytes`: its hash is their SHA-256, as `sha256sum` gives it. */
export function parseRunbookFile(bytes: Uint8Array, source: RunbookInfo['source']): ParsedRunbook {
  if (bytes.length > PROMPT_LIMITS.fileBytesMax) {
    return refused(`it has ${bytes.length} bytes; ${PROMPT_LIMITS.fileBytesMax} are allowed`);
  }
  const hash = createHash('sha256').update(bytes).digest('hex');
  const document = parseDocument(new TextDecoder().decode(bytes), { stringKeys: true, logLevel: 'error' });
  const [wrong] = [...document.errors, ...document.warnings];
  if (wrong !== undefined) return refused(wrong.message.split('\n', 1)[0] ?? 'it is not YAML');
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: PROMPT_LIMITS.aliasesMax });
  } catch {
    return refused(`its aliases stand for more than ${PROMPT_LIMITS.aliasesMax} nodes`);
  }
  return parseRunbook(value, hash, source);
}

async function readRunbook(file: string, source: RunbookInfo['source']): Promise<ParsedRunbook> {
  try {
    return parseRunbookFile(await readFile(file), source);
  } catch (error) {
    return refused(`the file cannot be read (${codeOf(error)})`);
  }
}

async function yamlFiles(directory: string, problems: string[]): Promise<string[]> {
  try {
    const files = (await readdir(directory)).filter((file) => /\.ya?ml$/u.test(file)).toSorted();
    if (files.length <= PROMPT_LIMITS.filesMax) return files;
    problems.push(`${directory}: there are ${files.length} files; ${PROMPT_LIMITS.filesMax} are read`);
    return files.slice(0, PROMPT_LIMITS.filesMax);
  } catch (error) {
    problems.push(`${directory}: the directory cannot be read (${codeOf(error)})`);
    return [];
  }
}

const refused = (message: string): ParsedRunbook => ({ ok: false, issues: [{ path: '', message }] });

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? String(error);
