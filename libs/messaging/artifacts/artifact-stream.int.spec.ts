import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { jetstreamManager } from '@nats-io/jetstream';
import { Objm } from '@nats-io/obj';
import type { NatsConnection } from '@nats-io/transport-node';
import { ARTIFACTS_BUCKET, type ArtifactRef } from '#proto';
import { moment, startTestNats } from '#libs/testing';
import type { TestNats } from '#libs/testing';
import { type ArtifactUpload, ArtifactError, findObject } from './artifact-upload.adapter.js';
import { sweepArtifacts } from './artifact-sweep.adapter.js';
import { getArtifact, openArtifact, openUpload, readArtifact } from './artifacts.adapter.js';
import { connectBus } from '../connection/bus.client.js';

const KIB = 1024;
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

/** Another content for every seed. */
function contentOf(seed: number, bytes: number): Buffer {
  const content = Buffer.alloc(bytes);
  for (let index = 0; index < bytes; index++) content[index] = (index * 31 + seed * 17 + (index >> 8)) % 256;
  return content;
}
const refOf = (content: Uint8Array): ArtifactRef => ({
  sha256: createHash('sha256').update(content).digest('hex'),
  bytes: content.length,
});

/** Messages in the store, by the part of the subject that says what they are; `C`: pieces, `M`: objects. */
async function stored(kind: 'C' | 'M'): Promise<Record<string, number>> {
  const jsm = await jetstreamManager(nc);
  const { state } = await jsm.streams.info(`OBJ_${ARTIFACTS_BUCKET}`, {
    subjects_filter: `$O.${ARTIFACTS_BUCKET}.${kind}.>`,
  });
  return state.subjects ?? {};
}

/** What is taken away leaves a message that expires within seconds; the test's own limit ends the wait. */
async function untilPieces(count: number): Promise<void> {
  while (Object.keys(await stored('C')).length !== count) await new Promise((resolve) => setTimeout(resolve, 50));
}

interface Watched {
  readonly upload: ArtifactUpload;
  readonly taken: number[];
  readonly failures: unknown[];
}

async function begin(ref: ArtifactRef, through: NatsConnection = nc): Promise<Watched> {
  const taken: number[] = [];
  const failures: unknown[] = [];
  const events = { taken: (bytes: number) => taken.push(bytes), failed: (error: unknown) => failures.push(error) };
  const upload = await openUpload(through, ref, events);
  if (upload === 'have') throw new Error('it is there already');
  return { upload, taken, failures };
}

describe('an upload', () => {
  it('is visible when it is committed, and not before', async () => {
    const content = contentOf(1, 1_000 * KIB);
    const ref = refOf(content);
    const { upload, taken } = await begin(ref);
    for (let at = 0; at < content.length; at += 100 * KIB) upload.write(content.subarray(at, at + 100 * KIB));
    await expect(openArtifact(nc, ref.sha256)).rejects.toThrow('is not stored');
    await upload.commit();
    expect(taken.at(-1)).toBe(ref.bytes);
    expect(taken).toEqual([...taken].sort((one, other) => one - other));
    expect(Buffer.from(await getArtifact(nc, ref.sha256)).equals(content)).toBe(true);
    expect(await openUpload(nc, ref, { taken: () => undefined, failed: () => undefined })).toBe('have');
  });

  it('is read by every client of the store, and reads what they write', async () => {
    const ours = contentOf(2, 600 * KIB);
    const { upload } = await begin(refOf(ours));
    upload.write(ours);
    await upload.commit();
    const store = await new Objm(nc).open(ARTIFACTS_BUCKET);
    expect(Buffer.from((await store.getBlob(refOf(ours).sha256)) ?? []).equals(ours)).toBe(true);
    const theirs = contentOf(3, 600 * KIB);
    await store.putBlob({ name: refOf(theirs).sha256 }, theirs);
    expect(Buffer.from(await getArtifact(nc, refOf(theirs).sha256)).equals(theirs)).toBe(true);
  });

  it.each([
    ['another content', contentOf(4, 300 * KIB), { ...refOf(contentOf(5, 300 * KIB)) }],
    ['fewer bytes', contentOf(4, 299 * KIB), { ...refOf(contentOf(4, 300 * KIB)) }],
    ['the right content under a wrong size', contentOf(4, 300 * KIB), { ...refOf(contentOf(4, 300 * KIB)), bytes: 5 }],
  ])('of %s is not committed and leaves nothing behind', async (_, content, ref) => {
    const before = Object.keys(await stored('C')).length;
    const { upload } = await begin(ref);
    upload.write(content);
    await expect(upload.commit()).rejects.toThrow(ArtifactError);
    await upload.discard();
    expect(await findObject(nc, ref.sha256)).toBeNull();
    await untilPieces(before);
  });

  it('that is given up in the middle leaves nothing behind, whatever is under way', async () => {
    const before = Object.keys(await stored('C')).length;
    const content = contentOf(6, 2_000 * KIB);
    const { upload } = await begin(refOf(content));
    upload.write(content.subarray(0, 1_500 * KIB));
    await upload.discard();
    upload.write(content.subarray(1_500 * KIB));
    await expect(upload.commit()).rejects.toThrow('was given up');
    expect(await findObject(nc, refOf(content).sha256)).toBeNull();
    await untilPieces(before);
  });

  it('of what somebody else stores at the same time makes one object', async () => {
    const before = Object.keys(await stored('C')).length;
    const content = contentOf(7, 700 * KIB);
    const ref = refOf(content);
    const all = await Promise.all(Array.from({ length: 4 }, () => begin(ref)));
    for (const { upload } of all) upload.write(content);
    await Promise.all(all.map(({ upload }) => upload.commit()));
    expect(Buffer.from(await getArtifact(nc, ref.sha256)).equals(content)).toBe(true);
    await untilPieces(before + 1);
    expect(Buffer.from(await getArtifact(nc, ref.sha256)).equals(content)).toBe(true);
  });

  it('takes the place of a damaged object', async () => {
    const content = contentOf(8, 300 * KIB);
    const ref = refOf(content);
    const store = await new Objm(nc).open(ARTIFACTS_BUCKET);
    await store.putBlob({ name: ref.sha256 }, contentOf(9, 300 * KIB));
    const before = Object.keys(await stored('C')).length;
    const { upload } = await begin(ref);
    upload.write(content);
    await upload.commit();
    expect(Buffer.from(await getArtifact(nc, ref.sha256)).equals(content)).toBe(true);
    await untilPieces(before);
  });

  it('of nothing is an object, too', async () => {
    const ref = refOf(Buffer.alloc(0));
    const { upload } = await begin(ref);
    await upload.commit();
    expect(await getArtifact(nc, ref.sha256)).toHaveLength(0);
  });

  it('whose size is not that of the object that is there is refused', async () => {
    const ref = refOf(contentOf(1, 1_000 * KIB));
    const events = { taken: () => undefined, failed: () => undefined };
    await expect(openUpload(nc, { ...ref, bytes: 7 }, events)).rejects.toThrow(/has 1024000 bytes, not 7/u);
  });

  it('keeps few messages for many small pieces', async () => {
    const content = contentOf(10, 50_000);
    const { upload } = await begin(refOf(content));
    for (const byte of content) upload.write(Uint8Array.of(byte));
    await upload.commit();
    expect((await findObject(nc, refOf(content).sha256))?.chunks).toBeLessThan(10);
    expect(Buffer.from(await getArtifact(nc, refOf(content).sha256)).equals(content)).toBe(true);
  });
});

describe('a reader', () => {
  it('gets no more than it asks for, in order, and never nothing before the end', async () => {
    const content = contentOf(11, 777 * KIB);
    const { upload } = await begin(refOf(content));
    upload.write(content);
    await upload.commit();
    const reader = await openArtifact(nc, refOf(content).sha256);
    const sizes = [1, 100 * KIB, 0, 300 * KIB, 256 * KIB, 1_000 * KIB, 5];
    const parts: Uint8Array[] = [];
    for (const size of sizes) {
      const part = await reader.read(size);
      expect(part.length).toBeLessThanOrEqual(size);
      expect(part.length > 0 || size === 0).toBe(true);
      parts.push(part);
    }
    for (let part = await reader.read(7 * KIB); part.length > 0; part = await reader.read(7 * KIB)) parts.push(part);
    expect(Buffer.concat(parts).equals(content)).toBe(true);
  });

  it('gets no last piece of a content that was altered in the store', async () => {
    const content = contentOf(12, 900 * KIB);
    const ref = refOf(content);
    const { upload } = await begin(ref);
    upload.write(content);
    await upload.commit();
    // One piece more, as no upload of ours writes it.
    const object = await findObject(nc, ref.sha256);
    const jsm = await jetstreamManager(nc);
    const subject = `$O.${ARTIFACTS_BUCKET}.C.${object?.nuid}`;
    const last = await jsm.streams.getMessage(`OBJ_${ARTIFACTS_BUCKET}`, { last_by_subj: subject });
    await jsm.streams.deleteMessage(`OBJ_${ARTIFACTS_BUCKET}`, last?.seq ?? 0);
    await nc.request(subject, contentOf(13, last?.data.length ?? 0), { timeout: 20_000 });
    const seen: number[] = [];
    const read = async () => {
      for await (const piece of readArtifact(nc, ref.sha256)) seen.push(piece.length);
    };
    await expect(read()).rejects.toThrow('is damaged');
    const reader = await openArtifact(nc, ref.sha256);
    const rest = async () => {
      while ((await reader.read(900 * KIB)).length > 0);
    };
    await expect(rest()).rejects.toThrow('is damaged');
  });
});

describe('a sweep', () => {
  const HOUR_MS = 60 * 60 * 1_000;
  const later = (): number => Date.now() + 2 * HOUR_MS;

  it('takes away what was left by an upload that died, and nothing else', async () => {
    const before = Object.keys(await stored('C')).length;
    const [dead, whole] = [contentOf(20, 600 * KIB), contentOf(21, 600 * KIB)];
    const theirs = contentOf(22, 600 * KIB);
    const { upload, taken } = await begin(refOf(whole));
    upload.write(whole);
    await upload.commit();
    await (await new Objm(nc).open(ARTIFACTS_BUCKET)).putBlob({ name: 'anything' }, theirs);
    const left = await begin(refOf(dead));
    left.upload.write(dead);
    while (left.taken.at(-1) !== dead.length) await moment();
    expect(taken.at(-1)).toBe(whole.length);

    expect(await sweepArtifacts(nc, { now: () => Date.now(), olderThanMs: HOUR_MS })).toBe(0);
    expect(await sweepArtifacts(nc, { now: later, olderThanMs: HOUR_MS })).toBe(1);
    expect(await sweepArtifacts(nc, { now: later, olderThanMs: HOUR_MS })).toBe(0);
    await untilPieces(before + 2);
    expect(Buffer.from(await getArtifact(nc, refOf(whole).sha256)).equals(whole)).toBe(true);
  });
});

describe('when the server goes away', () => {
  it('an upload says so at once, and the next one succeeds when it is back', async () => {
    const own = await startTestNats({ provisioned: true });
    const through = await connectBus({ url: own.url, name: 'test', inboxPrefix: '_INBOX_test' });
    const content = contentOf(14, 3_000 * KIB);
    const first = await begin(refOf(content), through);
    first.upload.write(content.subarray(0, 2_000 * KIB));
    await own.kill9();
    while (first.failures.length === 0) await moment();
    await own.restart();
    await first.upload.discard();
    expect(await findObject(through, refOf(content).sha256)).toBeNull();
    const second = await begin(refOf(content), through);
    second.upload.write(content);
    await second.upload.commit();
    expect(Buffer.from(await getArtifact(through, refOf(content).sha256)).equals(content)).toBe(true);
    await through.close();
    await own.stop();
  });
});
