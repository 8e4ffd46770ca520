import { createHash } from 'node:crypto';
import type { StoredMsg } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { ArtifactRef, Sha256 } from '#proto';
import {
  ArtifactError,
  ArtifactUpload,
  ARTIFACTS_STREAM,
  findObject,
  isWhole,
  piecesSubject,
  type StoredObject,
  type UploadEvents,
} from './artifact-upload.adapter.js';
import { ConnectionWatch } from '../connection/index.js';
import { managerOf } from '../streams/index.js';

/** Stores bytes under the SHA-256 of their content, before the fact that names them. The same content again changes nothing. */
export async function putArtifact(nc: NatsConnection, content: Uint8Array): Promise<ArtifactRef> {
  const ref = { sha256: createHash('sha256').update(content).digest('hex'), bytes: content.length };
  const { promise: failed, reject } = Promise.withResolvers<never>();
  // Heard of by `commit`, too, when it fails before anybody listens here.
  failed.catch(() => undefined);
  const upload = await openUpload(nc, ref, { taken: () => undefined, failed: reject });
  if (upload === 'have') return ref;
  upload.write(content);
  try {
    await Promise.race([upload.commit(), failed]);
    return ref;
  } catch (error) {
    await upload.discard();
    throw error;
  }
}

/** Begins to store an artifact in pieces; `have` when it is there already. Throws ArtifactError when it has another size than `bytes`. */
export async function openUpload(
  nc: NatsConnection,
  ref: ArtifactRef,
  events: UploadEvents,
): Promise<ArtifactUpload | 'have'> {
  const { sha256, bytes } = ref;
  const present = await findObject(nc, sha256);
  if (!isWhole(present, sha256)) return new ArtifactUpload(nc, ref, present, events);
  if (present.size !== bytes) throw new ArtifactError(sha256, `has ${present.size} bytes, not ${bytes}`);
  return 'have';
}

/** Reads it back and checks that it is what was stored. Throws ArtifactError. */
export async function getArtifact(nc: NatsConnection, sha256: Sha256): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for await (const piece of readArtifact(nc, sha256)) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** Its bytes in order, as fast as they are taken. Throws ArtifactError, at the latest instead of ending: until then nothing is proven. */
export async function* readArtifact(nc: NatsConnection, sha256: Sha256): AsyncGenerator<Uint8Array> {
  const reader = await openArtifact(nc, sha256);
  for (;;) {
    const piece = await reader.next();
    if (piece === null) return;
    yield piece;
  }
}

/** Throws ArtifactError when there is none. */
export async function openArtifact(nc: NatsConnection, sha256: Sha256): Promise<ArtifactReader> {
  const object = await findObject(nc, sha256);
  if (object?.deleted === true && object.description !== '')
    throw new ArtifactError(sha256, `was dropped: ${object.description}`);
  if (object === null || object.deleted) throw new ArtifactError(sha256, 'is not stored');
  if (!isWhole(object, sha256)) throw new ArtifactError(sha256, 'is damaged');
  return new ArtifactReader(nc, sha256, object);
}

/** Reads one object a piece at a time: while one is given the next is fetched, and no other. */
export class ArtifactReader {
  readonly bytes: number;
  readonly #nc: NatsConnection;
  readonly #sha256: Sha256;
  readonly #subject: string;
  readonly #hash = createHash('sha256');
  #after = 0;
  #fetched = 0;
  /** The next piece, on its way. */
  #ahead: Promise<StoredMsg | null> | undefined;
  /** Fetched and not given yet. */
  #left: Uint8Array = new Uint8Array();

  constructor(nc: NatsConnection, sha256: Sha256, object: StoredObject) {
    this.#nc = nc;
    this.#sha256 = sha256;
    this.#subject = piecesSubject(object.nuid);
    this.bytes = object.size;
  }

  /** The next bytes as they are stored; null at the end, which only a checked content has. Throws ArtifactError. */
  async next(): Promise<Uint8Array | null> {
    if (this.#left.length > 0) return this.#leftover();
    if (this.#fetched === this.bytes) {
      this.#check();
      return null;
    }
    return this.#fetch();
  }

  /**
   * The next ones, as they are stored: at most so many, and none at the end. The last ones are given only when the whole is what
   * it should be.
   */
  async read(bytes: number): Promise<Uint8Array> {
    const piece = this.#left.length > 0 || this.#fetched === this.bytes ? this.#leftover() : await this.#fetch();
    if (this.#fetched === this.bytes) this.#check();
    this.#left = piece.subarray(bytes);
    return piece.subarray(0, bytes);
  }

  #leftover(): Uint8Array {
    const left = this.#left;
    this.#left = new Uint8Array();
    return left;
  }

  async #fetch(): Promise<Uint8Array> {
    const coming = this.#ahead ?? this.#message();
    this.#ahead = undefined;
    const found = await coming;
    const data = found?.data;
    if (found === null || data === undefined || data.length === 0) throw this.#damaged();
    this.#after = found.seq;
    this.#fetched += data.length;
    if (this.#fetched > this.bytes) throw this.#damaged();
    this.#hash.update(data);
    if (this.#fetched < this.bytes) this.#lookAhead();
    return data;
  }

  #lookAhead(): void {
    this.#ahead = this.#message();
    // Who asks for the piece hears of it.
    this.#ahead.catch(() => undefined);
  }

  /** By direct get, which any replica answers; the leader has the last word on what is missing. */
  async #message(): Promise<StoredMsg | null> {
    const jsm = await managerOf(this.#nc);
    const query = { seq: this.#after + 1, next_by_subj: this.#subject };
    return ConnectionWatch.of(this.#nc).request(
      async () =>
        (await jsm.direct.getMessage(ARTIFACTS_STREAM, query)) ??
        (await jsm.streams.getMessage(ARTIFACTS_STREAM, query)),
    );
  }

  #check(): void {
    if (this.#hash.copy().digest('hex') !== this.#sha256) throw this.#damaged();
  }

  #damaged(): ArtifactError {
    return new ArtifactError(this.#sha256, 'is damaged');
  }
}
