import { jetstream } from '@nats-io/jetstream';
import { Kvm, type KV } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import { isWrongSequence } from '#libs/messaging';
import { BUCKETS, parseJson, type Login, type Sha256 } from '#proto';
import type { Clock } from '#libs/platform';
import { newSessionId, BrowserSession, sessionKey, spentKey, stateOf } from './session.js';

/** The sessions of browsers, kept on the bus: they outlive a restart of the console, and every replica knows them. */
export class Sessions {
  readonly #nc: NatsConnection;
  readonly #clock: Clock;
  #opened: Promise<KV> | undefined;

  constructor({ nc, clock }: { readonly nc: NatsConnection; readonly clock: Clock }) {
    this.#nc = nc;
    this.#clock = clock;
  }

  /** The id of a new one, which nobody else has. */
  async open(actorId: string, { issuer, subject }: Login): Promise<string> {
    const id = newSessionId();
    const at = new Date(this.#clock.now()).toISOString();
    const session: BrowserSession = { actorId, issuer, subject, createdAt: at, seenAt: at };
    await (await this.#bucket()).create(sessionKey(id), JSON.stringify(session));
    return id;
  }

  /** Undefined for one that is over, or never was. */
  async find(id: string): Promise<BrowserSession | undefined> {
    const bucket = await this.#bucket();
    const entry = await bucket.get(sessionKey(id));
    if (entry?.operation !== 'PUT') return undefined;
    const session = BrowserSession.safeParse(parseJson(entry.value)).data;
    if (session === undefined) return undefined;
    const state = stateOf(session, this.#clock.now());
    if (state === 'over') return undefined;
    if (state === 'seen') {
      const seenAt = new Date(this.#clock.now()).toISOString();
      // Another replica was faster, or it was ended: then that counts.
      await bucket.update(entry.key, JSON.stringify({ ...session, seenAt }), entry.revision).catch(() => undefined);
    }
    return session;
  }

  /** Notes that a code was used: true once for each, over all replicas. Kept for longer than any code is good. Throws when that cannot be stored. */
  async spend(codeId: Sha256): Promise<boolean> {
    try {
      await (await this.#bucket()).create(spentKey(codeId), new Date(this.#clock.now()).toISOString());
      return true;
    } catch (error) {
      if (isWrongSequence(error)) return false;
      throw error;
    }
  }

  async close(id: string): Promise<void> {
    await (await this.#bucket()).delete(sessionKey(id));
  }

  #bucket(): Promise<KV> {
    this.#opened ??= new Kvm(jetstream(this.#nc, { checkAPI: false })).open(BUCKETS.SESSIONS.bucket).catch((error) => {
      this.#opened = undefined;
      throw error;
    });
    return this.#opened;
  }
}
