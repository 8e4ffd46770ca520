import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { ulid } from 'ulid';
import { ConstellationServerEndpoint } from '#libs/aip';
import type { ClientTask, ClientTaskEnd, Closed, ConstellationPort, EndpointWatch, Transport } from '#libs/aip';
import type { Clock } from '#libs/platform';
import type { Identity, RunId } from '#proto';
import { requestOf } from './client-run.js';
import type { ClientRuns } from './client-runs.client.js';
import type { Connection, GatewayMetrics } from '../connection/index.js';
import type { DeviceDirectory } from './device-directory.client.js';
import type { RunFollower } from './run-follower.client.js';

/** What all constellation clients of a gateway share. */
export interface ClientServices {
  readonly runs: ClientRuns;
  readonly directory: DeviceDirectory;
}

export interface ConstellationSurroundings {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Pick<GatewayMetrics, 'frame' | 'frameRefused'>;
  readonly clients: ClientServices;
}

export interface ConstellationEvents {
  ended(connection: ConstellationConnection): void;
}

/** A task between its submission and its end. */
interface Submission {
  readonly runId: RunId;
  readonly given: AbortController;
  /** Whether it is a run now; what is not known to be one is cancelled by the connection that submits it. */
  readonly isRun: Promise<boolean>;
  follower: RunFollower | undefined;
}

const REASON_CHARS_MAX = 200;
/** Whether a task is a run is known in a moment, or not soon. */
const ANSWER_MS = 1_000;
const LEFT = 'its client left';
const TOO_MANY = 'TRY_AGAIN: this client gives more tasks than are taken, send it again later';

/** One constellation client's socket: its tasks become runs, and the ends of the runs become TASK_END. */
export class ConstellationConnection implements Connection {
  readonly identity: Identity;
  readonly #around: ConstellationSurroundings;
  readonly #events: ConstellationEvents;
  readonly #transport: Transport;
  readonly #endpoint: ConstellationServerEndpoint;
  readonly #connectionId: string;
  readonly #submissions = new Map<string, Submission>();
  readonly #cancels = new Set<Promise<void>>();
  readonly #socketGone = Promise.withResolvers<void>();
  #refusals = 0;

  constructor(
    identity: Identity,
    transport: Transport,
    around: ConstellationSurroundings,
    events: ConstellationEvents,
  ) {
    const { clock } = around;
    this.identity = identity;
    this.#around = around;
    this.#events = events;
    this.#transport = transport;
    this.#connectionId = ulid(clock.now());
    const [port, watch] = [this.#port(), this.#watch()];
    this.#endpoint = new ConstellationServerEndpoint({ identity, transport, clock, port, watch });
  }

  get isRegistered(): boolean {
    return this.#endpoint.phase === 'READY' || this.#endpoint.phase === 'CLOSED';
  }

  /** Resolves when the socket is closed and the runs that were open are cancelled. */
  async gone(): Promise<void> {
    await this.#socketGone.promise;
    await Promise.all(this.#cancels);
  }

  tick(nowMs: number): void {
    this.#endpoint.tick();
    for (const { follower } of this.#submissions.values()) follower?.tick(nowMs);
  }

  revoke(): void {
    this.#endpoint.revoke();
  }

  shutDown(): void {
    this.#endpoint.shutDown();
  }

  #port(): ConstellationPort {
    return {
      lookUp: ({ deviceId, sessionId }) => void this.#lookUp(deviceId, sessionId),
      submit: ({ task, label }) => void this.#submit(task, label),
      follow: ({ sessionId, runId }) => this.#follow(sessionId, runId),
      cancel: ({ sessionId }) => this.#cancel(sessionId),
      deviceInfo: ({ deviceId, requestId }) => void this.#deviceInfo(deviceId, requestId),
      left: () => undefined,
      closed: (why) => this.#closed(why),
    };
  }

  /** Never what is in a frame: only its type, and why it was refused. */
  #watch(): EndpointWatch {
    const { logger, metrics } = this.#around;
    const clientId = this.identity.id;
    return {
      count: (direction, type) => metrics.frame(direction, type),
      log: (event) => {
        if (event.kind === 'refused') {
          metrics.frameRefused();
          logger.debug({ clientId, type: event.type, error: event.error }, 'frame refused');
        } else if (event.kind === 'sent-away') {
          logger.info({ clientId, code: event.code, reason: event.reason }, 'constellation client sent away');
        } else {
          logger.warn({ clientId, error: event.error }, 'constellation client reports an error');
        }
      },
    };
  }

  async #lookUp(deviceId: string, sessionId: string | null): Promise<void> {
    try {
      const isConnected = await this.#around.clients.directory.isConnected(deviceId);
      this.#endpoint.input({ kind: 'target', sessionId, state: isConnected ? 'connected' : 'not-connected' });
    } catch (error) {
      this.#around.logger.warn({ err: error, deviceId }, 'nobody could say whether a device is connected');
      this.#endpoint.input({ kind: 'target', sessionId, state: 'unknown' });
    }
  }

  async #deviceInfo(deviceId: string, requestId: string | null): Promise<void> {
    try {
      const info = await this.#around.clients.directory.info(deviceId);
      this.#endpoint.input({ kind: 'device-info', deviceId, requestId, info });
    } catch (error) {
      this.#around.logger.warn({ err: error, deviceId }, 'nobody could say what is known of a device');
      this.#endpoint.input({ kind: 'device-info', deviceId, requestId, info: null });
    }
  }

  async #submit(task: ClientTask, label: string | null): Promise<void> {
    const { clients, logger } = this.#around;
    const { sessionId, deviceId } = task;
    const { id } = this.identity;
    const client = { id, connectionId: this.#connectionId, refusals: this.#refusals, label };
    if (!clients.runs.mayGive(id)) return this.#endpoint.input({ kind: 'refused', sessionId, error: TOO_MANY });
    const given = new AbortController();
    const request = requestOf(task, client);
    const runId = clients.runs.runIdOf(request.requestId);
    const submitting = clients.runs.submit(request, { ...client, signal: given.signal });
    const isRun = submitting.then(({ kind }) => kind === 'accepted');
    this.#submissions.set(sessionId, { runId, given, isRun, follower: undefined });
    const submitted = await submitting;
    if (submitted.kind === 'accepted') {
      logger.info({ clientId: id, deviceId, runId: submitted.runId }, 'a task of a constellation client is a run');
      return this.#endpoint.input({ kind: 'accepted', sessionId, runId: submitted.runId });
    }
    this.#refusals += 1;
    this.#submissions.delete(sessionId);
    this.#endpoint.input({ kind: 'refused', sessionId, error: submitted.error });
  }

  #follow(sessionId: string, runId: RunId): void {
    const { clock, clients } = this.#around;
    const submission = this.#submissions.get(sessionId);
    if (submission === undefined) return;
    const ended = (end: ClientTaskEnd): void => {
      this.#submissions.delete(sessionId);
      this.#endpoint.input({ kind: 'ended', sessionId, ...end });
    };
    submission.follower = clients.runs.follow(runId, ended, () => this.#transport.congested);
    submission.follower.tick(clock.now());
  }

  /** Also before it is known that it is a run: it may become one. One that is refused meanwhile takes nobody else's turn. */
  #cancel(sessionId: string): void {
    const { runs } = this.#around.clients;
    const submission = this.#submissions.get(sessionId);
    if (submission === undefined) return;
    this.#submissions.delete(sessionId);
    submission.given.abort();
    if (submission.follower !== undefined) runs.stop(submission.follower);
    const cancel = this.#cancelIfRun(submission).then(() => void this.#cancels.delete(cancel));
    this.#cancels.add(cancel);
  }

  async #cancelIfRun({ runId, isRun }: Submission): Promise<void> {
    if (await soon(isRun))
      await this.#around.clients.runs.cancel(runId, LEFT, {
        id: this.identity.id,
        connectionId: this.#connectionId,
      });
  }

  #closed({ code, reason }: Closed): void {
    const clientId = this.identity.id;
    const more = { clientId, code, reason: reason.slice(0, REASON_CHARS_MAX) };
    this.#around.logger.info(more, 'constellation client disconnected');
    this.#events.ended(this);
    this.#socketGone.resolve();
  }
}

/** What nobody has said in this time is taken for a yes. */
async function soon(isRun: Promise<boolean>): Promise<boolean> {
  const said = new AbortController();
  const silence = sleep(ANSWER_MS, true, { signal: said.signal }).catch(() => true);
  try {
    return await Promise.race([isRun, silence]);
  } finally {
    said.abort();
  }
}
