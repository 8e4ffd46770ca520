import type { Msg } from '@nats-io/transport-node';
import type { CommandId, DeviceAnswer } from '#proto';

/** Repeats of one command that wait at the same time; the oldest gets its waiting answer when one more comes. */
const CALLERS_MAX = 8;

interface Caller {
  readonly message: Msg;
  readonly timer: NodeJS.Timeout;
}

/** Who waits for which command. Everybody gets exactly one answer: the command's, or `waiting()` when it takes too long. */
export class Callers {
  readonly #callers = new Map<CommandId, Caller[]>();
  readonly #withinMs: number;
  readonly #waiting: (commandId: CommandId) => DeviceAnswer;

  constructor(withinMs: number, waiting: (commandId: CommandId) => DeviceAnswer) {
    this.#withinMs = withinMs;
    this.#waiting = waiting;
  }

  add(commandId: CommandId, message: Msg): void {
    const callers = this.#callers.get(commandId) ?? [];
    this.#callers.set(commandId, callers);
    callers.push({ message, timer: setTimeout(() => this.#dismissOldest(commandId), this.#withinMs) });
    if (callers.length > CALLERS_MAX) this.#dismissOldest(commandId);
  }

  /** Answers all who wait for the command, with one encoding. */
  answer(commandId: CommandId, answer: DeviceAnswer): void {
    const callers = this.#callers.get(commandId);
    if (callers === undefined) return;
    this.#callers.delete(commandId);
    const body = JSON.stringify(answer);
    for (const { message, timer } of callers) {
      clearTimeout(timer);
      message.respond(body);
    }
  }

  /** Everybody who still waits gets the waiting answer now. */
  close(): void {
    for (const commandId of this.#callers.keys()) this.answer(commandId, this.#waiting(commandId));
  }

  /** All wait equally long, so the timer that fires is always the oldest caller's. */
  #dismissOldest(commandId: CommandId): void {
    const callers = this.#callers.get(commandId);
    const oldest = callers?.shift();
    if (callers?.length === 0) this.#callers.delete(commandId);
    if (oldest === undefined) return;
    clearTimeout(oldest.timer);
    oldest.message.respond(JSON.stringify(this.#waiting(commandId)));
  }
}
