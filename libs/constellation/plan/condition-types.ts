import type { ASTNode, Environment } from '@marcbachmann/cel-js';
import { ExecCliResult, SysInfoResult } from '#proto';
import { COMPREHENSIONS, conditionCallOf, childrenOf, languageWith, literalOf, read } from './condition-language.js';

/** A result whose fields are known: by contract, whatever the device. */
type Fields = Readonly<Record<string, string>>;

/** The result of a task that runs on several devices, in the words of what is said about a condition. */
export const SEVERAL_DEVICES = 'a task on several devices';

/** Fields without a type here may be anything. */
const RESULTS: Readonly<Record<string, Fields>> = {
  EXEC_CLI: fieldsOf(ExecCliResult.shape, {
    stdout: 'string',
    stderr: 'string',
    command: 'string',
    timestamp: 'string',
    status: 'string',
    exit_code: 'int',
    stdout_bytes: 'int',
    stderr_bytes: 'int',
  }),
  [SEVERAL_DEVICES]: {
    devices: 'int',
    waves: 'int',
    completed: 'int',
    failed: 'int',
    cancelled: 'int',
    not_started: 'int',
    left_out: 'int',
    results: 'dyn',
  },
  SYS_INFO: fieldsOf(SysInfoResult.shape, { info_type: 'string', timestamp: 'string' }),
};

function fieldsOf(shape: object, types: Fields): Fields {
  return Object.fromEntries(Object.keys(shape).map((name) => [name, types[name] ?? 'dyn']));
}

const typed = new Map<string, Environment>();

function typedFor(tool: string, schema: Fields): Environment {
  const known = typed.get(tool);
  if (known !== undefined) return known;
  const made = languageWith((environment) =>
    environment.registerVariable({ name: 'result', schema: { ...schema } }).registerVariable('board', 'dyn'),
  );
  typed.set(tool, made);
  return made;
}

/** How a task can have ended when a condition asks for it. */
const ENDS: ReadonlySet<string> = new Set(['COMPLETED', 'FAILED', 'SKIPPED', 'CANCELLED']);

/** What types show to be wrong with a condition over the result of a tool; undefined where nothing does, or nothing is known. */
export function wrongTypes(condition: string, ast: ASTNode, tool: string | undefined): string | undefined {
  if (rebinds(ast)) return undefined;
  const status = strangeStatus(ast);
  if (status !== undefined)
    return `compares status with "${status}", which is no end; valid are ${[...ENDS].join(', ')}`;
  const fields = tool === undefined ? undefined : RESULTS[tool];
  if (tool === undefined || fields === undefined) return undefined;
  const stranger = strangeField(ast, fields);
  if (stranger !== undefined) {
    return `asks for result.${stranger}, which ${tool} does not answer; valid are ${Object.keys(fields).join(', ')}`;
  }
  const { valid, error } = read(typedFor(tool, fields), condition).check();
  const why = valid ? undefined : firstLine(error);
  return why === undefined || mayHold(why) ? undefined : `does not fit what ${tool} answers: ${why}`;
}

/**
 * What the checker refuses and an evaluation does not: the result as a whole, which is a map and may be null, and a number
 * compared with one of the other kind.
 */
function mayHold(why: string): boolean {
  return /\$result|\bnull\b|\bdouble\b/u.test(why);
}

/** A name in a comprehension or a binding may hide ours. */
function rebinds(node: ASTNode): boolean {
  const call = conditionCallOf(node);
  const binds = call !== undefined && (COMPREHENSIONS.has(call.name) || call.name === 'bind');
  const hides = binds && call.args.some((arg) => arg.op === 'id' && isOurs(arg) && arg !== call.args[0]);
  return hides || childrenOf(node).some(rebinds);
}

function isOurs({ op, args }: ASTNode): boolean {
  return op === 'id' && (args === 'result' || args === 'status');
}

function isStatus({ op, args }: ASTNode): boolean {
  return op === 'id' && args === 'status';
}

function strangeStatus(node: ASTNode): string | undefined {
  const { op } = node;
  if (op === '==' || op === '!=' || op === 'in') {
    const [left, right] = node.args;
    const words = isStatus(left) ? wordsOf(right) : isStatus(right) && op !== 'in' ? wordsOf(left) : [];
    const stranger = words.find((word) => !ENDS.has(word));
    if (stranger !== undefined) return stranger;
  }
  for (const child of childrenOf(node)) {
    const stranger = strangeStatus(child);
    if (stranger !== undefined) return stranger;
  }
  return undefined;
}

function wordsOf(node: ASTNode): string[] {
  const word = literalOf(node);
  if (typeof word === 'string') return [word];
  return node.op === 'list' ? node.args.flatMap(wordsOf) : [];
}

function strangeField(node: ASTNode, fields: Fields): string | undefined {
  const name = fieldOf(node);
  if (name !== undefined && !Object.hasOwn(fields, name)) return name;
  for (const child of childrenOf(node)) {
    const stranger = strangeField(child, fields);
    if (stranger !== undefined) return stranger;
  }
  return undefined;
}

/** `result.name` and `result["name"]`. */
function fieldOf(node: ASTNode): string | undefined {
  if (node.op !== '.' && node.op !== '[]') return undefined;
  const [of, field] = node.args;
  if (of.op !== 'id' || of.args !== 'result') return undefined;
  const name = typeof field === 'string' ? field : literalOf(field);
  return typeof name === 'string' ? name : undefined;
}

function firstLine(error: Error | undefined): string {
  return error?.message.split('\n', 1)[0] ?? '';
}
