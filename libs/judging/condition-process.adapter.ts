import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { type Truth, undecided } from '#libs/constellation';
import type { JudgingTask, JudgedCondition } from './condition-process.runner.js';

export interface ProcessLimits {
  readonly heapMb: number;
  /** For all conditions over one value. */
  readonly ms: number;
}

/** A process loads the core first. */
const START_MS = 30_000;
/** It ends itself after so many times its time: who would have ended it may be gone. */
const PATIENCE = 3;

/** The source in the tests, which Node runs as it is. */
const ENTRY = fileURLToPath(
  new URL(`./condition-process.runner${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url),
);

/**
 * One process for conditions: it judges what it is given, one value after the other, until one of them ends it. A thread is no wall: one
 * whose memory is full is asked to end, and V8 ends the whole process when that comes too late for it.
 */
export class ConditionProcess {
  readonly #limits: ProcessLimits;
  readonly #child: ChildProcess;
  #isOver = false;
  #heard: (message: unknown) => void = () => undefined;
  #ended: (why: string) => void = () => undefined;

  constructor(limits: ProcessLimits) {
    this.#limits = limits;
    const { NODE_COMPILE_CACHE } = process.env;
    this.#child = fork(ENTRY, [`${limits.ms * PATIENCE}`], {
      execArgv: ['--no-warnings', `--max-old-space-size=${limits.heapMb}`],
      // Nothing that it is asked has anything to do with what this process may.
      env: NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE },
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    this.#child.on('message', (message: unknown) => this.#heard(message));
    this.#child.on('error', (error) => this.#end(`the process that judged it died: ${error.message}`));
    this.#child.on('exit', (code, signal) => this.#end(whyDied(code, signal, limits)));
    // It listens as long as it is there: that alone keeps no process alive.
    this.#child.unref();
    this.#child.channel?.unref();
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
        reject(new Error(`no process for conditions starts: ${why}`));
      };
    });
  }

  /** The truths in order: all of them, or those that came and one for what ended the process. */
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
      // What could not be sent is heard of as its end.
      this.#child.send(assignment, () => undefined);
    });
  }

  async stop(): Promise<void> {
    this.#end('the process ends');
    if (this.#child.pid === undefined || this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.ref();
    await once(this.#child, 'exit');
  }

  #end(why: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#child.kill('SIGKILL');
    this.#heard = () => undefined;
    this.#ended(why);
  }
}

/** V8 ends a process whose memory is full by SIGABRT. */
function whyDied(code: number | null, signal: NodeJS.Signals | null, { heapMb }: ProcessLimits): string {
  if (signal === 'SIGABRT') return `judging it takes more than ${heapMb} MiB of memory`;
  return `the process that judged it died: ${signal ?? `exit ${code}`}`;
}
