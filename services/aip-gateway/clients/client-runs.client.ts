import { setTimeout as sleep } from 'node:timers/promises';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import { ulid } from 'ulid';
import { fullRate, takeToken, type ClientTaskEnd, type Rate } from '#libs/aip';
import { openRunLog, runIdOf, type RunLog } from '#libs/event-log';
import {
  clientVouched,
  DEFAULT_NAMESPACE,
  getArtifact,
  sendVerb,
  submitRequest,
  type VerbOutcome,
} from '#libs/messaging';
import type { Clock } from '#libs/platform';
import { Slots } from '#libs/slots';
import type { DeviceId, RequestId, RunId, RunRequest } from '#proto';
import { sentenceOfRefusal } from './client-run.js';
import { RunFollower } from './run-follower.client.js';
import { isLarge, wholeEnd, type RunEnd } from './whole-end.js';

/** A client that gives a task hears within 10 s that nobody takes it. */
const SUBMIT_MS = 8_000;
/** A CANCEL is sent until somebody has answered it, as long as a run of a client may take. */
const CANCEL_MS = 1_000_000;
/** A run that is still not there after this will not come any more: its request was lost on the way. */
const ARRIVES_MS = 30_000;
const CANCEL_AGAIN_MS = 1_000;
/** The gateway that loses all its clients at once sends so many CANCELs at a time. */
const CANCELS_AT_ONCE = 64;
/** Tasks of one client, over all its connections: each is a run, and stays in the log for ever. */
const TASK_RATE = { perSecond: 20, burst: 1_000 };

export interface ClientRunsParts {
  readonly nc: NatsConnection;
  /** Of the gateway's bus key. Without it nobody could say who asks and who cancels: tasks of clients are refused. */
  readonly seed: string | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly submitMs?: number;
  /** Where runs are read; by default over the same connection. */
  readonly log?: RunLog;
}

/** What is in no store is not asked for. */
const NOTHING = (): Promise<never> => Promise.reject(new Error('the result names no artifact'));

/** What a client is told that was not taken for sure. */
const WHY = {
  away: 'the bus cannot be reached, send it again later',
  nobody: 'nobody takes tasks at the moment, send it again later',
  silence: 'nobody has said that the task is taken, send it again later',
  nonsense: 'the orchestrator gave no valid answer',
  'try-again': 'it is not known yet whether the task is taken, send it again later',
};

/** `error` is one sentence for the client. */
export type Submitted =
  { readonly kind: 'accepted'; readonly runId: RunId } | { readonly kind: 'refused'; readonly error: string };

/** In whose name tasks are given and taken back. */
interface ClientSession {
  readonly id: DeviceId;
  readonly connectionId: string;
}

/** Who gives a task, and until when. */
export interface GivenBy extends ClientSession {
  readonly signal: AbortSignal;
}

/** The runs that constellation clients are waiting for: submitted in their names, and cancelled so; followed in the gateway's own. */
export class ClientRuns {
  readonly #parts: ClientRunsParts;
  readonly #log: RunLog;
  readonly #followers = new Set<RunFollower>();
  /** One for each client that has given a task. */
  readonly #rates = new Map<DeviceId, Rate>();
  readonly #cancels = new Slots(CANCELS_AT_ONCE);
  #large: Promise<unknown> = Promise.resolve();

  constructor(parts: ClientRunsParts) {
    this.#parts = parts;
    this.#log = parts.log ?? openRunLog(parts.nc);
    void this.#followConnection();
  }

  /** The id that the run has, or would have. */
  runIdOf(requestId: RequestId): RunId {
    return runIdOf(DEFAULT_NAMESPACE, requestId);
  }

  /** False: the client gives more tasks than one of many may; what is refused costs it nothing. */
  mayGive(clientId: DeviceId): boolean {
    const nowMs = this.#parts.clock.now();
    const [rate, { waitMs }] = takeToken(this.#rates.get(clientId) ?? fullRate(TASK_RATE, nowMs), TASK_RATE, nowMs);
    if (waitMs > 0) return false;
    this.#rates.set(clientId, rate);
    return true;
  }

  /** Safe to repeat, and repeated until somebody answers. What may have been taken although nobody said so is cancelled. */
  async submit(request: RunRequest, { signal, ...client }: GivenBy): Promise<Submitted> {
    const { nc, seed, clock, logger, submitMs = SUBMIT_MS } = this.#parts;
    if (seed === undefined) return { kind: 'refused', error: 'this gateway has no key to sign tasks with' };
    const vouched = clientVouched(client.id, client.connectionId);
    const patience = { deadlineMs: submitMs, waitsForTaker: true, signal };
    const outcome = await submitRequest(nc, JSON.stringify(request), {
      ...patience,
      seed,
      now: () => clock.now(),
      vouched,
    });
    if (outcome.answer === 'accepted') return { kind: 'accepted', runId: outcome.runId };
    if (outcome.answer === 'rejected') return { kind: 'refused', error: sentenceOfRefusal(outcome.reason) };
    const { met, reason, mayBeTaken, cause } = outcome;
    if (met === 'silence') logger.warn({ err: cause }, 'no answer to a submission');
    if (mayBeTaken)
      void this.cancel(this.runIdOf(request.requestId), 'its client was told that it was not taken', client);
    return { kind: 'refused', error: `TRY_AGAIN: ${reason?.message ?? WHY[met]}` };
  }

  /** To be ticked by the connection that waits, and stopped when none does. */
  follow(runId: RunId, ended: (end: ClientTaskEnd) => void, congested: () => boolean = () => false): RunFollower {
    const { nc, logger } = this.#parts;
    const follower = new RunFollower(runId, {
      nc,
      logger,
      log: this.#log,
      whole: (end) => this.#whole(end, congested),
      ended: (end) => {
        this.#followers.delete(follower);
        ended(end);
      },
    });
    this.#followers.add(follower);
    return follower;
  }

  /** One large result at a time, and none for a client that has not taken the last: more would only be memory. */
  async #whole(end: RunEnd, congested: () => boolean): Promise<ClientTaskEnd | null> {
    if (!isLarge(end)) return wholeEnd(end, NOTHING);
    const turn = this.#large.then(async () => {
      if (congested()) return null;
      const whole = await wholeEnd(end, (sha256) => getArtifact(this.#parts.nc, sha256));
      return congested() ? null : whole;
    });
    this.#large = turn.catch(() => undefined);
    return turn;
  }

  stop(follower: RunFollower): void {
    follower.stop();
    this.#followers.delete(follower);
  }

  /** Until it is certain that the run will end, or nobody can be asked any more. Never throws. */
  async cancel(runId: RunId, reason: string, client: ClientSession): Promise<void> {
    try {
      await this.#cancels.use(() => this.#cancel(runId, reason, client));
    } catch (error) {
      this.#parts.logger.error({ err: error, runId }, 'a run of a client could not be cancelled');
    }
  }

  async #cancel(runId: RunId, reason: string, client: ClientSession): Promise<void> {
    const { nc, seed, clock, logger } = this.#parts;
    if (seed === undefined) return logger.warn({ runId }, 'without a key of its own the gateway cancels nothing');
    const id = ulid(clock.now());
    const vouched = clientVouched(client.id, client.connectionId);
    const begun = performance.now();
    for (;;) {
      const now = (): number => clock.now();
      const outcome = await sendVerb(nc, { runId, verb: 'CANCEL', fields: { reason }, seed, now, vouched, id });
      const waited = performance.now() - begun;
      if (isSettled(outcome, waited)) {
        const { answer } = outcome;
        const why = answer === 'unknown' ? outcome.why : outcome.reason?.message;
        return logger.info({ runId, answer, why }, 'the run of a client that left is cancelled');
      }
      if (nc.isClosed() || waited > CANCEL_MS) return logger.warn({ runId }, 'a run of a client is not cancelled');
      await sleep(CANCEL_AGAIN_MS);
    }
  }

  /** What was said while the connection was broken was not heard. */
  async #followConnection(): Promise<void> {
    for await (const { type } of this.#parts.nc.status()) {
      if (type === 'reconnect') for (const follower of this.#followers) follower.look();
    }
  }
}

/** A run that nobody knows may still be on its way. */
function isSettled(outcome: VerbOutcome, waitedMs: number): boolean {
  if (outcome.answer === 'unknown') return false;
  if (outcome.answer !== 'rejected' || outcome.reason?.code !== 'NOT_FOUND') return true;
  return waitedMs > ARRIVES_MS;
}
