import { Worker } from 'node:worker_threads';
import { type Truth, undecided } from '#libs/constellation';
import type { JudgingTask, JudgedCondition } from './condition-thread.runner.js';

export interface ThreadLimits {
  readonly heapMb: number;
  /** For all conditions over one value. */
  readonly ms: number;
}

/** A thread loads the core first. */
const START_MS = 30_000;

/** The source in the tests, which Node runs as it is. */
const ENTRY = new URL(`./condition-thread.runner${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url);

/** One thread for conditions: it judges what it is given, one value after the other, until one of them ends it. */
export class ConditionThread {
  readonly #limits: ThreadLimits;
  readonly #worker: Worker;
  #isOver = false;
  #heard: (message: unknown) => void = () => undefined;
  #ended: (why: string) => void = () => undefined;

  constructor(limits: ThreadLimits) {
    this.#limits = limits;
    const resourceLimits = { maxOldGenerationSizeMb: limits.heapMb };
    this.#worker = new Worker(ENTRY, { resourceLimits, name: 'condition-judge' });
    this.#worker.on('message', (message: unknown) => this.#heard(message));
    this.#worker.on('error', (error) => this.#end(whyDied(error, limits)));
    this.#worker.on('exit', (code) => this.#end(`the thread that judged it died: exit ${code}`));
    // It listens as long as it is there: that alone keeps no process alive.
    this.#worker.unref();
  }

  /** It takes nothing any more. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Its own time: not that of the first who is judged in it. Throws when it does not come up, which says nothing of any condition. */
  start(): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#end(`not within ${START_MS} ms`), START_MS);
      this.#heard = () => {
        clearTimeout(timer);
        resolve();
      };
      this.#ended = (why) => {
        clearTimeout(timer);
        reject(new Error(`no thread for conditions starts: ${why}`));
      };
    });
  }

  /** The truths in order: all of them, or those that came and one for what ended the thread. */
  judge(assignment: JudgingTask): Promise<Truth[]> {
    const { ms } = this.#limits;
    const truths: Truth[] = [];
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#end(`judging it takes longer than ${ms / 1_000} s`), ms);
      this.#heard = (message) => {
        truths.push((message as JudgedCondition).truth);
        if (truths.length < assignment.asked.length) return;
        clearTimeout(timer);
        this.#heard = this.#ended = () => undefined;
        resolve(truths);
      };
      this.#ended = (why) => {
        clearTimeout(timer);
        resolve([...truths, undecided(why)]);
      };
      this.#worker.postMessage(assignment, memoryOf(assignment));
    });
  }

  async stop(): Promise<void> {
    this.#end('the process ends');
    await this.#worker.terminate();
  }

  #end(why: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    void this.#worker.terminate();
    this.#heard = () => undefined;
    this.#ended(why);
  }
}

function whyDied(error: NodeJS.ErrnoException, { heapMb }: ThreadLimits): string {
  if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') return `judging it takes more than ${heapMb} MiB of memory`;
  return `the thread that judged it died: ${error.message}`;
}

/** What is handed over, instead of copied. */
function memoryOf({ result, streams }: JudgingTask): ArrayBuffer[] {
  const bytes = ['json' in result ? [result.json] : [], Object.values(streams)].flat();
  return bytes.flatMap(({ buffer }) => (buffer instanceof ArrayBuffer ? [buffer] : []));
}
