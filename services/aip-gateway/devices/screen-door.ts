import {
  COMMAND_REFUSALS,
  instantOf,
  type AttemptKey,
  type CommandId,
  type CommandOutcome,
  type Instant,
  type RunCommandRequest,
} from '#proto';
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

/** Listings that are under way: a device does one or a few things at a time. */
const LOOKING_MAX = 64;

/** They give the ids that what acts is about: of windows, or of controls of one. */
export const LISTS: ReadonlyMap<string, 'windows' | 'controls'> = new Map([
  ['get_desktop_app_info', 'windows'],
  ['get_desktop_app_target_info', 'windows'],
  ['get_app_window_controls_info', 'controls'],
  ['get_app_window_controls_target_info', 'controls'],
]);

/**
 * The way of commands to one screen. While a person has it, nothing of an agent passes: neither what acts nor what looks, because
 * what people do there is theirs. Afterwards an attempt acts on what it has been shown since, and on nothing that it saw before.
 */
export class ScreenDoor {
  /** When the screen had been handed back as of which an attempt was shown it last. */
  readonly #looked = new Map<string, Instant>();
  /** Whose listing this is, and as of when it was let through. */
  readonly #looking = new Map<CommandId, { readonly attempt: AttemptKey; readonly handedBackAt: Instant }>();

  /** Commands that the device is only asked about. */
  readonly #onlyAsked = new Map<CommandId, true>();

  judge(
    { attempt, command, commandId }: Pick<RunCommandRequest, 'attempt' | 'command' | 'commandId'>,
    { taken, handedBackAt }: ScreenStanding,
  ): Passage {
    if (taken) return 'wait';
    if (handedBackAt === null) return 'pass';
    if (LISTS.has(command.tool)) {
      keepNewest(this.#looking, commandId, { attempt, handedBackAt }, LOOKING_MAX);
      return 'pass';
    }
    const isOfListing = (command.on?.snapshot ?? '') !== '';
    return isOfListing && this.#looked.get(keyOf(attempt)) !== handedBackAt ? 'look-again' : 'pass';
  }

  /**
   * Of a command that may have reached the device in another session: what became of it is asked, and if it has not begun, it does not any
   * more. It is about what was seen before a person had the screen.
   */
  onlyIfBegun(request: RunCommandRequest, nowMs: number): RunCommandRequest {
    keepNewest(this.#onlyAsked, request.commandId, true, ATTEMPTS_MAX);
    return { ...request, notAfter: instantOf(nowMs) };
  }

  /**
   * A command has ended, as its caller is told. A listing that showed nothing is none, and one that began before a person came tells of
   * before.
   */
  ended(commandId: CommandId, outcome: CommandOutcome): CommandOutcome {
    const wasOnlyAsked = this.#onlyAsked.delete(commandId);
    this.#listed(commandId, outcome);
    return wasOnlyAsked && outcome.error?.code === COMMAND_REFUSALS.expired ? LOOK_AGAIN : outcome;
  }

  #listed(commandId: CommandId, { state }: CommandOutcome): void {
    const looking = this.#looking.get(commandId);
    this.#looking.delete(commandId);
    if (looking === undefined || state !== 'COMPLETED') return;
    keepNewest(this.#looked, keyOf(looking.attempt), looking.handedBackAt, ATTEMPTS_MAX);
  }
}

function keepNewest<T>(map: Map<string, T>, key: string, value: T, max: number): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.size > max ? map.keys() : [];
  if (oldest !== undefined) map.delete(oldest);
}

/** Nothing was sent: the agent hears it as from the device, and looks again. */
export const LOOK_AGAIN: CommandOutcome = withoutResult(
  'FAILED',
  'WINDOW_CHANGED',
  'a person had the screen meanwhile: look again, the ids of listings from before count no more',
);

const keyOf = ({ runId, taskId, attempt }: AttemptKey): string => `${runId}.${taskId}.${attempt}`;
