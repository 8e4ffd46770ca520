import { setTimeout as sleep } from 'node:timers/promises';
import { jetstream } from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import type { KvWatchEntry } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import { verifyActorProof, verifyEditGrant, type GrantUse } from '#libs/keys';
import { BUCKETS, KnownActor } from '#proto';
import type { Actor, ActorProof, EditGrant, Refusal } from '#proto';

const WATCH_AGAIN_MS = 500;

/** A signed command as it was received. */
export interface SignedCommand {
  readonly subject: string;
  /** The JSON, before any schema has filled in a default. */
  readonly body: object;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export type ActorAnswer =
  { readonly ok: true; readonly actor: Actor } | { readonly ok: false; readonly refusal: Refusal };

/**
 * Who is behind a command: its proof shows that somebody holds a key, the bucket says whom the key stands for. A key that is
 * taken out of the bucket stands for nobody from then on.
 */
export class Actors {
  private readonly nc: NatsConnection;
  private readonly report: (error: unknown) => void;
  private readonly stopped = new AbortController();
  private known: ReadonlyMap<string, Actor> = new Map();
  private following: Promise<void> = Promise.resolve();

  private constructor(nc: NatsConnection, report: (error: unknown) => void) {
    this.nc = nc;
    this.report = report;
  }

  /** Resolves when every key that is there is known; throws while the bucket cannot be read. */
  static async open(nc: NatsConnection, report: (error: unknown) => void = () => undefined): Promise<Actors> {
    const actors = new Actors(nc, report);
    const { promise: loaded, resolve } = Promise.withResolvers<void>();
    const first = actors.watch(resolve);
    const broken = first.then(() => {
      throw new Error('the watch of the actors ended before every key was read');
    });
    await Promise.race([loaded, broken]);
    actors.following = actors.follow(first);
    return actors;
  }

  /** The sender of a command; a refusal says to the sender what is wrong with the proof. */
  actorOf(proof: ActorProof, command: SignedCommand): ActorAnswer {
    const actor = this.known.get(proof.key);
    if (actor === undefined) return unauthorized(`The key ${proof.key} stands for nobody here.`);
    const verified = verifyActorProof(proof, command);
    return verified.ok ? { ok: true, actor } : unauthorized(verified.reason);
  }

  /**
   * Who allows something with a grant: its signature, run, access and time are checked. Only persons can allow anything: the
   * key of a program is for what the program may do itself. A refusal says to the holder what is wrong with it.
   */
  grantOf(grant: EditGrant, { access = 'edit', ...use }: Omit<GrantUse, 'access'> & Partial<GrantUse>): ActorAnswer {
    const verified = verifyEditGrant(grant, { ...use, access });
    if (!verified.ok) return unauthorized(verified.reason);
    const actor = this.known.get(verified.key);
    if (actor === undefined)
      return unauthorized(`The grant is of the key ${verified.key}, which stands for nobody here.`);
    if (actor.kind === 'person') return { ok: true, actor };
    return unauthorized(`The grant is of ${actor.id}, which is of kind ${actor.kind}; only a person can give one.`);
  }

  async stop(): Promise<void> {
    this.stopped.abort();
    await this.following;
  }

  /** Begins anew when a watch ends. Meanwhile those stay known who were. */
  private async follow(first: Promise<void>): Promise<void> {
    const { signal } = this.stopped;
    let watching = first;
    while (!signal.aborted && !this.nc.isClosed()) {
      await watching.catch(this.report);
      await sleep(WATCH_AGAIN_MS, undefined, { signal }).catch(() => undefined);
      if (!signal.aborted && !this.nc.isClosed()) watching = this.watch(() => undefined);
    }
    await watching.catch(() => undefined);
  }

  /** One look at the whole bucket and at what changes then, also what changed while the connection was down. */
  private async watch(loaded: () => void): Promise<void> {
    const { signal } = this.stopped;
    const bucket = await new Kvm(jetstream(this.nc, { checkAPI: false })).open(BUCKETS.ACTORS.bucket);
    const entries = await bucket.watch();
    const stop = (): void => entries.stop();
    signal.addEventListener('abort', stop);
    if (signal.aborted) stop();
    const known = new Map<string, Actor>();
    const complete = (): void => {
      this.known = known;
      loaded();
    };
    try {
      if ((await bucket.status()).values === 0) complete();
      for await (const entry of entries) {
        take(known, entry);
        if (entry.delta === 0) complete();
      }
    } finally {
      signal.removeEventListener('abort', stop);
      stop();
    }
  }
}

function take(known: Map<string, Actor>, entry: KvWatchEntry): void {
  const actor = entry.operation === 'PUT' ? parse(entry) : undefined;
  if (actor === undefined) known.delete(entry.key);
  else known.set(entry.key, actor);
}

/** What cannot be read stands for nobody. */
function parse(entry: KvWatchEntry): Actor | undefined {
  try {
    return KnownActor.safeParse(entry.json()).data?.actor;
  } catch {
    return undefined;
  }
}

function unauthorized(message: string): ActorAnswer {
  return { ok: false, refusal: { code: 'UNAUTHORIZED', message, issues: [] } };
}
