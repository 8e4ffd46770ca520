import { z } from 'zod';
import { ModelCall } from '#proto';
import { type ChatModel, type ModelAnswer, type ModelRequest, promptHash } from '../models/index.js';

const Answer = ModelCall.omit({ prompt: true, replyArtifact: true, problems: true });

/** One line of a transcript: what a model said when it was asked in this turn for the `count`-th time, from 1. */
export const TranscriptLine = z.strictObject({
  turn: z.string(),
  count: z.int().min(1),
  agent: z.string(),
  answers: z.array(Answer).min(1),
});
export type TranscriptLine = z.infer<typeof TranscriptLine>;

/** A transcript that cannot be read; one sentence with the line. */
export class TranscriptError extends Error {
  override readonly name = 'TranscriptError';
}

/** Reads a transcript: a JSON object per line; empty lines count for nothing. Throws TranscriptError. */
export function parseTranscript(text: string, name = 'the recording'): TranscriptLine[] {
  const known = new Set<string>();
  return text.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return [];
    const where = `${name}, line ${index + 1}`;
    const parsed = TranscriptLine.safeParse(jsonOf(line, where));
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      throw new TranscriptError(`${where}: ${issue?.path.join('.') ?? ''} ${issue?.message ?? 'cannot be read'}.`);
    }
    const key = keyOf(parsed.data.turn, parsed.data.count);
    if (known.has(key)) throw new TranscriptError(`${where} has ${shown(parsed.data)} again.`);
    known.add(key);
    return [parsed.data];
  });
}

function jsonOf(line: string, where: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new TranscriptError(`${where} is not JSON.`);
  }
}

/**
 * Gives recorded answers again, found by turn and by how often that turn was asked for before: never by the prompt, in which there
 * are things that differ every time. The hash is that of the prompt that was really made; all else is as it was recorded.
 */
export class ReplayedChatModel implements ChatModel {
  readonly #lines: ReadonlyMap<string, TranscriptLine>;
  readonly #counts = new Counts();

  constructor(transcript: readonly TranscriptLine[]) {
    this.#lines = new Map(transcript.map((line) => [keyOf(line.turn, line.count), line]));
  }

  ask(request: ModelRequest): Promise<ModelAnswer[]> {
    const hash = promptHash(request.messages);
    if (request.signal.aborted) return Promise.resolve([missing(hash, 'ABORTED', 'nobody wants the reply any more')]);
    const count = this.#counts.next(request.turn);
    const line = this.#lines.get(keyOf(request.turn, count));
    if (line === undefined)
      return Promise.resolve([missing(hash, 'NOT_RECORDED', this.#complaint(request.turn, count))]);
    const reply = line.answers.at(-1)?.reply ?? '';
    if (reply !== '') request.onText?.(reply);
    return Promise.resolve(line.answers.map((answer) => ({ ...answer, promptHash: hash })));
  }

  #complaint(turn: string, count: number): string {
    const known = [...this.#lines.values()].filter((line) => line.turn === turn).length;
    const times = known === 0 ? 'it does not have that turn' : `it has ${known} of that turn`;
    return `the recording has no ${shown({ turn, count })}: ${times}`.slice(0, 1_000).toWellFormed();
  }
}

/**
 * Passes questions on to a model and hands every answer to `write`, in the order in which they came. `earlier`: what was recorded
 * before, by a process that this one continues; a turn that is asked again gets the next number.
 */
export class RecordingChatModel implements ChatModel {
  readonly #model: ChatModel;
  readonly #write: (line: TranscriptLine) => void;
  readonly #counts = new Counts();

  constructor(model: ChatModel, write: (line: TranscriptLine) => void, earlier: readonly TranscriptLine[] = []) {
    this.#model = model;
    this.#write = write;
    for (const { turn } of earlier) this.#counts.next(turn);
  }

  async ask(request: ModelRequest): Promise<ModelAnswer[]> {
    const answers = await this.#model.ask(request);
    // What its caller took back would be missing in a replay that goes through to the end.
    if (answers.at(-1)?.error?.code === 'ABORTED') return answers;
    const count = this.#counts.next(request.turn);
    this.#write({ turn: request.turn, count, agent: request.agent, answers });
    return answers;
  }
}

class Counts {
  readonly #counts = new Map<string, number>();

  next(turn: string): number {
    const count = (this.#counts.get(turn) ?? 0) + 1;
    this.#counts.set(turn, count);
    return count;
  }
}

const keyOf = (turn: string, count: number): string => JSON.stringify([turn, count]);
const shown = ({ turn, count }: { turn: string; count: number }): string =>
  `reply number ${count} of turn ${JSON.stringify(turn)}`;

function missing(hash: string, code: 'NOT_RECORDED' | 'ABORTED', message: string): ModelAnswer {
  return {
    model: 'recorded',
    endpoint: 'main',
    promptHash: hash,
    parameters: {},
    reply: null,
    error: { code, message },
    tokens: { prompt: 0, completion: 0 },
    costUsd: null,
    // A replay has no time of its own.
    startedAt: new Date(0).toISOString(),
    durationMs: 0,
  };
}
