import { jetstream, JsHeaders } from '@nats-io/jetstream';
import { headers, type NatsConnection } from '@nats-io/transport-node';
import { ARTIFACTS_BUCKET, type Sha256 } from '#proto';
import { ConnectionWatch } from '../connection/index.js';
import { discardPieces, findObject, objectSubject, PUT_TIMEOUT_MS } from './artifact-upload.adapter.js';

/**
 * Takes an artifact out of the store for good. In its place stays who it was and why it is gone, which its readers are told. Done
 * twice it is done once; what was never there stays so. Whoever stores the same content again has it back.
 */
export async function dropArtifact(nc: NatsConnection, sha256: Sha256, why: string): Promise<void> {
  const object = await findObject(nc, sha256);
  if (object === null || object.deleted) return;
  const { sequence, nuid, size } = object;
  const left = {
    name: sha256,
    description: `it had ${size} bytes; ${why}`,
    bucket: ARTIFACTS_BUCKET,
    nuid,
    size: 0,
    chunks: 0,
    mtime: new Date().toISOString(),
    digest: '',
    deleted: true,
  };
  const head = headers();
  head.set(JsHeaders.RollupHdr, JsHeaders.RollupValueSubject);
  const options = { headers: head, expect: { lastSubjectSequence: sequence }, timeout: PUT_TIMEOUT_MS, retries: 1 };
  await ConnectionWatch.of(nc).request(() =>
    jetstream(nc).publish(objectSubject(sha256), JSON.stringify(left), options),
  );
  // What cannot be taken away now is found by the next sweep.
  await discardPieces(nc, nuid).catch(() => undefined);
}
