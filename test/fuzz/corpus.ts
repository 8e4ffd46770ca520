import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Json } from '#proto';

/** A frame that was recorded or written down as right, as a tree to mutate. */
export type Tree = { [key: string]: Json };

/** Good frames, by who sends them; one of each shape. */
export interface Corpus {
  readonly device: readonly Tree[];
  readonly constellation: readonly Tree[];
  readonly server: readonly Tree[];
}

interface Conversation {
  readonly from: 'device' | 'constellation' | 'server';
  readonly frames: readonly Tree[];
}

/** The one device that all recorded names become; its credential is what every session under test has. */
export const IDENTITY = 'dev-1';
export const CLIENT = 'galaxy-1';
const NAMES = /^(?:linux_agent_[12]|web-1|dev1|gpu-1)$/u;

/** `root`: of this repository. */
export function readCorpus(root: string): Corpus {
  const fixtures = join(root, 'proto/fixtures');
  const conversations = [...recorded(join(fixtures, 'aip/ufo')), ...writtenDown(join(fixtures, 'aip'))];
  const examples = examplesIn(fixtures);
  const of = (from: Conversation['from']): Tree[] => [
    ...conversations.flatMap((conversation) => (conversation.from === from ? conversation.frames : [])),
    ...examples.flatMap((example) => (example.from === from ? example.frames : [])),
  ];
  const different = (from: Conversation['from']): Tree[] => [
    ...new Map(of(from).map((frame) => [shapeOf(frame), frame])).values(),
  ];
  return { device: different('device'), constellation: different('constellation'), server: different('server') };
}

/** Type and keys, however deep: a recording says the same again and again, and what is rare deserves as many tries. */
function shapeOf(value: Json): string {
  if (Array.isArray(value)) return `[${[...new Set(value.map(shapeOf))].join(',')}]`;
  if (!isTree(value)) return value === null ? 'null' : typeof value;
  const keys = Object.entries(value).map(([key, item]) =>
    key === 'type' && typeof item === 'string' ? `type=${item}` : `${key}:${shapeOf(item)}`,
  );
  return `{${keys.join(',')}}`;
}

interface RecordedLine {
  readonly conn: string;
  readonly peer: string | null;
  readonly dir: 'c2s' | 's2c';
  readonly msg?: Json;
}

/** One conversation a connection and direction. */
function recorded(folder: string): Conversation[] {
  return filesIn(folder, '.jsonl').flatMap((text) => {
    const lines = text.split('\n').flatMap((line): RecordedLine[] => (line === '' ? [] : [JSON.parse(line)]));
    const byConnection = Map.groupBy(lines, ({ conn, dir }) => `${conn} ${dir}`);
    return [...byConnection.values()].flatMap((said): Conversation[] => {
      const frames = said.flatMap(({ msg }) => (isTree(msg) ? [filled(msg)] : []));
      const [first] = said;
      if (frames.length === 0 || first === undefined) return [];
      const client = first.peer?.startsWith('constellation') === true ? 'constellation' : 'device';
      return [{ from: first.dir === 's2c' ? 'server' : client, frames }];
    });
  });
}

/** Conversations of our own revisions, with `from` device or server. */
function writtenDown(folder: string): Conversation[] {
  return filesIn(folder, '-conversation.json').flatMap((text) => {
    const lines = JSON.parse(text) as { from: 'device' | 'server'; frame: Tree }[];
    return (['device', 'server'] as const).map((from) => ({
      from,
      frames: lines.flatMap((line) => (line.from === from ? [filled(line.frame)] : [])),
    }));
  });
}

/** The accepted examples of every AIP message, which stand in folders named after it. */
function examplesIn(fixtures: string): Conversation[] {
  const folders = readdirSync(fixtures).filter((name) => /^(?:Device|Server)[A-Z]/u.test(name));
  return folders.flatMap((folder) => {
    const examples = filesIn(join(fixtures, folder), '.json').map((text) => JSON.parse(text) as Record<string, Json>);
    const frames = examples.flatMap(({ issues, message }): Tree[] => {
      const isRight = Array.isArray(issues) && issues.length === 0;
      return isRight && isTree(message) && typeof message['type'] === 'string' ? [filled(message)] : [];
    });
    return [{ from: folder.startsWith('Server') ? 'server' : roleOf(frames), frames }];
  });
}

const roleOf = (frames: readonly Tree[]): 'device' | 'constellation' =>
  frames.some((frame) => frame['client_type'] === 'constellation') ? 'constellation' : 'device';

const filesIn = (folder: string, ending: string): string[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith(ending))
    .sort()
    .map((name) => readFileSync(join(folder, name), 'utf8'));

export const isTree = (value: Json | undefined): value is Tree =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Placeholders of a recording become values of the right kind, and every device the one device. */
function filled(frame: Tree): Tree {
  return fill(frame) as Tree;
}

function fill(value: Json): Json {
  if (Array.isArray(value)) return value.map(fill);
  if (isTree(value)) return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fill(item)]));
  if (typeof value !== 'string') return value;
  if (NAMES.test(value)) return IDENTITY;
  return PLACEHOLDERS[value] ?? value.replaceAll(/<([a-z_]+):?(\d*)>/gu, (_, kind, number) => `${kind}-${number}`);
}

const PLACEHOLDERS: Readonly<Record<string, Json>> = {
  '<ts>': '2026-11-20T15:40:40.489395+00:00',
  '<cpu_count>': 2,
  '<memory_total_gb>': 23.54,
};
