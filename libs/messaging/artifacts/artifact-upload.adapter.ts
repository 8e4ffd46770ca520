// One object on its way into the object store, in the store's own format (NATS ADR-20), which other clients read:
//
//   pieces on $O.<bucket>.C.<id>  ──all there──►  one message on $O.<bucket>.M.<name>, from then on there is an object
//
// The store's client reads a whole object ahead of a slow reader, writes one piece at a time, and needs the right to purge the
// stream to take a broken object away. Here a few pieces are under way at once, and what is left over goes by a roll-up of
// its own subject, which needs no more rights than writing.
import { createHash } from 'node:crypto';
import { jetstream, JsHeaders, type JetStreamClient } from '@nats-io/jetstream';
import { headers, nuid, type NatsConnection } from '@nats-io/transport-node';
import { z } from 'zod';
import { ARTIFACTS_BUCKET, type ArtifactRef, type Sha256 } from '#proto';
import { ConnectionWatch, isWrongSequence } from '../connection/index.js';
import { managerOf } from '../streams/index.js';

/** An artifact is missing or is not what its name says. */
export class ArtifactError extends Error {
  override readonly name = 'ArtifactError';
  readonly sha256: string;
  constructor(sha256: string, reason: string, options?: ErrorOptions) {
    super(`The artifact ${sha256} ${reason}.`, options);
    this.sha256 = sha256;
  }
}

export const ARTIFACTS_STREAM = `OBJ_${ARTIFACTS_BUCKET}`;
export const PUT_TIMEOUT_MS = 10_000;
/** Messages that hold an object; smaller where a server takes no such messages. */
const PIECE_BYTES_MAX = 256 * 1024;
/** What the bus puts around a piece. */
const ENVELOPE_BYTES = 1_024;
const BUS_BYTES_MAX_DEFAULT = 1024 * 1024;
/** Pieces under way to the server. */
const PIECES_UNDER_WAY_MAX = 4;
const COMMIT_TRIES_MAX = 3;
/** What a roll-up leaves behind is gone after this. */
const REST_TTL = '1s';

/** What stands behind a name in the store. */
const ObjectInfo = z.object({
  name: z.string(),
  nuid: z.string(),
  size: z.int().min(0),
  chunks: z.int().min(0),
  digest: z.string().default(''),
  deleted: z.boolean().default(false),
  /** Of one that was taken away: by what. */
  description: z.string().default(''),
});
export interface StoredObject extends z.infer<typeof ObjectInfo> {
  /** Stream sequence of the message that says so. */
  readonly sequence: number;
}

export const piecesSubject = (id: string): string => `$O.${ARTIFACTS_BUCKET}.C.${id}`;
export const objectSubject = (sha256: Sha256): string =>
  `$O.${ARTIFACTS_BUCKET}.M.${padded(Buffer.from(sha256).toString('base64url'))}`;

/** The store's own digest of a content that has this checksum. */
const storeDigestOf = (sha256: Sha256): string => `SHA-256=${padded(Buffer.from(sha256, 'hex').toString('base64url'))}`;

function padded(base64: string): string {
  return base64.padEnd(Math.ceil(base64.length / 4) * 4, '=');
}

/** The object of this name, deleted or not; null when there never was one. Asks the leader. */
export async function findObject(nc: NatsConnection, sha256: Sha256): Promise<StoredObject | null> {
  const jsm = await managerOf(nc);
  const query = { last_by_subj: objectSubject(sha256) };
  const found = await ConnectionWatch.of(nc).request(() => jsm.streams.getMessage(ARTIFACTS_STREAM, query));
  return found === null ? null : { ...ObjectInfo.parse(found.json()), sequence: found.seq };
}

/** Whether an object is what its name promises; its pieces are checked by their reader. */
export const isWhole = (object: StoredObject | null, sha256: Sha256): object is StoredObject =>
  object !== null && !object.deleted && object.digest === storeDigestOf(sha256);

/** Takes every piece under this id out of the store. */
export async function discardPieces(nc: NatsConnection, id: string): Promise<void> {
  const rest = headers();
  rest.set(JsHeaders.RollupHdr, JsHeaders.RollupValueSubject);
  await ConnectionWatch.of(nc).request(() =>
    jetstream(nc).publish(piecesSubject(id), undefined, { headers: rest, ttl: REST_TTL, timeout: PUT_TIMEOUT_MS }),
  );
}

export interface UploadEvents {
  /** The store has so many bytes for good. */
  taken(bytes: number): void;
  /** The store does not take it. Nothing is said afterwards; `discard` is still to be called. */
  failed(error: unknown): void;
}

/** One object on its way into the store. Nobody sees it before `commit`; without that nothing of it stays. */
export class ArtifactUpload {
  readonly #nc: NatsConnection;
  readonly #js: JetStreamClient;
  readonly #ref: ArtifactRef;
  readonly #events: UploadEvents;
  /** Begins with the checksum, so that pieces without an object can be told from those of one. */
  readonly #id: string;
  readonly #pieceBytes: number;
  readonly #hash = createHash('sha256');
  /** What was there before, good or not. */
  #before: StoredObject | null;
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  readonly #underWay = new Set<Promise<void>>();
  #written = 0;
  #taken = 0;
  #pieces = 0;
  #lastSequence = 0;
  #failed = false;
  #committing: Promise<void> | undefined;
  #discarded = false;

  constructor(nc: NatsConnection, ref: ArtifactRef, before: StoredObject | null, events: UploadEvents) {
    this.#nc = nc;
    this.#js = jetstream(nc);
    this.#ref = ref;
    this.#before = before;
    this.#events = events;
    this.#id = `${ref.sha256}-${nuid.next()}`;
    this.#pieceBytes = Math.min(PIECE_BYTES_MAX, (nc.info?.max_payload ?? BUS_BYTES_MAX_DEFAULT) - ENVELOPE_BYTES);
  }

  /** The next bytes. The caller looks at `taken` and holds back: what is written and not taken is kept in memory. */
  write(data: Uint8Array): void {
    if (this.#failed || this.#committing !== undefined) return;
    this.#hash.update(data);
    this.#written += data.length;
    this.#waiting.push(data);
    this.#waitingBytes += data.length;
    this.#pump();
  }

  /** Of everything that was written so far. */
  sha256(): Sha256 {
    return this.#hash.copy().digest('hex');
  }

  /** Makes the object visible. Throws ArtifactError when it is not what its name says, and whatever the store says. */
  async commit(): Promise<void> {
    if (this.#discarded) throw new ArtifactError(this.#ref.sha256, 'was given up');
    this.#committing ??= this.#commit();
    await this.#committing;
  }

  /** Leaves nothing behind; never throws. Does not take back what was committed. */
  async discard(): Promise<void> {
    this.#discarded = true;
    if (this.#committing !== undefined) {
      await this.#committing.catch(() => undefined);
      return;
    }
    this.#failed = true;
    await this.#quiet();
    await this.#clear();
  }

  /** Full pieces, a few at a time; a smaller one only when nothing else is under way. */
  #pump(): void {
    while (!this.#failed && this.#waitingBytes > 0 && this.#underWay.size < PIECES_UNDER_WAY_MAX) {
      if (this.#waitingBytes < this.#pieceBytes && this.#underWay.size > 0) return;
      const published = this.#publish(this.#nextPiece());
      this.#underWay.add(published);
      void published.finally(() => {
        this.#underWay.delete(published);
        this.#pump();
      });
    }
  }

  /** Nothing waits and nothing is under way any more. */
  async #quiet(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
  }

  /** Of what waits whole parts, as many as fit: joined where they are small, and one that is too large is cut. */
  #nextPiece(): Uint8Array {
    let [count, length] = [0, 0];
    for (const part of this.#waiting) {
      if (length + part.length > this.#pieceBytes) break;
      length += part.length;
      count++;
    }
    const [first = new Uint8Array(), ...more] = this.#waiting.splice(0, Math.max(count, 1));
    const piece = more.length === 0 ? first.subarray(0, this.#pieceBytes) : Buffer.concat([first, ...more], length);
    if (piece.length < first.length) this.#waiting.unshift(first.subarray(piece.length));
    this.#waitingBytes -= piece.length;
    return piece;
  }

  /** Never rejects. Once only: a piece that is stored twice, or after its successor, would make another content. */
  async #publish(piece: Uint8Array): Promise<void> {
    const number = ++this.#pieces;
    try {
      const { seq } = await ConnectionWatch.of(this.#nc).request(() =>
        this.#js.publish(piecesSubject(this.#id), piece, { timeout: PUT_TIMEOUT_MS, retries: 1 }),
      );
      if (seq <= this.#lastSequence) throw new ArtifactError(this.#ref.sha256, `came into disorder at piece ${number}`);
      this.#lastSequence = seq;
      if (this.#failed) return;
      this.#taken += piece.length;
      this.#events.taken(this.#taken);
    } catch (error) {
      if (this.#failed) return;
      this.#failed = true;
      this.#waiting = [];
      this.#events.failed(error);
    }
  }

  async #commit(): Promise<void> {
    await this.#quiet();
    const { sha256, bytes } = this.#ref;
    const found = this.#hash.digest('hex');
    if (this.#failed || this.#taken !== this.#written || this.#written !== bytes || found !== sha256) {
      this.#failed = true;
      await this.#clear();
      throw new ArtifactError(sha256, `is not what was written: ${this.#taken} of ${bytes} bytes, SHA-256 ${found}`);
    }
    for (let tries = 1; ; tries++) {
      const state = await this.#announce();
      if (state === 'ours') return await this.#clearBefore();
      if (state === 'theirs') return await this.#clear();
      if (tries === COMMIT_TRIES_MAX) throw new ArtifactError(sha256, 'could not be stored: too many write it');
    }
  }

  /** Somebody else may have stored the same content meanwhile: then theirs stays and ours goes. */
  async #announce(): Promise<'ours' | 'theirs' | 'again'> {
    const { sha256, bytes } = this.#ref;
    const object = {
      name: sha256,
      description: '',
      options: { max_chunk_size: this.#pieceBytes },
      bucket: ARTIFACTS_BUCKET,
      nuid: this.#id,
      size: bytes,
      chunks: this.#pieces,
      mtime: new Date().toISOString(),
      digest: storeDigestOf(sha256),
      deleted: false,
    };
    const head = headers();
    head.set(JsHeaders.RollupHdr, JsHeaders.RollupValueSubject);
    const expect = { lastSubjectSequence: this.#before?.sequence ?? 0 };
    const options = { headers: head, expect, timeout: PUT_TIMEOUT_MS, retries: 1 };
    try {
      await ConnectionWatch.of(this.#nc).request(() =>
        this.#js.publish(objectSubject(sha256), JSON.stringify(object), options),
      );
      return 'ours';
    } catch (error) {
      // Refused, or stored with its answer lost. While nobody knows, the pieces stay: the object may be there.
      const there = await findObject(this.#nc, sha256);
      if (there?.nuid === this.#id) return 'ours';
      if (isWhole(there, sha256)) return 'theirs';
      if (!isWrongSequence(error)) throw error;
      this.#before = there;
      return 'again';
    }
  }

  /** A damaged object of the same name was replaced: its pieces belong to nobody now. */
  async #clearBefore(): Promise<void> {
    const before = this.#before;
    if (before !== null && !before.deleted) await discardPieces(this.#nc, before.nuid).catch(() => undefined);
  }

  /** What cannot be taken away now is found by the next sweep. */
  async #clear(): Promise<void> {
    if (this.#pieces > 0) await discardPieces(this.#nc, this.#id).catch(() => undefined);
  }
}
