import { COMMAND_REFUSALS, commandIdOf, type CommandOutcome, type DeviceRequest, type RunCommandRequest } from '#proto';
import type { TaskStart } from '#libs/attempt';
import { hasLost, isNewer, type DeviceState } from './session.js';
import type { GatewayLink, GatewayReply } from './link.client.js';
import type { Interruption, LiveAttempt } from '../live/index.js';
import { Backoff } from '#libs/backoff';
import { waitUnlessAborted } from './waiting.runner.js';

export interface CommandTimes {
  readonly askMsMin: number;
  readonly askMsMax: number;
}

/** What came of asking for a command. */
export type CommandAnswer =
  | { readonly kind: 'answered'; readonly outcome: CommandOutcome }
  | { readonly kind: 'refused'; readonly code: string; readonly message: string }
  /** A stop came before anybody was asked to execute it. */
  | { readonly kind: 'not-sent' }
  | { readonly kind: 'unreadable' }
  /** `sent`: somebody may have been asked to execute it. */
  | { readonly kind: 'interrupted'; readonly why: Interruption; readonly sent: boolean };

/** Asks for commands until somebody says what became of them, or why nobody will. */
export class CommandRunner {
  readonly #device: GatewayLink;
  readonly #deviceState: (deviceId: string) => DeviceState | undefined;
  readonly #times: CommandTimes;

  constructor(
    device: GatewayLink,
    deviceState: (deviceId: string) => DeviceState | undefined,
    { askMsMin, askMsMax }: CommandTimes,
  ) {
    this.#device = device;
    this.#deviceState = deviceState;
    this.#times = { askMsMin, askMsMax };
  }

  /** `before`: somebody may have been asked to execute it before. The device executes an id once, however often it is asked. */
  async run(live: LiveAttempt, request: RunCommandRequest, before: boolean): Promise<CommandAnswer> {
    const backoff = new Backoff({ msMin: this.#times.askMsMin, msMax: this.#times.askMsMax });
    let sent = before;
    for (;;) {
      this.noticeLoss(live);
      const { interruption } = live;
      if (interruption !== null) return { kind: 'interrupted', why: interruption, sent };
      const asked = performance.now();
      const answer = await this.#certain(live, request, { answer: await this.#askOrStop(live, request, sent), sent });
      if (answer === 'not-sent') return { kind: 'not-sent' };
      if (answer.state === 'finished') return { kind: 'answered', outcome: answer.outcome };
      if (answer.state === 'refused') return { kind: 'refused', code: answer.code, message: answer.message };
      if (answer.state === 'unreadable') return { kind: 'unreadable' };
      if (answer.state !== 'away') sent = true;
      // A gateway that took its time has waited for us; one that answers at once must not be asked all the time.
      if (performance.now() - asked < this.#times.askMsMax) await waitUnlessAborted(backoff.next(), live.signal);
      else backoff.reset();
    }
  }

  /**
   * A foreign device keeps no journal: when its session is over, only the gateway that held it can say that a command was
   * never sent, and after that gateway's end nobody can; but what nobody was asked for was not sent either.
   */
  async #certain(
    live: LiveAttempt,
    request: RunCommandRequest,
    { answer, sent }: { readonly answer: GatewayReply | 'not-sent'; readonly sent: boolean },
  ): Promise<GatewayReply | 'not-sent'> {
    if (answer === 'not-sent' || request.journalId !== null || !isOpenQuestion(answer)) return answer;
    const { commandId, deviceId, sessionId, notAfter } = request;
    const state = this.#deviceState(deviceId);
    if (answer.state === 'away' && !sent && state !== undefined && isNewer(state, sessionId)) return NOT_SENT;
    const said = await this.#ask(live, { kind: 'sent', commandId, deviceId, sessionId, notAfter });
    if (said.state === 'refused') return said.code === COMMAND_REFUSALS.notSent ? said : answer;
    if (said.state === 'done') return OUTCOME_UNKNOWN;
    return said.state === 'running' ? { state: 'away' } : answer;
  }

  /** Whether the registry has given the device of the attempt up. */
  noticeLoss(live: LiveAttempt): void {
    const { start }: { start: TaskStart } = live.order;
    const state = this.#deviceState(start.deviceId);
    if (state !== undefined && hasLost(state, start)) live.interrupt('lost');
  }

  /**
   * A foreign device that has left comes back as another one: an attempt of an agent that was under way on it is over. That its
   * presence is not seen is not enough, its gateway must say that the session has ended, or a newer one be there.
   */
  async noticeLeaving(live: LiveAttempt): Promise<void> {
    const { key, start } = live.order;
    const { agent, journalId, deviceId, sessionId, timeoutAt: notAfter } = start;
    const state = this.#deviceState(deviceId);
    if (agent === undefined || journalId !== null || state === undefined) return;
    if (isNewer(state, sessionId)) return live.interrupt('lost');
    if (state.connected || state.sessionId !== sessionId) return;
    const said = await this.#device.ask({ kind: 'sent', commandId: commandIdOf(key), deviceId, sessionId, notAfter });
    if (said.state === 'done' || said.state === 'refused') live.interrupt('lost');
  }

  /** Whether attempts go on now that their device is in another state. */
  noticeState(attempts: readonly LiveAttempt[], state: DeviceState): void {
    for (const attempt of attempts) {
      if (hasLost(state, attempt.order.start)) attempt.interrupt('lost');
      // Who cannot ask now looks again in a moment.
      else this.noticeLeaving(attempt).catch(() => undefined);
    }
  }

  /** A stop goes before the request, each time: so the device knows it before it could start anything. */
  async #askOrStop(live: LiveAttempt, request: RunCommandRequest, sent: boolean): Promise<GatewayReply | 'not-sent'> {
    if (live.stop !== null) {
      if (!sent) return 'not-sent';
      const { attempt, deviceId } = request;
      const told = await this.#ask(live, { kind: 'stop', attempt, deviceId });
      if (told.state === 'away' || told.state === 'silent') return { state: 'away' };
    }
    return this.#ask(live, request);
  }

  /** What is being waited for is left alone when the attempt is interrupted. */
  #ask(live: LiveAttempt, request: DeviceRequest): Promise<GatewayReply> {
    const { promise, resolve } = Promise.withResolvers<GatewayReply>();
    const giveUp = () => resolve({ state: 'silent' });
    if (live.signal.aborted) giveUp();
    live.signal.addEventListener('abort', giveUp, { once: true });
    const answered = this.#device.ask(request);
    return Promise.race([answered, promise]).finally(() => live.signal.removeEventListener('abort', giveUp));
  }
}

/** Nobody serves the session, or who serves the device does not know it. */
const isOpenQuestion = (answer: GatewayReply): boolean =>
  answer.state === 'away' || (answer.state === 'refused' && answer.code === COMMAND_REFUSALS.outcomeUnknown);

const refused = (code: string, message: string): GatewayReply => ({ state: 'refused', code, message });
const NOT_SENT = refused(COMMAND_REFUSALS.notSent, 'the session of the device ended before the command was sent');
const OUTCOME_UNKNOWN = refused(COMMAND_REFUSALS.outcomeUnknown, 'the connection to the device ended meanwhile');
