import { z } from 'zod';
import { writerText } from '#libs/constellation';
import { BoardName, BoardSeen, Json, RunId, VerbId, WordsText, type RunBoard, type ShownEntry } from '#proto';
import type { RunDesk, RunWord, WordAnswer } from './desk.js';

/** A value that is longer is told in a list of all by its size, and is given to who asks for it by name. */
const LISTED_BYTES_MAX = 1_024;

const BoardInput = z.strictObject({
  name: BoardName.optional().describe('one value, whole; all of them in short when left out'),
});
type BoardInput = z.infer<typeof BoardInput>;

const SayInput = z.strictObject({
  text: WordsText.describe('what is wanted of the run besides, in words'),
  id: VerbId.optional().describe('of these words: the same words with the same id are said once, however often'),
});

const SetInput = z.strictObject({
  name: BoardName,
  value: Json.describe('any JSON, at most 64 KiB of it'),
  revision: BoardSeen.optional(),
});

const TakeOffInput = z.strictObject({ name: BoardName, revision: BoardSeen.optional() });

const BoardOutput = z.strictObject({
  run_id: RunId,
  /** Of the last write; 0: there was none. */
  revision: z.int().min(0),
  entries: z.array(
    z.strictObject({
      name: z.string(),
      revision: z.int().nullable().describe('to be named by who writes it anew; null: nobody else writes it'),
      by: z.string(),
      written_at: z.string().nullable(),
      judged: z.boolean().describe('a command that takes it is judged before it runs'),
      bytes: z.int(),
      value: Json.optional().describe('left out of the list of all when it is long: ask for it by name'),
    }),
  ),
});

const WordOutput = z.strictObject({
  run_id: RunId,
  sequence: z.int().describe('of the last event of the run when it was decided'),
  note: z.string().describe('what follows from it'),
});

interface RunTool<I> {
  readonly access: 'read' | 'edit';
  readonly title: string;
  readonly about: string;
  readonly input: z.ZodType<I>;
  readonly output: z.ZodType;
  readonly hints: { readonly destructive: boolean; readonly idempotent: boolean };
}

const tool = <I>(one: RunTool<I>): RunTool<I> => one;

/** What there is of a run beside its constellation, as tools. */
export const RUN_TOOLS = {
  get_board: tool({
    access: 'read',
    title: 'Look at the board',
    about:
      'The values that stand on the board of the run, which its tasks, agents, planner and people share. Changes nothing.',
    input: BoardInput,
    output: BoardOutput,
    hints: { destructive: false, idempotent: true },
  }),
  say: tool({
    access: 'edit',
    title: 'Say one more thing to the run',
    about:
      'Says what is wanted besides: the planner of the run is asked about it, and a run that has ended goes on. It approves nothing.',
    input: SayInput,
    output: WordOutput,
    hints: { destructive: false, idempotent: false },
  }),
  set_board_value: tool({
    access: 'edit',
    title: 'Put a value on the board',
    about:
      'Puts a value on the board of the run. With a revision only if that is what stands there; a command that takes the value is judged.',
    input: SetInput,
    output: WordOutput,
    hints: { destructive: true, idempotent: false },
  }),
  remove_board_value: tool({
    access: 'edit',
    title: 'Take a value off the board',
    about: 'Takes a value off the board of the run.',
    input: TakeOffInput,
    output: WordOutput,
    hints: { destructive: true, idempotent: true },
  }),
} as const;

export type RunToolName = keyof typeof RUN_TOOLS;
export const RUN_TOOL_NAMES = Object.keys(RUN_TOOLS) as readonly RunToolName[];

export const isRunTool = (name: string): name is RunToolName => Object.hasOwn(RUN_TOOLS, name);

/** What a tool answers with, as it is handed out. */
export type RunToolAnswer =
  | { readonly ok: true; readonly shown: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly problems: readonly string[] };

/** One call with arguments that its schema has let in. */
export async function callRunTool(desk: RunDesk, name: RunToolName, input: unknown): Promise<RunToolAnswer> {
  if (name === 'get_board') return boardOf(await desk.board(), input as BoardInput);
  return wordOf(await desk.tell({ ...(input as object), does: DOES[name] } as RunWord));
}

const DOES = {
  say: 'say',
  set_board_value: 'set',
  remove_board_value: 'take-off',
} as const satisfies Record<Exclude<RunToolName, 'get_board'>, RunWord['does']>;

function boardOf({ runId, revision, entries }: RunBoard, { name }: BoardInput): RunToolAnswer {
  const wanted = name === undefined ? entries : entries.filter((entry) => entry.name === name);
  if (name !== undefined && wanted.length === 0) {
    const names = entries.map((entry) => entry.name).join(', ');
    const known = names === '' ? 'nothing does' : `there are ${names}`;
    return { ok: false, problems: [`name: nothing stands on the board under "${name}"; ${known}`] };
  }
  const shown = wanted.map((entry) => shownEntry(entry, name !== undefined || entry.bytes <= LISTED_BYTES_MAX));
  return { ok: true, shown: { run_id: runId, revision, entries: shown } };
}

function shownEntry(entry: ShownEntry, isWhole: boolean) {
  const { name, revision = null, writtenAt = null, judge = false, bytes, value } = entry;
  const about = { name, revision, by: writerText(entry), written_at: writtenAt, judged: judge, bytes };
  return isWhole ? { ...about, value } : about;
}

function wordOf(answer: WordAnswer): RunToolAnswer {
  if (!answer.ok) return answer;
  const { runId, sequence, note } = answer;
  return { ok: true, shown: { run_id: runId, sequence, note } };
}
