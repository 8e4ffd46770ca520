// The process in which conditions are judged that take time or memory: a hostile one blocks and fills nothing but this, and is ended with it.
import { runInNewContext } from 'node:vm';
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

const timeout = Number(process.argv[2]);
if (process.send === undefined) throw new Error('conditions are judged in a process that somebody started for it');
const answer = process.send.bind(process);

function judge({ result, streams, asked }: JudgingTask): void {
  const whole = wholeValue(result, streams);
  asked.forEach(({ condition, status, board }, index) => {
    const truth =
      'reason' in whole
        ? undecided(whole.reason)
        : evaluateCondition(condition, { status, result: whole.value, board });
    answer({ index, truth } satisfies JudgedCondition);
  });
}

// Who asked ends what takes too long; where he was killed meanwhile, the clock of the runtime does.
process.on('message', (task: JudgingTask) => runInNewContext('judge()', { judge: () => judge(task) }, { timeout }));
process.on('disconnect', () => process.exit());

// Loaded: what it takes from now on is what judging takes.
answer('ready');
