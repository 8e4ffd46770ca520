import { dynamic, type CommandFinding, DIGITS, type Glyphs } from '../words/index.js';
import type { Variables } from './resolve-word.js';
import { nodeText, type SyntaxNode } from './syntax.js';

/**
 * Where a shell calculates, it takes the text of a variable for an expression, and an expression can hold a command:
 * `a[$(reboot)]`. So whatever is calculated must be known to be a number.
 */
export function calculationFindings(source: string, node: SyntaxNode, variables: Variables): CommandFinding[] {
  if (node.type === 'arithmetic_expansion') return isCalm(source, node, variables) ? [] : [unsafe('A calculation')];
  if (node.type === 'subscript') {
    const index = node.children.filter(({ field }) => field === 'index');
    const isPlain = index.every(
      (one) => /^(?:-?\d+|[@*])$/u.test(nodeText(source, one)) || isCalm(source, one, variables),
    );
    return isPlain ? [] : [unsafe('An index')];
  }
  return node.type === 'expansion' ? expansionFindings(source, node, variables) : [];
}

const unsafe = (what: string): CommandFinding =>
  dynamic('hidden-command', `${what} uses a text that could hold a command.`);

function expansionFindings(source: string, node: SyntaxNode, variables: Variables): CommandFinding[] {
  const marks = new Set(node.children.filter(({ named }) => !named).map(({ type }) => type));
  const text = nodeText(source, node).trimStart();
  if (text.startsWith('${!')) return [dynamic('indirect', 'Which variable is meant is known only when it runs.')];
  if (marks.has('@') && !/^\$\{@\}?/u.test(text))
    return [dynamic('indirect', 'The text of a variable would be read as a command.')];
  if (!marks.has(':')) return [];
  const name = node.children.findIndex(
    ({ type }) => type === 'variable_name' || type === 'special_variable_name' || type === 'subscript',
  );
  return node.children.slice(name + 1).every((part) => isCalm(source, part, variables))
    ? []
    : [unsafe('A part of a text')];
}

/** Whether all that is in it is known to be a number. */
function isCalm(source: string, node: SyntaxNode, variables: Variables): boolean {
  if (node.type === 'variable_name' || node.type === 'word') return isNumeric(variables.get(nodeText(source, node)));
  if (node.type === 'string' || node.type === 'raw_string' || node.type === 'ansi_c_string') return false;
  if (node.type === 'command_substitution' || node.type === 'process_substitution') return false;
  if (node.type === 'special_variable_name') return /^[?#$!]$/u.test(nodeText(source, node));
  return node.children.every((child) => isCalm(source, child, variables));
}

export const isNumeric = (values: readonly Glyphs[] | undefined): boolean =>
  values !== undefined &&
  values.length > 0 &&
  values.every((value) => value.every((glyph) => glyph === DIGITS || (glyph >= 48 && glyph <= 57)));

/** A test is calculated where it compares numbers within `[[ ]]`, and wherever it asks for a variable by its name. */
export function testCalculations(source: string, node: SyntaxNode, variables: Variables): CommandFinding[] {
  const isDouble = node.children[0]?.type === '[[';
  const visit = (part: SyntaxNode): CommandFinding[] => {
    const operator = part.children.find(({ type }) => type === 'test_operator');
    const name = operator === undefined ? '' : nodeText(source, operator).trim();
    const operands = part.children.filter((child) => child !== operator);
    const found: CommandFinding[] = [];
    const splits =
      !isDouble &&
      (part.type === 'simple_expansion' || part.type === 'expansion' || part.type === 'command_substitution');
    if (splits && !isCalm(source, part, variables)) found.push(unsafe('A test'));
    if (part.type === 'string') return found;
    if (
      part.type === 'unary_expression' &&
      /^-[vR]$/u.test(name) &&
      !operands.every((one) => /^[A-Za-z_]\w*$/u.test(nodeText(source, one)))
    )
      found.push(unsafe('A test'));
    if (
      isDouble &&
      part.type === 'binary_expression' &&
      /^-(?:eq|ne|lt|le|gt|ge)$/u.test(name) &&
      !operands.every((one) => isNumber(source, one, variables))
    )
      found.push(unsafe('A test'));
    return [...found, ...part.children.flatMap(visit)];
  };
  return [...visit(node), ...(isDouble ? [] : splitFindings(source, node, variables))];
}

/** Without quotes a text that is not known can become the operator of a test. */
function splitFindings(source: string, node: SyntaxNode, variables: Variables): CommandFinding[] {
  if (node.type === 'string' || node.type === 'arithmetic_expansion') return [];
  if (node.type === 'command_substitution') return [unquoted];
  if (node.type === 'simple_expansion' || node.type === 'expansion') {
    const name = /^\$\{?(\w+)\}?$/u.exec(nodeText(source, node).trim())?.[1];
    const isKnown = /^\$(?:[?#$!]|\{[?#$!]\}|\{#\w+\})$/u.test(nodeText(source, node).trim());
    return isKnown || (name !== undefined && variables.has(name)) ? [] : [unquoted];
  }
  return node.children.flatMap((child) => splitFindings(source, child, variables));
}

const unquoted = dynamic('hidden-command', 'Without quotes a text in a test can become an operator of it.');

const isNumber = (source: string, node: SyntaxNode, variables: Variables): boolean =>
  /^"?-?\d+"?$/u.test(nodeText(source, node)) ||
  (node.type === 'string'
    ? node.children.filter(({ named }) => named).every((child) => isCalm(source, child, variables))
    : isCalm(source, node, variables));
