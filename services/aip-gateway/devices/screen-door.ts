import { isScreenTool, type AttemptKey, type CommandOutcome, type Instant, type RunCommandRequest } from '#proto';
import { withoutResult } from '#libs/aip';

/** Who has the screen of a device, as its profile says. */
export interface ScreenStanding {
  /** A person has it. */
  readonly taken: boolean;
  /** When one has handed it back last; null: never. */
  readonly handedBackAt: Instant | null;
}

/** `wait`: a person has the screen. `look-again`: what the command names was listed before a person had it. */
export type Passage = 'pass' | 'wait' | 'look-again';

/** Attempts that are remembered to have looked: more than a device with one mouse ever has at once. */
const ATTEMPTS_MAX = 64;

/** They give the ids that what acts is about. */
const LISTS: ReadonlySet<string> = new Set([
  'get_desktop_app_info',
  'get_desktop_app_target_info',
  'get_app_window_controls_info',
  'get_app_window_controls_target_info',
]);

/**
 * The way of commands to one screen. While a person has it, nothing of an agent passes: neither what acts nor what looks, because
 * what people do there is theirs. Afterwards an attempt acts on what it has listed since, and on nothing that it saw before.
 */
export class ScreenDoor {
  /** When the screen had been handed back as of which an attempt listed it last. */
  readonly #looked = new Map<string, Instant>();

  judge({ attempt, command }: Pick<RunCommandRequest, 'attempt' | 'command'>, standing: ScreenStanding): Passage {
    const { taken, handedBackAt } = standing;
    if (taken) return 'wait';
    if (handedBackAt === null) return 'pass';
    if (LISTS.has(command.tool)) this.#note(attempt, handedBackAt);
    const isOfListing = (command.on?.snapshot ?? '') !== '' && !LISTS.has(command.tool);
    return isOfListing && this.#looked.get(keyOf(attempt)) !== handedBackAt ? 'look-again' : 'pass';
  }

  #note(attempt: AttemptKey, at: Instant): void {
    const key = keyOf(attempt);
    this.#looked.delete(key);
    this.#looked.set(key, at);
    const [oldest] = this.#looked.size > ATTEMPTS_MAX ? this.#looked.keys() : [];
    if (oldest !== undefined) this.#looked.delete(oldest);
  }
}

/** Whether a command is one for the screen. */
export const isForScreen = ({ command }: Pick<RunCommandRequest, 'command'>): boolean => isScreenTool(command.tool);

/** Nothing was sent: the agent hears it as from the device, and looks again. */
export const LOOK_AGAIN: CommandOutcome = withoutResult(
  'FAILED',
  'WINDOW_CHANGED',
  'a person had the screen meanwhile: look again, the ids of listings from before count no more',
);

const keyOf = ({ runId, taskId, attempt }: AttemptKey): string => `${runId}.${taskId}.${attempt}`;
