import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { NatsConnection } from '@nats-io/transport-node';
import { getArtifact, putArtifact } from '#libs/messaging';
import { moment, startTestBus, type TestBus } from '#libs/testing';
import type { ArtifactRef, Json } from '#proto';
import { FileRig } from './rig.js';

const KIB = 1024;
let bus: TestBus;
let nc: NatsConnection;
let rig: FileRig;

beforeAll(async () => {
  bus = await startTestBus();
  nc = await bus.as('aip-gateway');
});
afterAll(() => bus.stop());
beforeEach(async () => {
  rig = await FileRig.start(nc);
  await mkdir(rig.jailDir, { recursive: true });
});
afterEach(() => rig.stop());

let seed = 0;
/** A content that no test has used before. */
function fresh(bytes: number): Buffer {
  const content = Buffer.alloc(bytes, createHash('sha512').update(String(++seed)).digest());
  if (bytes >= 4) content.writeUInt32LE(seed);
  return content;
}
const refOf = (content: Uint8Array): ArtifactRef => ({
  sha256: createHash('sha256').update(content).digest('hex'),
  bytes: content.length,
});
const inJail = (name: string): string => join(rig.jailDir, name);
const saysWhy = (text: string | RegExp) => ({
  kind: 'answered',
  isError: true,
  value: typeof text === 'string' ? expect.stringContaining(text) : expect.stringMatching(text),
});
/** What `forge` changes: the content of frames of one type. */
const changing =
  (type: string, change: (orrery: Record<string, Json>) => Record<string, Json>) =>
  (_: string, frame: Json): Json => {
    const message = frame as { type: string; orrery: Record<string, Json> };
    return message.type === type ? { ...message, orrery: change(message.orrery) } : frame;
  };

/** The first three bytes of a piece are zeros. */
const otherBytes = ({ data, ...rest }: Record<string, Json>): Record<string, Json> => ({
  ...rest,
  data: typeof data === 'string' ? `AAAA${data.slice(4)}` : null,
});

describe('FILE_GET', () => {
  it.each([0, 1, 256 * KIB, 5_000 * KIB + 3])('stores a file as it is (%i bytes)', async (bytes) => {
    const content = fresh(bytes);
    await writeFile(inJail('file'), content);
    const answer = await rig.call('FILE_GET', { path: 'file' });
    const { mtime } = await stat(inJail('file'));
    const result = { artifact: refOf(content), path: inJail('file'), bytes, modified: mtime.toISOString() };
    expect(answer).toEqual({ kind: 'answered', isError: false, value: result });
    expect(Buffer.from(await getArtifact(nc, refOf(content).sha256)).equals(content)).toBe(true);
  });

  it('sends nothing of what is stored already', async () => {
    const content = fresh(1_000 * KIB);
    await putArtifact(nc, content);
    await writeFile(inJail('file'), content);
    expect(await rig.call('FILE_GET', { path: 'file' })).toMatchObject({ isError: false });
    expect(rig.types).toEqual(['file_begin', 'file_ready']);
  });

  it.each<[string, Record<string, Json>, string | RegExp]>([
    ['a path that leads out', { path: '../file' }, 'is outside of the directories'],
    ['an absolute path', { path: '/etc/passwd' }, 'is outside of the directories'],
    ['a NUL', { path: 'fi\0le' }, 'path must not contain a NUL character'],
    ['a link that leads out', { path: 'link' }, 'is outside of the directories'],
    ['no path', {}, /path/u],
    ['another argument', { path: 'file', user: 'root' }, /user/u],
    ['a file that is not there', { path: 'nowhere' }, 'There is no file nowhere'],
  ])('refuses %s', async (_, args, why) => {
    await symlink('/etc/passwd', inJail('link'));
    expect(await rig.call('FILE_GET', args)).toEqual(saysWhy(why));
    expect(rig.types).toEqual([]);
  });

  it('reads a file again that was changed under it, and gives up one that never rests', async () => {
    const [before, after] = [fresh(700 * KIB), fresh(700 * KIB)];
    await writeFile(inJail('file'), before);
    let writes = 0;
    rig.forge = (_, frame) => {
      // When it is announced, it becomes another one, at once: half a file would be a file, too.
      if ((frame as { type: string }).type === 'file_ready' && writes++ === 0) writeFileSync(inJail('file'), after);
      return frame;
    };
    expect(await rig.call('FILE_GET', { path: 'file' })).toMatchObject({ value: { artifact: refOf(after) } });
    rig.forge = changing('file_chunk', otherBytes);
    await writeFile(inJail('file'), fresh(700 * KIB));
    expect(await rig.call('FILE_GET', { path: 'file' })).toEqual(saysWhy('file changes while it is read'));
    expect(rig.types.filter((type) => type === 'file_begin')).toHaveLength(2 + 3);
  });
});

describe('FILE_PUT', () => {
  it.each([0, 1, 256 * KIB, 5_000 * KIB + 3])('writes an artifact as it is (%i bytes)', async (bytes) => {
    const content = fresh(bytes);
    const artifact = await putArtifact(nc, content);
    const answer = await rig.call('FILE_PUT', { artifact: { ...artifact }, path: 'a/b/file', mode: '640' });
    const result = { artifact, path: inJail('a/b/file'), bytes, mode: '640', replaced: false };
    expect(answer).toEqual({ kind: 'answered', isError: false, value: result });
    expect((await readFile(inJail('a/b/file'))).equals(content)).toBe(true);
    expect((await stat(inJail('a/b/file'))).mode & 0o777).toBe(0o640);
    expect(await readdir(inJail('a/b'))).toEqual(['file']);
  });

  it('replaces a file when that is said, and keeps its permissions', async () => {
    const artifact = { ...(await putArtifact(nc, fresh(10))) };
    await writeFile(inJail('file'), 'old', { mode: 0o755 });
    expect(await rig.call('FILE_PUT', { artifact, path: 'file' })).toEqual(saysWhy('file is there already'));
    expect(rig.types).toEqual([]);
    const answer = await rig.call('FILE_PUT', { artifact, path: 'file', overwrite: true });
    expect(answer).toMatchObject({ value: { mode: '755', replaced: true } });
    expect((await stat(inJail('file'))).size).toBe(10);
  });

  it.each<[string, Record<string, Json>, string | RegExp]>([
    ['a path that leads out', { path: '../file' }, 'is outside of the directories'],
    ['an absolute path', { path: '/etc/orrery-test' }, 'is outside of the directories'],
    ['a NUL', { path: 'fi\0le' }, 'path must not contain a NUL character'],
    ['a link that leads out', { path: 'link/file' }, 'is outside of the directories'],
    ['permissions for everything', { path: 'file', mode: '4755' }, 'mode is three octal digits'],
    ['more than a file may have', { path: 'file', artifact: { sha256: '0'.repeat(64), bytes: 2 ** 40 } }, 'at most'],
    ['what is no checksum', { path: 'file', artifact: { sha256: '../x', bytes: 1 } }, /sha256/iu],
  ])('refuses %s', async (_, change, why) => {
    await symlink(rig.dir, inJail('link'));
    const artifact = { ...(await putArtifact(nc, fresh(10))) };
    expect(await rig.call('FILE_PUT', { artifact, path: 'file', ...change })).toEqual(saysWhy(why));
    expect(rig.types).toEqual([]);
    expect(await readdir(rig.jailDir)).toEqual(['link']);
  });

  it('refuses an artifact of another size than it says, and one that is not there', async () => {
    const { sha256 } = await putArtifact(nc, fresh(10));
    const put = (artifact: ArtifactRef) => rig.call('FILE_PUT', { artifact: { ...artifact }, path: 'file' });
    expect(await put({ sha256, bytes: 9 })).toEqual(saysWhy('has 10 bytes, not 9'));
    expect(await put({ sha256: '0'.repeat(64), bytes: 9 })).toEqual(saysWhy('is not stored'));
    expect(await readdir(rig.jailDir)).toEqual([]);
  });

  it.each<[string, (orrery: Record<string, Json>) => Record<string, Json>]>([
    ['one byte of it', otherBytes],
    ['the place of a piece', ({ offset, ...rest }) => ({ ...rest, offset: Number(offset) + 1 })],
  ])('writes nothing when %s is changed on the way', async (_, change) => {
    const artifact = { ...(await putArtifact(nc, fresh(600 * KIB))) };
    rig.forge = changing('file_chunk', change);
    expect(await rig.call('FILE_PUT', { artifact, path: 'file' })).toMatchObject({ isError: true });
    expect(await readdir(rig.jailDir)).toEqual([]);
  });
});

describe('a file whose connection breaks', () => {
  const bytes = 2_500 * KIB;
  /** In the middle of everything: the announcement, the pieces, the end. */
  const cuts = [1, 2, 3, 5, 8, 13, 20, 21, 22, 23, 24];

  it.each(cuts)('is stored after all, sent anew, after a break at frame %i', async (at) => {
    const content = fresh(bytes);
    await writeFile(inJail('file'), content);
    rig.cuts = [at];
    expect(await rig.call('FILE_GET', { path: 'file' })).toMatchObject({ value: { artifact: refOf(content) } });
    expect(Buffer.from(await getArtifact(nc, refOf(content).sha256)).equals(content)).toBe(true);
  });

  it.each(cuts)('is written after all, once, after a break at frame %i', async (at) => {
    const content = fresh(bytes);
    const artifact = { ...(await putArtifact(nc, content)) };
    rig.cuts = [at];
    expect(await rig.call('FILE_PUT', { artifact, path: 'file' })).toMatchObject({ isError: false });
    expect((await readFile(inJail('file'))).equals(content)).toBe(true);
    expect(await readdir(rig.jailDir)).toEqual(['file']);
  });

  it('again and again is given up after a few tries', async () => {
    await writeFile(inJail('file'), fresh(bytes));
    rig.cuts = Array.from({ length: 100 }, (_, index) => 4 * (index + 1));
    expect(await rig.call('FILE_GET', { path: 'file' })).toEqual(saysWhy('the connection ended'));
    expect(rig.types.filter((type) => type === 'file_begin')).toHaveLength(8);
  });

  it('waits for the connection, and for the gateway to know its command again', async () => {
    const content = fresh(10);
    const artifact = { ...(await putArtifact(nc, content)) };
    rig.comesBack = false;
    rig.cut();
    const put = rig.call('FILE_PUT', { artifact, path: 'file' });
    const [[id, command] = ['', null]] = rig.commands;
    rig.commands.set(id, null);
    rig.connect();
    while (!rig.types.includes('file_abort')) await moment();
    rig.commands.set(id, command);
    expect(await put).toMatchObject({ isError: false });
    expect((await readFile(inJail('file'))).equals(content)).toBe(true);
  });

  it('is not waited for by a command that is stopped', async () => {
    await writeFile(inJail('file'), fresh(bytes));
    rig.comesBack = false;
    rig.cuts = [6];
    const stop = new AbortController();
    const get = rig.call('FILE_GET', { path: 'file' }, stop.signal);
    while (rig.types.length < 6) await moment();
    stop.abort();
    expect(await get).toEqual({ kind: 'cancelled', value: null });
  });
});

describe('a file', () => {
  it('is given up when its command is stopped, on both sides', async () => {
    const artifact = { ...(await putArtifact(nc, fresh(4_000 * KIB))) };
    const stop = new AbortController();
    rig.forge = (_, frame) => {
      if ((frame as { type: string }).type === 'file_chunk') stop.abort();
      return frame;
    };
    expect(await rig.call('FILE_PUT', { artifact, path: 'file' }, stop.signal)).toEqual({
      kind: 'cancelled',
      value: null,
    });
    while (!rig.types.includes('file_abort')) await moment();
    expect(await readdir(rig.jailDir)).toEqual([]);
    expect(rig.types.filter((type) => type === 'file_chunk').length).toBeLessThan(4);
  });

  it('is given up when its time is over', async () => {
    await writeFile(inJail('file'), fresh(10));
    rig.comesBack = false;
    rig.cut();
    expect(await rig.call('FILE_GET', { path: 'file', timeout: 0.01 })).toEqual({ kind: 'timed_out' });
  });

  it('is nothing for a server that speaks an older revision, or none of ours', async () => {
    await writeFile(inJail('file'), fresh(10));
    for (const revision of [1, null]) {
      rig.comesBack = false;
      rig.cut();
      rig.connect(revision);
      expect(await rig.call('FILE_GET', { path: 'file' })).toEqual(saysWhy('takes and gives no files'));
    }
    const nobody = { signal: new AbortController().signal, commandId: null };
    expect(await rig.tools.call('FILE_GET', { path: 'file' }, nobody)).toEqual(saysWhy('takes and gives no files'));
  });

  it('is one of many at a time: all arrive', async () => {
    const contents = Array.from({ length: 20 }, () => fresh(600 * KIB));
    await Promise.all(contents.map((content, index) => writeFile(inJail(`file-${index}`), content)));
    const answers = await Promise.all(contents.map((_, index) => rig.call('FILE_GET', { path: `file-${index}` })));
    expect(answers).toMatchObject(contents.map((content) => ({ value: { artifact: refOf(content) } })));
  });
});
