import type { ConstellationSnapshot } from '#proto';
import { visibleText } from '#libs/visible';

/** Bytes of a snapshot as JSON that a host is given at most, as far as shorter texts can bring it there. */
export const SNAPSHOT_BYTES_MAX = 512 * 1024;

/** Characters that are left of a free text in a constellation that would be too large. */
const TEXT_CHARS = [500, 120, 30] as const;

type Task = ConstellationSnapshot['tasks'][number];
type Dependency = ConstellationSnapshot['dependencies'][number];

/**
 * A snapshot as it may be handed out: in what devices, models and other people wrote, commands and checks included, what cannot
 * be seen is an escape, and its texts are cut when all of it would be too large.
 */
export function cleanSnapshot(snapshot: ConstellationSnapshot): ConstellationSnapshot {
  const whole = cleanValue(snapshot);
  let fitting = whole;
  for (const chars of TEXT_CHARS) {
    if (Buffer.byteLength(JSON.stringify(fitting)) <= SNAPSHOT_BYTES_MAX) break;
    fitting = withTexts(whole, (text) => clip(text, chars));
  }
  return fitting;
}

/** The same value with every string in it as it may be shown, the names of fields too: those of arguments come from others. */
export function cleanValue<T>(value: T): T;
export function cleanValue(value: unknown): unknown {
  if (typeof value === 'string') return visibleText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item: unknown) => cleanValue(item));
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [visibleText(name), cleanValue(item)]));
}

type Change = (text: string) => string;

function withTexts(snapshot: ConstellationSnapshot, change: Change): ConstellationSnapshot {
  return {
    ...snapshot,
    name: change(snapshot.name),
    tasks: snapshot.tasks.map((task) => withTaskTexts(task, change)),
    dependencies: snapshot.dependencies.map((dependency) => withDescription(dependency, change)),
  };
}

function withTaskTexts(task: Task, text: Change): Task {
  return {
    ...task,
    name: text(task.name),
    description: text(task.description),
    tips: task.tips.map(text),
    result: task.result === null ? null : text(task.result),
    ...(task.files_left && { files_left: task.files_left.map(text) }),
    error: task.error === null ? null : text(task.error),
  };
}

function withDescription(dependency: Dependency, text: Change): Dependency {
  const { condition_description: description } = dependency;
  return description === undefined ? dependency : { ...dependency, condition_description: text(description) };
}

function clip(text: string, chars: number): string {
  return text.length <= chars ? text : `${text.slice(0, chars - 1).toWellFormed()}…`;
}
