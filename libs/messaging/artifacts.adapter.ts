import { createHash } from 'node:crypto';
import { Objm } from '@nats-io/obj';
import type { ObjectStore } from '@nats-io/obj';
import type { NatsConnection } from '@nats-io/transport-node';
import { ARTIFACTS_BUCKET } from '#proto';
import type { ArtifactRef } from '#proto';

const PUT_TIMEOUT_MS = 10_000;
const GET_TIMEOUT_MS = 30_000;

/** An artifact is missing or is not what its name says. */
export class ArtifactError extends Error {
  override readonly name = 'ArtifactError';
  readonly sha256: string;
  constructor(sha256: string, reason: string, options?: ErrorOptions) {
    super(`The artifact ${sha256} ${reason}.`, options);
    this.sha256 = sha256;
  }
}

const stores = new WeakMap<NatsConnection, Promise<ObjectStore>>();

/** Stores bytes under the SHA-256 of their content, before the fact that names them. The same content again changes nothing. */
export async function putArtifact(nc: NatsConnection, content: Uint8Array): Promise<ArtifactRef> {
  const sha256 = digestOf(content);
  const store = await openStore(nc);
  const present = await store.info(sha256);
  if (present === null || present.deleted || present.size !== content.length) {
    await store.putBlob({ name: sha256 }, content, { timeout: PUT_TIMEOUT_MS });
  }
  return { sha256, bytes: content.length };
}

/** Reads it back and checks that it is what was stored. Throws ArtifactError. */
export async function getArtifact(nc: NatsConnection, sha256: string): Promise<Uint8Array> {
  const store = await openStore(nc);
  const content = await withLimit(store.getBlob(sha256), sha256);
  if (content === null) throw new ArtifactError(sha256, 'is not stored');
  if (digestOf(content) !== sha256) throw new ArtifactError(sha256, 'is damaged');
  return content;
}

function openStore(nc: NatsConnection): Promise<ObjectStore> {
  const known = stores.get(nc);
  if (known !== undefined) return known;
  const opened = new Objm(nc).open(ARTIFACTS_BUCKET, false);
  stores.set(nc, opened);
  opened.catch(() => stores.delete(nc));
  return opened;
}

/** The client waits for ever for a chunk that does not come. */
async function withLimit<T>(promise: Promise<T>, sha256: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new ArtifactError(sha256, 'could not be read in time')), GET_TIMEOUT_MS);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

function digestOf(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}
