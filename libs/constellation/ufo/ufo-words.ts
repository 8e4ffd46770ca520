// The words of UFO's constellation JSON and what they are among ours.

export type Fields = Readonly<Record<string, unknown>>;

export const DEVICE_TYPES = ['windows', 'macos', 'linux', 'android', 'ios', 'web', 'api'] as const;
export const DEPENDENCY_TYPES = ['unconditional', 'conditional', 'success_only', 'completion_only'] as const;
export const PRIORITIES = ['low', 'medium', 'high', 'critical'] as const;
/** What each priority of UFO is among ours, in the order of its numbers 1 to 4. */
export const PRIORITY_VALUES = [-10, 0, 10, 20] as const;
export const MEDIUM = 2;

/** The highest priority of UFO that is not above ours; LOW when there is none. */
export function levelOf(priority: number): number {
  return Math.max(1, PRIORITY_VALUES.filter((value) => value <= priority).length);
}

export function withoutNothing(fields: Fields): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => !isNothing(value)));
}

export function isNothing(value: unknown): value is null | undefined {
  return value === null || value === undefined;
}

export function withoutKeys(fields: Fields, keys: ReadonlySet<string>): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([key]) => !keys.has(key)));
}

/** Of a task, what UFO has a field for, and where it stood in its list: the rest is written and read as it is. */
export const NOT_EXTRAS_OF_TASKS: ReadonlySet<string> = new Set([
  'position',
  'id',
  'name',
  'description',
  'tips',
  'timeoutMs',
]);
/** Of a line. Its condition and its description share one field of UFO. */
export const NOT_EXTRAS_OF_LINES: ReadonlySet<string> = new Set([
  'position',
  'id',
  'from',
  'to',
  'type',
  'condition',
  'description',
]);
