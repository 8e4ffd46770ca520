import type { ConstellationSnapshot } from '#proto';

/** Bytes of a snapshot as JSON that a host is given at most, as far as shorter texts can bring it there. */
export const SNAPSHOT_BYTES_MAX = 512 * 1024;

/** Characters that are left of a free text in a constellation that would be too large. */
const TEXT_CHARS = [500, 120, 30] as const;

type Task = ConstellationSnapshot['tasks'][number];
type Dependency = ConstellationSnapshot['dependencies'][number];

/**
 * A snapshot as it may be handed out: what devices, models and other people wrote has no control characters, no marks that
 * change the direction of text and none that cannot be seen, and its texts are cut when all of it would be too large.
 */
export function cleanSnapshot(snapshot: ConstellationSnapshot): ConstellationSnapshot {
  const whole = withTexts(snapshot, cleanSnapshotText);
  let fitting = whole;
  for (const chars of TEXT_CHARS) {
    if (Buffer.byteLength(JSON.stringify(fitting)) <= SNAPSHOT_BYTES_MAX) break;
    fitting = withTexts(whole, (text) => clip(text, chars));
  }
  return fitting;
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

const UNSEEN = new RegExp(
  [
    String.raw`\u001B\][\s\S]*?(?:\u0007|\u001B\\|$)`, // OSC: titles, links, clipboard
    String.raw`\u001B\[[0-?]*[ -/]*[@-~]`, // CSI: colours, cursor
    String.raw`[\u0000-\u0008\u000B-\u001F\u007F-\u009F]`,
    String.raw`[\u00AD\u061C\u200B-\u200F\u2028-\u202E\u2060-\u2069\uFEFF]`,
    String.raw`[\u{E0000}-\u{E007F}]`, // tags: text that nobody sees and models read
  ].join('|'),
  'gu',
);

/** Line breaks and tabs stay. Half a character has no form in UTF-8 and is replaced. */
export function cleanSnapshotText(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(UNSEEN, '').toWellFormed();
}
