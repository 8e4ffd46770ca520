import type { CommandOutcome, DeviceRequest, RunCommandRequest } from '#proto';
import type { TaskStart } from './attempt.js';
import { hasLost, type DeviceState } from './device-session.js';
import type { DeviceLink, Reply } from './device.client.js';
import type { Interruption, LiveAttempt } from './live-attempts.js';
import { Backoff, pause } from './waiting.runner.js';

export interface CommandTimes {
  readonly askMsMin: number;
  readonly askMsMax: number;
}

/** What came of asking for a command. */
export type Asked =
  | { readonly kind: 'answered'; readonly outcome: CommandOutcome }
  | { readonly kind: 'refused'; readonly code: string; readonly message: string }
  /** A stop came before anybody was asked to execute it. */
  | { readonly kind: 'not-sent' }
  | { readonly kind: 'unreadable' }
  /** `sent`: somebody may have been asked to execute it. */
  | { readonly kind: 'interrupted'; readonly why: Interruption; readonly sent: boolean };

/** Asks for commands until somebody says what became of them, or why nobody will. */
export class CommandRunner {
  readonly #device: DeviceLink;
  readonly #deviceState: (deviceId: string) => DeviceState | undefined;
  readonly #times: CommandTimes;

  constructor(
    device: DeviceLink,
    deviceState: (deviceId: string) => DeviceState | undefined,
    { askMsMin, askMsMax }: CommandTimes,
  ) {
    this.#device = device;
    this.#deviceState = deviceState;
    this.#times = { askMsMin, askMsMax };
  }

  /** `before`: somebody may have been asked to execute it before. The device executes an id once, however often it is asked. */
  async run(live: LiveAttempt, request: RunCommandRequest, before: boolean): Promise<Asked> {
    const backoff = new Backoff({ msMin: this.#times.askMsMin, msMax: this.#times.askMsMax });
    let sent = before;
    for (;;) {
      this.noticeLoss(live);
      const { interruption } = live;
      if (interruption !== null) return { kind: 'interrupted', why: interruption, sent };
      const asked = performance.now();
      const answer = await this.#askOrStop(live, request, sent);
      if (answer === 'not-sent') return { kind: 'not-sent' };
      if (answer.state === 'finished') return { kind: 'answered', outcome: answer.outcome };
      if (answer.state === 'refused') return { kind: 'refused', code: answer.code, message: answer.message };
      if (answer.state === 'unreadable') return { kind: 'unreadable' };
      if (answer.state !== 'away') sent = true;
      // A gateway that took its time has waited for us; one that answers at once must not be asked all the time.
      if (performance.now() - asked < this.#times.askMsMax) await pause(backoff.next(), live.signal);
      else backoff.reset();
    }
  }

  /** Whether the registry has given the device of the attempt up. */
  noticeLoss(live: LiveAttempt): void {
    const { start }: { start: TaskStart } = live.order;
    const state = this.#deviceState(start.deviceId);
    if (state !== undefined && hasLost(state, start)) live.interrupt('lost');
  }

  /** A stop goes before the request, each time: so the device knows it before it could start anything. */
  async #askOrStop(live: LiveAttempt, request: RunCommandRequest, sent: boolean): Promise<Reply | 'not-sent'> {
    if (live.stop !== null) {
      if (!sent) return 'not-sent';
      const { attempt, deviceId } = request;
      const told = await this.#ask(live, { kind: 'stop', attempt, deviceId });
      if (told.state === 'away' || told.state === 'silent') return { state: 'away' };
    }
    return this.#ask(live, request);
  }

  /** What is being waited for is left alone when the attempt is interrupted. */
  #ask(live: LiveAttempt, request: DeviceRequest): Promise<Reply> {
    const { promise, resolve } = Promise.withResolvers<Reply>();
    const giveUp = () => resolve({ state: 'silent' });
    if (live.signal.aborted) giveUp();
    live.signal.addEventListener('abort', giveUp, { once: true });
    const answered = this.#device.ask(request);
    return Promise.race([answered, promise]).finally(() => live.signal.removeEventListener('abort', giveUp));
  }
}
