// Whose turn it is at the screen of this device. The fact that an attempt has it is in the journal with the beginning of what it does there;
// who is refused has done nothing.
import type { AttemptKey, CommandId, CommandOutcome } from '#proto';
import { endedWithout } from '../exec/index.js';
import type { Toolbox } from '../tools/index.js';
import type { JournalFile } from './journal-file.adapter.js';
import { sameAttempt, type OpenCommand } from './open-command.js';
import type { ScreenFact, ScreenTaken } from './screen-lease.js';

/** That an attempt has ended is told a moment after it has: who comes next waits so long for that. */
export const HAND_OVER_MS = 10_000;

export interface ScreenTurnsOptions {
  readonly file: Pick<JournalFile, 'journal'>;
  readonly tools: Pick<Toolbox, 'screenUse'>;
  readonly now: () => number;
  readonly monotonicMs: () => number;
  readonly handOverMs?: number | undefined;
}

type Asking = Pick<OpenCommand, 'id' | 'attempt' | 'action' | 'stop'>;

export class ScreenTurns {
  readonly #options: ScreenTurnsOptions;
  /** Commands that have their turn. */
  readonly #here = new Map<CommandId, { readonly by: AttemptKey; readonly acts: boolean }>();
  #changed = Promise.withResolvers<void>();

  constructor(options: ScreenTurnsOptions) {
    this.#options = options;
  }

  /** Why the command is not done: another attempt has the screen, and goes on having it. Undefined: it has its turn, until `leave`. */
  async refusal(command: Asking): Promise<CommandOutcome | undefined> {
    const { tools, monotonicMs, handOverMs = HAND_OVER_MS } = this.#options;
    const use = tools.screenUse(command.action.tool_name);
    if (use === undefined) return undefined;
    const deadlineMs = monotonicMs() + handOverMs;
    for (;;) {
      // What is stopped is not called any more, whosever turn it is.
      if (command.stop.signal.aborted) return undefined;
      const taken = this.#takenFrom(command.attempt);
      if (taken === undefined) {
        this.#here.set(command.id, { by: command.attempt, acts: use === 'acts' });
        return undefined;
      }
      const leftMs = deadlineMs - monotonicMs();
      if (taken.kind === 'over' || leftMs <= 0) return busy(taken);
      await this.#change(command.stop.signal, leftMs);
    }
  }

  /** What the journal is told with the beginning of a command, and with the end of one that acts. */
  facts({ id, attempt }: Pick<Asking, 'id' | 'attempt'>, what: 'begins' | 'ends'): ScreenFact[] {
    const { file, now } = this.#options;
    const here = this.#here.get(id);
    if (here === undefined) return [];
    const { acts: holds } = here;
    const isTold = holds || (what === 'begins' && file.journal.screen.isNews(attempt));
    return isTold ? [{ type: 'screen', attempt, at: now(), holds }] : [];
  }

  /** The command is over. */
  leave(id: CommandId): void {
    if (this.#here.delete(id)) this.changed();
  }

  /** Somebody may have his turn now. */
  changed(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers<void>();
  }

  #takenFrom(attempt: AttemptKey): ScreenTaken | undefined {
    const { file, now } = this.#options;
    const taken = file.journal.screen.takenFrom(attempt, now());
    if (taken !== undefined) return taken;
    const other = [...this.#here.values()].find(({ by, acts }) => acts && !sameAttempt(by, attempt));
    return other && { kind: 'held', by: other.by, until: null };
  }

  /** Resolves when something has changed, the command is stopped, or its time is over. */
  async #change(stop: AbortSignal, ms: number): Promise<void> {
    const { promise: over, resolve } = Promise.withResolvers<void>();
    const end = (): void => resolve();
    const timer = setTimeout(end, ms);
    stop.addEventListener('abort', end, { once: true });
    await Promise.race([this.#changed.promise, over]);
    clearTimeout(timer);
    stop.removeEventListener('abort', end);
  }
}

function busy(taken: ScreenTaken): CommandOutcome {
  const { runId, taskId, attempt } = taken.by;
  const who = `attempt ${attempt} of the task ${taskId} of ${runId}`;
  return endedWithout('FAILED', 'SCREEN_BUSY', `${who} ${hasIt(taken)}`);
}

function hasIt(taken: ScreenTaken): string {
  if (taken.kind === 'over') return 'has been at this screen since, and this attempt does nothing there any more';
  if (taken.until === null) return 'has this screen until its command ends';
  return `has this screen until it ends, or until ${new Date(taken.until).toISOString()} if it does nothing more there`;
}
