import { setTimeout as sleep } from 'node:timers/promises';
import { jetstream } from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import { followBucket, type BucketEntry, type BucketLook, type Following } from '#libs/messaging';
import { Loop } from '#libs/platform';
import { BUCKETS, DeviceId, LIMITS, parseJson, parseWith, Presence } from '#proto';

/** A renewal that is this late has been missed, or its marker has: look. */
const SILENCE_MS_MAX = LIMITS.presenceTtlMs + 1_000;
const SWEEP_MS = 2_000;

interface PresenceView {
  /** Whether the log says of its device what this presence says. */
  readonly isRecorded: (presence: Presence) => boolean;
  /** Devices that count as there. */
  readonly connected: () => Iterable<DeviceId>;
  /** Something may have changed: look at the device. */
  readonly hint: (deviceId: DeviceId) => void;
  /** Every presence that can be understood, renewals too. */
  readonly seen: (presence: Presence) => void;
  /** There is none any more. */
  readonly gone: (deviceId: DeviceId) => void;
}

/**
 * Watches the bucket. A renewal of the recorded session is nothing; everything else is a hint to look at the device, also
 * what is missing: at every look at the whole bucket, and when a device has been silent for longer than its key lives.
 */
export class PresenceConsumer extends Loop {
  readonly #nc: NatsConnection;
  readonly #view: PresenceView;
  readonly #logger: Logger;
  readonly #seenAt = new Map<DeviceId, number>();
  /** When the whole bucket was looked at last. */
  #lookedAt = 0;

  constructor({ nc, view, logger }: { nc: NatsConnection; view: PresenceView; logger: Logger }) {
    super();
    this.#nc = nc;
    this.#view = view;
    this.#logger = logger;
  }

  /** Over restarts of the server; ends with the signal. */
  async run(signal: AbortSignal): Promise<void> {
    const following = followBucket(this.#nc, {
      bucket: BUCKETS.PRESENCE.bucket,
      look: () => this.#look(),
      report: (error) => this.#logger.warn({ reason: String(error) }, 'presence: watching again'),
      signal,
    });
    await this.#sweep(following, signal);
    await following.over;
  }

  #look(): BucketLook {
    this.#lookedAt = performance.now();
    const missing = new Set(this.#view.connected());
    return {
      take: (entry) => {
        if (entry.operation === 'PUT') missing.delete(entry.key);
        this.#take(entry);
      },
      complete: () => {
        for (const deviceId of missing) this.#view.hint(deviceId);
        missing.clear();
      },
    };
  }

  #take(entry: BucketEntry): void {
    const deviceId = DeviceId.safeParse(entry.key);
    if (!deviceId.success) return;
    const { data: id } = deviceId;
    if (entry.operation !== 'PUT') {
      this.#seenAt.delete(id);
      this.#view.gone(id);
      return this.#view.hint(id);
    }
    this.#seenAt.set(id, performance.now());
    const presence = understood(entry);
    if (presence !== undefined) this.#view.seen(presence);
    // Most entries are renewals: telling them apart must not cost a read of the log.
    if (presence === undefined || !this.#view.isRecorded(presence)) this.#view.hint(id);
  }

  async #sweep({ isCurrent }: Following, signal: AbortSignal): Promise<void> {
    while (!signal.aborted && !this.#nc.isClosed()) {
      await sleep(SWEEP_MS, undefined, { signal }).catch(() => undefined);
      const silent = performance.now() - SILENCE_MS_MAX;
      if (signal.aborted || !isCurrent() || this.#lookedAt > silent) continue;
      for (const id of this.#view.connected()) if ((this.#seenAt.get(id) ?? 0) < silent) this.#view.hint(id);
    }
  }
}

/** What the bucket says about one device now. Throws on what it cannot understand: that is no absence. */
export async function readPresence(nc: NatsConnection, deviceId: DeviceId): Promise<Presence | undefined> {
  // From the leader: a follower may still show the session before.
  const kvm = new Kvm(jetstream(nc, { checkAPI: false }));
  const entry = await (await kvm.open(BUCKETS.PRESENCE.bucket, { allow_direct: false })).get(deviceId);
  return entry === null || entry.operation !== 'PUT' ? undefined : parse(entry);
}

function parse(entry: BucketEntry): Presence {
  const parsed = parseWith(Presence, parseJson(entry.value));
  if (parsed.ok && parsed.value.deviceId === entry.key) return parsed.value;
  throw new Error(`the presence of ${entry.key} cannot be understood`);
}

function understood(entry: BucketEntry): Presence | undefined {
  try {
    return parse(entry);
  } catch {
    return undefined;
  }
}
