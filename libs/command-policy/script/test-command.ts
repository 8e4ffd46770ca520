import { dynamic, type CommandFinding } from '../words/index.js';
import { nodeText, type SyntaxNode } from './syntax.js';

/**
 * A test reads nothing but what files are, except in two ways: `sh` takes an operator within `[[ ]]` for one of its own, and a text
 * that is calculated can hold a command.
 */
export function testFindings(source: string, node: SyntaxNode): CommandFinding[] {
  const findings: CommandFinding[] = [];
  if (differs(source, node)) findings.push(dynamic('shells-differ', 'sh and bash read this test differently.'));
  if (hidesCommand(source, node)) findings.push(dynamic('hidden-command', 'A text in a test holds a command.'));
  return findings;
}

function differs(source: string, node: SyntaxNode): boolean {
  // Within a test these are redirections and pipes to a shell that does not know it.
  if (!node.named && /^(?:[<>&|]|>>|<<)$/u.test(node.type)) return true;
  if (node.type === 'regex' && /[|&;<>()]/u.test(nodeText(source, node))) return true;
  // To `sh` what follows is a command of its own: after `||` because there is no `[[`, after `&&` where that is negated.
  if (node.type === 'binary_expression' && /^(?:\|\||&&)$/u.test(node.children[1]?.type ?? '')) {
    const right = node.children[2];
    // Where `sh` would look for a program of the name of an operator, nothing runs.
    if (right?.type !== 'unary_expression' || right.children[0]?.type !== 'test_operator') return true;
  }
  return node.children.some((child) => differs(source, child));
}

const hidesCommand = (source: string, node: SyntaxNode): boolean =>
  ((node.type === 'raw_string' || node.type === 'word' || node.type === 'ansi_c_string') &&
    /\$\(|`|\\/u.test(nodeText(source, node))) ||
  node.children.some((child) => hidesCommand(source, child));
