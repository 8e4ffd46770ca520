import { RequestError, TimeoutError, type NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import { DeviceAnswer, LIMITS, subjects, type DeviceId, type DeviceRequest } from '#proto';
import { Backoff } from '#libs/backoff';
import { waitUnlessAborted } from './waiting.runner.js';

/** A gateway answers within `commandAnswerMs`; the rest is for the way. */
const ANSWER_MS = LIMITS.commandAnswerMs + 2_000;
const TELL_MS = { msMin: 50, msMax: 2_000 };
/**
 * A stop is said for ten minutes at least: a device that was away when its attempt was closed goes on with the command when
 * it is back, and nobody else would ever tell it. The other tellings only save work.
 */
const TRIES_MAX = { run: 8, stored: 8, sent: 1, stop: 300, forget: 1, workspaces: 1 } as const satisfies Record<
  DeviceRequest['kind'],
  number
>;

/** `away`: nobody serves the device, so nobody got the request. `silent`: perhaps somebody did. */
export type GatewayReply =
  DeviceAnswer | { readonly state: 'away' } | { readonly state: 'silent' } | { readonly state: 'unreadable' };

/** The device, as far as the gateway that holds its socket answers for it. */
export interface GatewayLink {
  ask(request: DeviceRequest): Promise<GatewayReply>;
  /** Says it without waiting, some tries long: for what may be said again or is noticed otherwise. */
  tell(request: DeviceRequest): void;
}

export class NatsDeviceLink implements GatewayLink {
  readonly #nc: NatsConnection;
  readonly #logger: Logger;
  readonly #tellMs: { readonly msMin: number; readonly msMax: number };
  readonly #stopped = new AbortController();
  /** Resolves when the connection breaks or is there again: what was asked before may have reached nobody. */
  #broken = Promise.withResolvers<GatewayReply>();
  /** The same for one device, while somebody waits for its answer. */
  readonly #asking = new Map<DeviceId, { readonly moved: PromiseWithResolvers<GatewayReply>; waiting: number }>();

  constructor(nc: NatsConnection, logger: Logger, tellMs = TELL_MS) {
    this.#nc = nc;
    this.#tellMs = tellMs;
    this.#logger = logger;
    void this.#noticeBreaks();
  }

  async ask(request: DeviceRequest): Promise<GatewayReply> {
    const { deviceId } = request;
    const asking = this.#asking.get(deviceId) ?? { moved: Promise.withResolvers<GatewayReply>(), waiting: 0 };
    this.#asking.set(deviceId, asking);
    asking.waiting++;
    try {
      const answer = this.#nc.request(subjectOf(request), JSON.stringify(request), {
        timeout: ANSWER_MS,
      });
      const answered = answer.then(({ data }) => parseAnswer(data));
      return await Promise.race([answered, this.#broken.promise, asking.moved.promise]);
    } catch (error) {
      if (error instanceof RequestError && error.isNoResponders()) return { state: 'away' };
      if (error instanceof TimeoutError) return { state: 'silent' };
      throw error;
    } finally {
      if (--asking.waiting === 0 && this.#asking.get(deviceId) === asking) this.#asking.delete(deviceId);
    }
  }

  /** The device has another session: a gateway that was killed never answers a question. */
  moved(deviceId: DeviceId): void {
    this.#asking.get(deviceId)?.moved.resolve({ state: 'silent' });
    this.#asking.delete(deviceId);
  }

  tell(request: DeviceRequest): void {
    void this.#repeat(request).catch((error: unknown) =>
      this.#logger.warn({ err: error, kind: request.kind, deviceId: request.deviceId }, 'the device was not told'),
    );
  }

  /** Nothing is said any more; devices go on meanwhile. */
  end(): void {
    this.#stopped.abort();
  }

  async #noticeBreaks(): Promise<void> {
    for await (const { type } of this.#nc.status()) {
      if (type !== 'disconnect' && type !== 'reconnect') continue;
      this.#broken.resolve({ state: 'silent' });
      this.#broken = Promise.withResolvers<GatewayReply>();
    }
  }

  async #repeat(request: DeviceRequest): Promise<void> {
    const backoff = new Backoff(this.#tellMs);
    for (let tries = 0; tries < TRIES_MAX[request.kind] && !this.#stopped.signal.aborted; tries++) {
      const { state } = await this.ask(request);
      if (state !== 'away' && state !== 'silent') return;
      await waitUnlessAborted(backoff.next(), this.#stopped.signal);
    }
  }
}

const subjectOf = (request: DeviceRequest): string =>
  request.kind === 'sent'
    ? subjects.deviceSession(request.deviceId, request.sessionId)
    : subjects.deviceCommand(request.deviceId);

/** A hostile device reaches this far with the nesting of its result, so the parser may give up, too. */
function parseAnswer(data: Uint8Array): GatewayReply {
  try {
    return DeviceAnswer.parse(JSON.parse(new TextDecoder().decode(data)));
  } catch {
    return { state: 'unreadable' };
  }
}
