import { GENESIS_HASH, type ActorCommit, type ActorId, type KeptProof, type Login } from '#proto';
import { evolveActor, isSame, type ActorState, type IssuedToken } from './actor-state.js';

/** Where the chain of an actor ends. */
interface LogEnd {
  /** Stream sequence of the last message that is folded in. */
  readonly sequence: number;
  readonly number: number;
  readonly events: number;
  readonly hash: string;
}

const NOTHING: LogEnd = { sequence: 0, number: 0, events: 0, hash: GENESIS_HASH };

/** A command whose facts are stored, and what was signed. */
interface Answered {
  readonly actorId: ActorId;
  readonly proof: KeptProof | undefined;
}

interface Tracked {
  readonly state: ActorState;
  readonly end: LogEnd;
}

/** All actors, folded from ACTORS: what is decided about one depends on the others. Every commit may be applied again. */
export class Roster {
  readonly #actors = new Map<ActorId, Tracked>();
  /** A key or a token that somebody has had is never somebody else's. */
  readonly #byKey = new Map<string, ActorId>();
  readonly #byTokenId = new Map<string, ActorId>();
  readonly #byTokenHash = new Map<string, ActorId>();
  readonly #answered = new Map<string, Answered>();
  #position = 0;

  /** Stream sequence of the last message that is folded in, of whomever it is. */
  get position(): number {
    return this.#position;
  }

  get(actorId: ActorId): ActorState | undefined {
    return this.#actors.get(actorId)?.state;
  }

  all(): ActorState[] {
    return [...this.#actors.values()].map(({ state }) => state);
  }

  endOf(actorId: ActorId): LogEnd | undefined {
    return this.#actors.get(actorId)?.end;
  }

  /** Who has this key, or had it. */
  ownerOfKey(key: string): ActorState | undefined {
    return this.#of(this.#byKey.get(key));
  }

  /** Who has the token with this id, or had it, and the token. */
  tokenOf(tokenId: string): { readonly owner: ActorState; readonly token: IssuedToken } | undefined {
    const owner = this.#of(this.#byTokenId.get(tokenId));
    const token = owner?.tokens.find((one) => one.tokenId === tokenId);
    return owner === undefined || token === undefined ? undefined : { owner, token };
  }

  isKnownSecret(tokenHash: string): boolean {
    return this.#byTokenHash.has(tokenHash);
  }

  /** Who comes in with this login now. */
  ownerOfLogin(login: Login): ActorState | undefined {
    return this.all().find(({ logins }) => logins.some((one) => isSame(one, login)));
  }

  /** About whom the command with this id was; undefined when nothing is stored for it. */
  answered(commandId: string): Answered | undefined {
    return this.#answered.get(commandId);
  }

  /** Folds a stored commit. Throws for one that cannot follow. */
  apply({ commit, sequence }: { readonly commit: ActorCommit; readonly sequence: number }): void {
    const { actorId, events, causes } = commit;
    const known = this.#actors.get(actorId);
    this.#position = Math.max(this.#position, sequence);
    if (sequence <= (known?.end.sequence ?? 0)) return;
    const state = events.reduce<ActorState | undefined>(
      (before, event) => evolveActor(before, event, actorId),
      known?.state,
    );
    if (state === undefined) return;
    const before = known?.end ?? NOTHING;
    const end = { sequence, number: commit.number, events: before.events + events.length, hash: commit.hash };
    this.#actors.set(actorId, { state, end });
    for (const { key } of state.keys) this.#byKey.set(key, actorId);
    for (const { tokenId, tokenHash } of state.tokens) {
      this.#byTokenId.set(tokenId, actorId);
      this.#byTokenHash.set(tokenHash, actorId);
    }
    for (const { kind, id, proof } of causes) if (kind === 'request') this.#answered.set(id, { actorId, proof });
  }

  #of(actorId: ActorId | undefined): ActorState | undefined {
    return actorId === undefined ? undefined : this.get(actorId);
  }
}
