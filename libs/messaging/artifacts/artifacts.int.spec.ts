import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { jetstreamManager } from '@nats-io/jetstream';
import { Objm } from '@nats-io/obj';
import type { NatsConnection } from '@nats-io/transport-node';
import { ARTIFACTS_BUCKET } from '#proto';
import { startTestNats } from '#libs/testing';
import type { TestNats } from '#libs/testing';
import { dropArtifact } from './artifact-drop.adapter.js';
import { ArtifactError } from './artifact-upload.adapter.js';
import { getArtifact, putArtifact } from './artifacts.adapter.js';
import { connectBus } from '../connection/bus.client.js';

describe('artifacts', () => {
  let server: TestNats;
  let nc: NatsConnection;
  beforeAll(async () => {
    server = await startTestNats({ provisioned: true });
    nc = await connectBus({ url: server.url, name: 'test', inboxPrefix: '_INBOX_test' });
  });
  afterAll(async () => {
    await nc.close();
    await server.stop();
  });

  it.each([0, 1, 128 * 1024, 1_000_000])('come back as they were stored (%i bytes)', async (bytes) => {
    const content = new Uint8Array(bytes).map((_, index) => index % 251);
    const { sha256, ...rest } = await putArtifact(nc, content);
    expect(rest).toEqual({ bytes });
    expect(Buffer.from(await getArtifact(nc, sha256)).equals(content)).toBe(true);
  });

  it('are stored once, however often they are put', async () => {
    const content = new TextEncoder().encode('the same output');
    const first = await putArtifact(nc, content);
    const { state } = await (await jetstreamManager(nc)).streams.info(`OBJ_${ARTIFACTS_BUCKET}`);
    expect(await putArtifact(nc, content)).toEqual(first);
    const after = await (await jetstreamManager(nc)).streams.info(`OBJ_${ARTIFACTS_BUCKET}`);
    expect(after.state.last_seq).toBe(state.last_seq);
  });

  it('are missed by name', async () => {
    await expect(getArtifact(nc, '0'.repeat(64))).rejects.toThrow(ArtifactError);
  });

  it('that were dropped are told as dropped, with why, and are there again when they are stored again', async () => {
    const content = new TextEncoder().encode('a picture');
    const ref = await putArtifact(nc, content);
    await dropArtifact(nc, ref.sha256, 'nobody wants it');
    await dropArtifact(nc, ref.sha256, 'nor does anybody else');
    await expect(getArtifact(nc, ref.sha256)).rejects.toThrow(/was dropped: it had 9 bytes; nobody wants it\.$/u);
    const { state } = await (
      await jetstreamManager(nc)
    ).streams.info(`OBJ_${ARTIFACTS_BUCKET}`, { subjects_filter: `$O.${ARTIFACTS_BUCKET}.C.${ref.sha256}-*` });
    // Of its pieces there is at most an empty one, which goes by itself.
    expect(Object.values(state.subjects ?? {}).every((count) => count === 1)).toBe(true);
    await expect(dropArtifact(nc, '0'.repeat(64), 'it never was')).resolves.toBeUndefined();
    expect(await putArtifact(nc, content)).toEqual(ref);
    expect(Buffer.from(await getArtifact(nc, ref.sha256)).equals(content)).toBe(true);
  });

  it('are refused when they are not what their name says', async () => {
    const store = await new Objm(nc).open(ARTIFACTS_BUCKET);
    await store.putBlob({ name: 'f'.repeat(64) }, new TextEncoder().encode('something else'));
    await expect(getArtifact(nc, 'f'.repeat(64))).rejects.toThrow('is damaged');
  });
});
