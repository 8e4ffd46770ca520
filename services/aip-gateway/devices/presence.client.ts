import { Kvm, type KV, type KvEntry } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import { AgentProfile, BUCKETS, DEFAULTS, type DeviceId, type Presence, type SessionId } from '#proto';
import { OVERTAKEN, uncontended, type Overtaken } from '#libs/event-log';
import { isWrongSequence } from '#libs/messaging';
import type { ScreenStanding } from './screen-door.js';

const KV_TIMEOUT_MS = 3_000;

export interface SlotsAsked {
  readonly deviceId: DeviceId;
  readonly sessionId: SessionId;
  /** Its client keeps no journal. */
  readonly isForeign: boolean;
}

/** The buckets that a gateway needs: who is connected where, and how many tasks a device takes. */
export class PresenceBook {
  readonly #presence: KV;
  readonly #profiles: KV;

  private constructor(presence: KV, profiles: KV) {
    this.#presence = presence;
    this.#profiles = profiles;
  }

  static async open(nc: NatsConnection): Promise<PresenceBook> {
    const kvm = new Kvm(nc);
    const open = (bucket: string): Promise<KV> => kvm.open(bucket, { bindOnly: true });
    return new PresenceBook(await open(BUCKETS.PRESENCE.bucket), await open(BUCKETS.AGENT_PROFILES.bucket));
  }

  /** Takes the device's key from the replica that holds it: the newest connection wins. Throws when the bus does not answer. */
  claim(presence: Presence): Promise<PresenceLease> {
    const value = JSON.stringify(presence);
    return uncontended(`the presence of ${presence.deviceId}`, async () => {
      const held = await this.#presence.get(presence.deviceId);
      const revision = await written(() =>
        this.#presence.put(presence.deviceId, value, { previousSeq: held?.revision ?? 0, timeout: KV_TIMEOUT_MS }),
      );
      if (revision === OVERTAKEN) return OVERTAKEN;
      return new PresenceLease(this.#presence, presence, { revision, replaced: held?.operation === 'PUT' });
    });
  }

  /** Whether some session has the device now. Throws when the bus does not answer. */
  async isHeld(deviceId: DeviceId): Promise<boolean> {
    return (await this.#presence.get(deviceId))?.operation === 'PUT';
  }

  /**
   * Commands that may be at the device at once, from its profile. `settled`: the profile knows this session. Until it does, a
   * foreign device gets one after the other: what was said of its last client may be said of another kind.
   */
  async slotsOf({ deviceId, sessionId, isForeign }: SlotsAsked): Promise<{ slots: number; settled: boolean }> {
    const profile = await this.#profileOf(deviceId);
    const settled = profile?.session?.sessionId === sessionId;
    const isOfItsKind = !isForeign || profile?.session?.journalId === null;
    const unknown = isForeign ? DEFAULTS.foreignTasksMax : DEFAULTS.deviceTasksMax;
    return { slots: (isOfItsKind ? profile?.tasksMax : undefined) ?? unknown, settled };
  }

  /** Who has its screen, read now. Throws when the bus does not answer. */
  async screenOf(deviceId: DeviceId): Promise<ScreenStanding> {
    const profile = await this.#profileOf(deviceId);
    return { taken: profile?.taken !== undefined, handedBackAt: profile?.handedBackAt ?? null };
  }

  async #profileOf(deviceId: DeviceId): Promise<AgentProfile | undefined> {
    const entry = await this.#profiles.get(deviceId);
    return entry?.operation === 'PUT' ? AgentProfile.safeParse(entry.json()).data : undefined;
  }
}

/** One session's hold on its device's key. Writes go one after the other, so the revision is always the last one we know. */
export class PresenceLease {
  readonly sessionId: SessionId;
  /** Another session had the key until this one took it. */
  readonly replaced: boolean;
  readonly #kv: KV;
  readonly #deviceId: DeviceId;
  #presence: Presence;
  #value: string;
  #revision: number;
  #tail: Promise<unknown> = Promise.resolve();
  #held = true;

  constructor(kv: KV, presence: Presence, { revision, replaced }: { revision: number; replaced: boolean }) {
    this.replaced = replaced;
    this.sessionId = presence.sessionId;
    this.#kv = kv;
    this.#deviceId = presence.deviceId;
    this.#presence = presence;
    this.#value = JSON.stringify(presence);
    this.#revision = revision;
  }

  /** What the device says of itself now: it is written with the next renewal. */
  tell(news: Partial<Pick<Presence, 'metrics' | 'telemetry' | 'contendedAt'>>): void {
    this.#presence = { ...this.#presence, ...news };
    this.#value = JSON.stringify(this.#presence);
  }

  /** Keeps the key alive. False: another session has it now, for good. Throws when the bus does not answer. */
  renew(): Promise<boolean> {
    return this.#inTurn(() => this.#write());
  }

  /** Whether the key is still ours. Asks the bus unless `revision` is one of our own writes. */
  holds(revision?: number): Promise<boolean> {
    return this.#inTurn(async () => {
      if (!this.#held) return false;
      if (revision !== undefined && revision <= this.#revision) return true;
      const entry = await this.#kv.get(this.#deviceId);
      // Nobody holds it: it is taken back, because the socket is still here.
      if (entry?.operation !== 'PUT') return this.#write();
      this.#held = this.#isOurs(entry);
      return this.#held;
    });
  }

  /** Deletes the key, unless a newer session has it. */
  release(): Promise<void> {
    return this.#inTurn(async () => {
      if (!this.#held) return;
      this.#held = false;
      const previousSeq = this.#revision;
      await written(() => this.#kv.delete(this.#deviceId, { previousSeq }).then(() => 0));
    });
  }

  #write(): Promise<boolean> {
    let at = this.#revision;
    return uncontended(`the presence of ${this.#deviceId}`, async () => {
      if (!this.#held) return false;
      const revision = await this.#put(at);
      if (revision !== OVERTAKEN) {
        this.#revision = revision;
        return true;
      }
      // Expired, deleted, lost with a restarted server, our own write whose ack was lost, or a newer session.
      const entry = await this.#kv.get(this.#deviceId);
      this.#held = entry?.operation !== 'PUT' || this.#isOurs(entry);
      at = entry?.revision ?? 0;
      return OVERTAKEN;
    });
  }

  #isOurs(entry: KvEntry): boolean {
    return entry.json<{ sessionId?: unknown }>().sessionId === this.sessionId;
  }

  #put(previousSeq: number): Promise<number | Overtaken> {
    return written(() => this.#kv.put(this.#deviceId, this.#value, { previousSeq, timeout: KV_TIMEOUT_MS }));
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#tail.then(work);
    this.#tail = result.catch(() => undefined);
    return result;
  }
}

/** That somebody else was first is an answer; everything else is thrown. */
async function written(write: () => Promise<number>): Promise<number | Overtaken> {
  try {
    return await write();
  } catch (error) {
    if (isWrongSequence(error)) return OVERTAKEN;
    throw error;
  }
}
