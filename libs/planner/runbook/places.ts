import type { Json } from '#proto';

/**
 * What a text of a template becomes: a line of a shell; a text; a CEL expression; or a value, which keeps the type of a
 * parameter when the placeholder is the whole text.
 */
export type Place = 'shell' | 'text' | 'condition' | 'value';

export type Path = readonly (string | number)[];

/** Arguments of tools that some shell reads. */
const COMMAND_LINES = new Set(['command', 'cmd', 'command_line', 'commandline', 'bash_command', 'script']);
const VALUES = new Set(['timeout_seconds', 'deadline_seconds', 'attempts', 'target', 'for_each', 'waves']);

/** `path`: inside of a task or a dependency. */
export function placeOf(path: Path): Place {
  const [first, second] = path;
  const inArguments = argumentOf(path);
  if (inArguments !== undefined) {
    if (COMMAND_LINES.has(String(inArguments).toLowerCase())) return 'shell';
    return inArguments === 'env' || inArguments === 'stdin' ? 'text' : 'value';
  }
  if (first === 'condition' || (first === 'verify' && second === 'condition')) return 'condition';
  if ((first === 'target' || first === 'for_each') && second === 'where') return 'condition';
  return typeof first === 'string' && VALUES.has(first) ? 'value' : 'text';
}

/** The variable of the environment that is set at a path. */
export function variableAt(path: Path): string | undefined {
  const variable = argumentOf(path) === 'env' ? path.at(-1) : undefined;
  return typeof variable === 'string' ? variable : undefined;
}

/** The name of a secret of the device: `env: {TOKEN: {secret: name}}`, `stdin: {secret: name}`. */
export function isSecretAt(path: Path): boolean {
  const argument = argumentOf(path);
  return (argument === 'env' || argument === 'stdin') && path.at(-1) === 'secret' && path.at(-2) !== 'env';
}

function argumentOf(path: Path): string | number | undefined {
  const rest = path[0] === 'verify' ? path.slice(1) : path;
  return rest[0] === 'command' && rest[1] === 'arguments' ? rest[2] : undefined;
}

export interface TextAt {
  readonly path: Path;
  readonly text: string;
}

/** Every text in a value with its path. */
export function* textsIn(value: unknown, path: Path = []): Generator<TextAt> {
  if (typeof value === 'string') yield { path, text: value };
  else if (Array.isArray(value)) for (const [index, item] of value.entries()) yield* textsIn(item, [...path, index]);
  else if (typeof value === 'object' && value !== null) {
    for (const [key, item] of Object.entries(value)) yield* textsIn(item, [...path, key]);
  }
}

/** Every name of a field with the path of what has it. */
export function* keysIn(value: unknown, path: Path = []): Generator<TextAt> {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, item] of Object.entries(value)) {
    if (!Array.isArray(value)) yield { path, text: key };
    yield* keysIn(item, [...path, key]);
  }
}

/** The value with other texts; what becomes undefined is left out. */
export function mapTexts(
  value: unknown,
  change: (text: string, path: Path) => Json | undefined,
  path: Path = [],
): Json | undefined {
  if (typeof value === 'string') return change(value, path);
  if (Array.isArray(value)) {
    return value.flatMap((item: unknown, index) => {
      const changed = mapTexts(item, change, [...path, index]);
      return changed === undefined ? [] : [changed];
    });
  }
  if (typeof value !== 'object' || value === null) return value as Json | undefined;
  const entries = Object.entries(value).flatMap(([key, item]) => {
    const changed = mapTexts(item, change, [...path, key]);
    return changed === undefined ? [] : [[key, changed] as const];
  });
  return Object.fromEntries(entries);
}
