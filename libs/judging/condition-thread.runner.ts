// The thread in which conditions are judged that take time: a hostile one blocks nothing but this, and is ended with it.
import { parentPort } from 'node:worker_threads';
import { evaluateCondition, type Truth, undecided, wholeValue } from '#libs/constellation';
import type { Json, TaskStatus } from '#proto';

/** What is to be judged over one value. */
export interface JudgingTask {
  /** The value, or its JSON text. */
  readonly result: { readonly value: Json } | { readonly json: Uint8Array };
  /** Whole outputs of a command, which go in place of those that its device cut. */
  readonly streams: Readonly<Record<string, Uint8Array>>;
  readonly asked: readonly {
    readonly condition: string;
    readonly status: TaskStatus;
    readonly board?: Json | undefined;
  }[];
}

/** The truth of the one that was asked at `index`; they come in that order. */
export interface JudgedCondition {
  readonly index: number;
  readonly truth: Truth;
}

const port = parentPort;
if (port === null) throw new Error('conditions are judged in a thread');

port.on('message', ({ result, streams, asked }: JudgingTask) => {
  const whole = wholeValue(result, streams);
  asked.forEach(({ condition, status, board }, index) => {
    const truth =
      'reason' in whole
        ? undecided(whole.reason)
        : evaluateCondition(condition, { status, result: whole.value, board });
    port.postMessage({ index, truth } satisfies JudgedCondition);
  });
});

// Loaded: what it takes from now on is what judging takes.
port.postMessage('ready');
