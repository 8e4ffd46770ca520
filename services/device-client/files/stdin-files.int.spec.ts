import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { FileFailure } from '#libs/aip';
import type { ArtifactRef, StdinPart } from '#proto';
import type { FileErrand, FileLink, OpenSink } from './file-link.client.js';
import { StdinFiles } from './stdin-files.client.js';

const part = (bytes: number, name = 'a'): StdinPart & { artifact: ArtifactRef } => ({
  artifact: { sha256: name.repeat(64), bytes },
});

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'orrery-inputs-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

/** A link over which each try brings what the test says, or fails after a part of it. */
function linked(tries: (readonly [content: string, failure: FileFailure | null])[]) {
  const fetch: FileLink['fetch'] = async (_: ArtifactRef, openSink: OpenSink, { signal }: FileErrand) => {
    const [content, failure] = tries.shift() ?? ['', { code: 'CANCELLED', message: 'stopped' }];
    if (signal.aborted) return failure;
    const sink = await openSink({ taken: () => undefined, failed: () => undefined });
    const middle = Math.floor(content.length / 2);
    sink.write(Buffer.from(content.slice(0, middle)));
    sink.write(Buffer.from(content.slice(middle)));
    await (failure === null ? sink.commit() : sink.discard());
    return failure;
  };
  return new StdinFiles({ dir, link: { fetch } });
}
const errand = (signal = new AbortController().signal): FileErrand => ({ commandId: 'r.t.1.0.0', signal });

async function collected(files: StdinFiles, parts: readonly StdinPart[]) {
  const file = await files.collect(parts, errand());
  return file.kind === 'file' ? readFile(join(dir, file.name), 'utf8') : file;
}

describe('what a command reads', () => {
  it('is one file with all pieces in order, also when one came in part before', async () => {
    const files = linked([
      ['long and wro', { code: 'CONNECTION_LOST', message: 'lost' }],
      ['first', null],
      ['', null],
      ['last', null],
    ]);
    const parts = [{ text: '\u00e4' }, part(5), part(0), { text: '' }, { text: '|' }, part(4)];
    expect(await collected(files, parts)).toBe('\u00e4first|last');
  });

  it.each(['DAMAGED', 'NOT_STORED', 'WRONG_SIZE'])(
    'is nothing at all when a piece is %s, and nothing stays',
    async (code) => {
      const files = linked([
        ['whole', null],
        ['hal', { code, message: 'the artifact is not what it was' }],
      ]);
      expect(await files.collect([part(5), { text: 'x' }, part(9)], errand())).toEqual({
        kind: 'unavailable',
        code: 'INPUT_UNAVAILABLE',
        message: 'the 15 bytes that the command reads cannot be delivered whole: the artifact is not what it was',
      });
      expect(await readdir(dir)).toEqual([]);
    },
  );

  it('is waited for as long as the store is away, and no longer than somebody wants it', async () => {
    const away: FileFailure = { code: 'STORAGE_FAILED', message: 'away' };
    const stop = new AbortController();
    const tries: [string, FileFailure][] = Array.from({ length: 20 }, () => ['', away]);
    const files = linked(tries);
    const waiting = files.collect([part(5)], errand(stop.signal));
    stop.abort();
    expect(await waiting).toEqual({ kind: 'aborted' });
    expect(await readdir(dir)).toEqual([]);
  });

  it('does not begin where the disk has no room for it', async () => {
    expect(await linked([]).collect([part(2 ** 52)], errand())).toMatchObject({
      code: 'INPUT_UNAVAILABLE',
      message: expect.stringContaining('no room'),
    });
    expect(await readdir(dir)).toEqual([]);
  });

  it('of commands that never began is gone after a restart', async () => {
    await collected(linked([['left', null]]), [part(4)]);
    await linked([]).clear();
    expect(await readdir(dir)).toEqual([]);
  });
});
