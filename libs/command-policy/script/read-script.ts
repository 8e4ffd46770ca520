import {
  dynamic,
  floor,
  notUnderstood,
  type CommandFinding,
  type StandardInput,
  type Invocation,
  type WorkingPlaces,
  type Names,
} from '../words/index.js';
import { doubtsAbout, hiddenIn } from './readable.js';
import { UnknownSyntax } from './resolve-word.js';
import { type ShellParser, type SyntaxNode, nodeText } from './syntax.js';
import { ScriptWalk } from './script-walk.js';

export interface ShellScript {
  readonly invocations: readonly Invocation[];
  /** What is to be said about the text itself. */
  readonly findings: readonly CommandFinding[];
}

/** Finds every command that a shell text can run. Total: text that cannot be read gives one finding that says no. */
export function readScript(
  text: string,
  parser: ShellParser,
  at: { places: WorkingPlaces; input: StandardInput },
): ShellScript {
  const hidden = hiddenIn(text);
  if (hidden !== undefined) return { invocations: [], findings: [notUnderstood(hidden)] };
  const parsed = parser.parse(text);
  if (!parsed.ok) return { invocations: [], findings: [notUnderstood(parsed.reason)] };
  const doubts = doubtsAbout(text, parsed.root);
  if (doubts !== undefined) return { invocations: [], findings: [notUnderstood(doubts)] };
  const names = namesIn(text, parsed.root);
  try {
    const walk = new ScriptWalk(text, names);
    walk.statements(parsed.root, { variables: new Map(), ...at });
    return { invocations: walk.invocations, findings: [...functionFindings(text, parsed.root), ...walk.findings] };
  } catch (error) {
    if (!(error instanceof UnknownSyntax)) throw error;
    return {
      invocations: [],
      findings: [notUnderstood(`The command has a part that is not understood: ${error.message}.`)],
    };
  }
}

function namesIn(source: string, root: SyntaxNode): Names {
  const functions = new Set<string>();
  const unsettled = new Set<string>();
  const visit = (node: SyntaxNode, inFunction: boolean): void => {
    const inside = inFunction || node.type === 'function_definition';
    if (node.type === 'function_definition') {
      const name = node.children.find(({ field }) => field === 'name');
      if (name !== undefined) functions.add(nodeText(source, name));
    }
    if (inFunction && (node.type === 'variable_name' || node.type === 'word')) unsettled.add(nodeText(source, node));
    for (const child of node.children) visit(child, inside);
  };
  visit(root, false);
  return { functions, unsettled };
}

/** A function that starts itself in the background or twice in a pipe never stops growing. */
function functionFindings(source: string, root: SyntaxNode): CommandFinding[] {
  const findings: CommandFinding[] = [];
  const visit = (node: SyntaxNode): void => {
    if (node.type === 'function_definition') {
      const name = node.children.find(({ field }) => field === 'name');
      const body = node.children.find(({ field }) => field === 'body');
      if (name !== undefined && body !== undefined && callsItself(source, body, nodeText(source, name)))
        findings.push(
          /[|&]/u.test(nodeText(source, body))
            ? floor('fork-bomb', 'A function starts itself again and again.')
            : dynamic('recursion', 'A function calls itself.'),
        );
    }
    node.children.forEach(visit);
  };
  visit(root);
  return findings;
}

const callsItself = (source: string, node: SyntaxNode, name: string): boolean =>
  (node.type === 'command_name' && nodeText(source, node) === name) ||
  node.children.some((child) => callsItself(source, child, name));
