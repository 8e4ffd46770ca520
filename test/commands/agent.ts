import type { Msg, NatsConnection, Subscription } from '@nats-io/transport-node';
import { COMMAND_REFUSALS, commandIdOf, DeviceAnswer, subjects } from '#proto';
import type { AttemptKey, CommandId, DeviceRequest, Instant, JournalId, SessionId } from '#proto';
import { DEVICE } from './gateway.js';

type Callback = (error: null, message: Msg) => void;
const ANSWER_MS = 12_000;

/** How an attempt ended: with an answer, without having asked anybody, or because its run went on without it. */
export type Final = DeviceAnswer | { readonly state: 'not-sent' | 'closed' };

/** One attempt with one command, as its device-agent sees it. */
export interface Attempt {
  readonly key: AttemptKey;
  readonly commandId: CommandId;
  readonly sessionId: SessionId;
  readonly notAfter: Instant;
  stop: boolean;
  /** Somebody may have been asked to execute it. */
  sent: boolean;
  /** Until when an answer is waited for. */
  waitsUntilMs: number | null;
  final: Final | null;
  /** What came after the end, as it was recorded. */
  readonly late: string[];
}

/** What the bus does to messages. */
export interface Luck {
  /** An answer gets lost on its way. */
  losesAnswer(): boolean;
  /** Nobody takes a result that is handed over. */
  failsDelivery(): boolean;
}

/** The bus with all desks on it, and the device-agent, which asks as AttemptRunner does. */
export class Agent {
  readonly attempts: Attempt[] = [];
  /** Answers with an end that came after the end was known. */
  readonly further: { readonly attempt: Attempt; readonly answer: DeviceAnswer }[] = [];
  readonly #desks = new Set<Callback>();
  /** Who answers for a session that may be over, by its subject. */
  readonly #sessions = new Map<string, Callback>();
  readonly #journalId: JournalId | null;
  readonly #luck: Luck;

  constructor(journalId: JournalId | null, luck: Luck) {
    this.#journalId = journalId;
    this.#luck = luck;
  }

  /** The bus as a desk sees it. */
  bus(): NatsConnection {
    const bus = {
      info: { max_payload: 1024 * 1024 },
      subscribe: (subject: string, { callback }: { callback: Callback }): Pick<Subscription, 'unsubscribe'> => {
        if (subject !== subjects.deviceCommand(DEVICE)) {
          this.#sessions.set(subject, callback);
          return { unsubscribe: () => void this.#sessions.delete(subject) };
        }
        this.#desks.add(callback);
        return { unsubscribe: () => void this.#desks.delete(callback) };
      },
      flush: async () => undefined,
      // It never breaks: nothing is ever said of its connection.
      status: () => ({ [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => undefined) }) }),
      publish: () => undefined,
      request: async (subject: string, body: string) => {
        if (subject !== subjects.query('device-agent', 'deliver')) throw new Error(`nobody serves ${subject}`);
        if (this.#luck.failsDelivery()) throw new Error('no answer');
        return { data: Buffer.from(JSON.stringify(this.#deliver(JSON.parse(body)))) };
      },
    };
    return bus as unknown as NatsConnection;
  }

  start(task: string, sessionId: SessionId, notAfter: Instant): void {
    const key: AttemptKey = { runId: 'r', taskId: task, attempt: 1 };
    const known = { key, commandId: commandIdOf(key), sessionId, notAfter };
    this.attempts.push({ ...known, stop: false, sent: false, waitsUntilMs: null, final: null, late: [] });
  }

  /** Time has passed: what must not start any more is stopped, who got no answer asks again. */
  tick(nowMs: number): void {
    for (const attempt of this.attempts) {
      if (attempt.final === null && Date.parse(attempt.notAfter) <= nowMs) attempt.stop = true;
      if (attempt.waitsUntilMs !== null && attempt.waitsUntilMs <= nowMs) {
        attempt.waitsUntilMs = null;
        attempt.sent = true;
      }
    }
  }

  /** The process that asked is gone; another one asks again. */
  forgetQuestions(): void {
    for (const attempt of this.attempts) {
      if (attempt.waitsUntilMs === null) continue;
      attempt.waitsUntilMs = null;
      attempt.sent = true;
    }
  }

  /** The run went on: nobody asks any more, and the device is told once to stop. */
  close(attempt: Attempt): void {
    if (attempt.final !== null) return;
    attempt.final = { state: 'closed' };
    this.#say({ kind: 'stop', attempt: attempt.key, deviceId: DEVICE }, () => undefined);
  }

  ask(attempt: Attempt, nowMs: number): void {
    if (attempt.final !== null || attempt.waitsUntilMs !== null) return;
    if (attempt.stop && !attempt.sent) return void (attempt.final = { state: 'not-sent' });
    if (this.#desks.size === 0) return;
    attempt.waitsUntilMs = nowMs + ANSWER_MS;
    if (!attempt.stop) return this.#run(attempt);
    this.#say({ kind: 'stop', attempt: attempt.key, deviceId: DEVICE }, () => this.#run(attempt));
  }

  #run(attempt: Attempt): void {
    const { key, commandId, sessionId, notAfter } = attempt;
    const command = { tool: 'T', arguments: {} };
    const asked = {
      kind: 'run' as const,
      commandId,
      attempt: key,
      deviceId: DEVICE,
      sessionId,
      journalId: this.#journalId,
    };
    this.#say({ ...asked, command, priority: 0, notAfter }, (answer) => this.#answered(attempt, answer));
  }

  #answered(attempt: Attempt, said: DeviceAnswer): void {
    attempt.waitsUntilMs = null;
    attempt.sent = true;
    const answer = this.#certain(attempt, said);
    if (answer.state !== 'finished' && answer.state !== 'refused') return;
    if (attempt.final !== null) return void this.further.push({ attempt, answer });
    attempt.final = answer;
    if (answer.state !== 'finished') return;
    this.#say({ kind: 'stored', commandId: attempt.commandId, deviceId: DEVICE }, () => undefined);
  }

  /** A foreign device keeps no journal: that nothing was sent to it, only the gateway that held its session can say. */
  #certain({ commandId, sessionId, notAfter }: Attempt, answer: DeviceAnswer): DeviceAnswer {
    if (this.#journalId !== null || answer.state !== 'refused') return answer;
    if (answer.code !== COMMAND_REFUSALS.outcomeUnknown) return answer;
    const answers: DeviceAnswer[] = [];
    const desk = this.#sessions.get(subjects.deviceSession(DEVICE, sessionId));
    const desks = desk === undefined ? [] : [desk];
    const question = { kind: 'sent' as const, commandId, deviceId: DEVICE, sessionId, notAfter };
    this.#say(question, (known) => void answers.push(known), desks);
    const [said] = answers;
    if (said?.state === 'refused') return said.code === COMMAND_REFUSALS.notSent ? said : answer;
    return said?.state === 'running' ? said : answer;
  }

  /** Everybody on the subject gets it; the first answer counts, if it arrives. */
  #say(
    request: DeviceRequest,
    answered: (answer: DeviceAnswer) => void,
    desks: Iterable<Callback> = this.#desks,
  ): void {
    const body = JSON.stringify(request);
    let open = true;
    const respond = (text: string): void => {
      if (!open || this.#luck.losesAnswer()) return;
      open = false;
      answered(DeviceAnswer.parse(JSON.parse(text)));
    };
    const message = {
      reply: '_INBOX_agent.1',
      data: Buffer.from(body),
      json: () => JSON.parse(body),
      respond,
    } as unknown as Msg;
    for (const desk of desks) desk(null, message);
  }

  #deliver({ commandId, outcome }: { commandId: CommandId; outcome: { state: string } }): { state: string } {
    const attempt = this.attempts.find((candidate) => candidate.commandId === commandId);
    if (attempt === undefined) return { state: 'unknown' };
    if (attempt.final === null) return { state: 'wanted' };
    if (attempt.final.state !== 'finished' && attempt.late.length === 0) attempt.late.push(outcome.state);
    return { state: 'stored' };
  }
}
