import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, link, mkdir, mkdtemp, open, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { FILE_ABORTS, type FileFailure } from '#libs/aip';
import { LIMITS, type Json, type WorkspaceFile } from '#proto';
import type { FileErrand } from '../files/index.js';
import { Workspaces, WorkspaceTools, type MoveEnd, type WorkspaceToolsOptions } from './index.js';

/* Both tools over a real disk and a store that does what a test says. */

const HOUR_MS = 60 * 60 * 1_000;
let dir: string;
let workspace: string;
let workspaces: Workspaces;
let free: number;
let nowMs: number;
/** What the store has, by its hash. */
let store: Map<string, Buffer>;
let stored: number;
let fetched: number;
let link_: WorkspaceToolsOptions['link'];

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'orrery-workspaces-'));
  [free, nowMs, store, stored, fetched] = [2 ** 40, Date.now(), new Map(), 0, 0];
  const logger = pino({ level: 'silent' });
  const now = (): number => nowMs;
  workspaces = await Workspaces.open({ dataDir: dir, owner: undefined, now, logger, freeBytes: async () => free });
  workspace = await workspaces.make('run-1');
  link_ = {
    store: async ({ sha256, bytes }, openSource) => {
      if (store.has(sha256)) return null;
      stored++;
      const content = Buffer.from(await openSource().read(0, bytes));
      if (shaOf(content) !== sha256) return failure(FILE_ABORTS.wrongChecksum);
      store.set(sha256, content);
      return null;
    },
    fetch: async ({ sha256 }, openSink) => {
      fetched++;
      const content = store.get(sha256);
      if (content === undefined) return failure(FILE_ABORTS.notStored);
      const { promise: failed, reject } = Promise.withResolvers<never>();
      const sink = await openSink({ taken: () => undefined, failed: reject });
      sink.write(content);
      try {
        await Promise.race([sink.commit(), failed]);
        return null;
      } catch {
        await sink.discard();
        return failure(FILE_ABORTS.disk);
      }
    },
  };
});
afterEach(async () => {
  execFileSync('chmod', ['-R', 'u+rwx', dir]);
  await rm(dir, { recursive: true, force: true });
});

const shaOf = (content: Uint8Array): string => createHash('sha256').update(content).digest('hex');
const failure = (code: string): FileFailure => ({ code, message: `it is ${code}` });

function called(tool: string, args: Record<string, Json>, signal = new AbortController().signal): Promise<MoveEnd> {
  const errand: FileErrand = { commandId: 'run-1.t.1.0.2', signal };
  return new WorkspaceTools({ link: link_, workspaces }).call(tool, args, errand, workspace);
}
const out = (...patterns: string[]): Promise<MoveEnd> => called('WORKSPACE_OUT', { patterns });
const into = (...files: WorkspaceFile[]): Promise<MoveEnd> =>
  called('WORKSPACE_IN', { files: files.map((one) => ({ ...one })) });

async function put(path: string, content = path): Promise<void> {
  await mkdir(dirname(join(workspace, path)), { recursive: true });
  await writeFile(join(workspace, path), content);
}
function kept(path: string, content = path): WorkspaceFile {
  const bytes = Buffer.from(content);
  store.set(shaOf(bytes), bytes);
  return { path, sha256: shaOf(bytes), bytes: bytes.length, mode: '640' };
}
const pathsOf = (end: MoveEnd): unknown =>
  end.kind === 'moved' ? (end.result as unknown as { files: WorkspaceFile[] }).files.map(({ path }) => path) : end;
const refusal = (code: string, words = ''): unknown => ({
  kind: 'failed',
  code,
  message: expect.stringContaining(words),
});

describe('what a task has made', () => {
  it('is stored with its path, size, hash and permissions, and the same content once', async () => {
    await put('report.csv', 'a;b');
    await chmod(join(workspace, 'report.csv'), 0o640);
    await put('logs/web 1/x.log', 'same');
    await put('logs/y.log', 'same');
    await put('logs/deep/z.txt');
    const end = await out('report.csv', 'logs/**/*.log', 'maybe.txt?');
    expect(pathsOf(end)).toEqual(['logs/web 1/x.log', 'logs/y.log', 'report.csv']);
    expect(end).toMatchObject({
      kind: 'moved',
      result: {
        skipped: 0,
        files: [{}, {}, { path: 'report.csv', sha256: shaOf(Buffer.from('a;b')), bytes: 3, mode: '640' }],
      },
      files: [{ name: 'x.log', path: 'logs/web 1/x.log', artifact: { bytes: 4 } }, {}, {}],
    });
    expect(stored).toBe(2);
  });

  it('is missing by the name of its pattern, unless it may be', async () => {
    expect(await out('a.txt')).toEqual(refusal('FILE_MISSING', '"a.txt"'));
    expect(await out('logs/*.log')).toEqual(refusal('FILE_MISSING', '"logs/*.log"'));
    expect(pathsOf(await out('a.txt?', 'logs/**?'))).toEqual([]);
  });

  it('is no link: said outright it is refused, and a glob passes it by and counts it', async () => {
    await put('real');
    await symlink('/etc/passwd', join(workspace, 'link'));
    await symlink('/etc', join(workspace, 'etc'));
    execFileSync('mkfifo', [join(workspace, 'pipe')]);
    expect(await out('link')).toEqual(refusal('FILE_REFUSED', '"link" is a link'));
    expect(await out('etc/passwd')).toEqual(refusal('FILE_REFUSED', '"etc" is a link'));
    expect(await out('etc/*')).toEqual(refusal('FILE_REFUSED', '"etc" is a link'));
    expect(await out('pipe')).toEqual(refusal('FILE_REFUSED', '"pipe" is a pipe'));
    expect(await out('**')).toMatchObject({ result: { files: [{ path: 'real' }], skipped: 3 } });
  });

  it('is no second name of a file of somebody else, where the client reads everything', async () => {
    if (process.geteuid?.() !== 0) return;
    const secret = join(dir, 'secret');
    await writeFile(secret, 'x');
    execFileSync('chown', ['12345', secret]);
    await link(secret, join(workspace, 'mine'));
    expect(await out('mine')).toEqual(refusal('FILE_REFUSED', 'somebody else'));
  });

  it.each([
    ['a line end', 'a\nb', '"a\\nb"'],
    ['what a terminal obeys', 'a\u001b[2Jb', '"a\\u001b[2Jb"'],
    ['what turns text around', 'a\u202eb', 'a\\u{202e}b'],
    ['a quote', 'a"b', '"a\\"b"'],
    ['a character that a shell takes for more', 'a;b', '"a;b"'],
  ])('is refused by its name, quoted, with %s in it', async (_, name, quoted) => {
    await put(name);
    expect(await out('*')).toEqual(refusal('FILE_REFUSED', quoted));
  });

  it('is not what begins with a dot, nor a directory', async () => {
    await put('.hidden/x');
    await put('.bashrc');
    await put('logs/x');
    expect(pathsOf(await out('**'))).toEqual(['logs/x']);
    expect(await out('logs')).toEqual(refusal('FILE_REFUSED', 'is a directory'));
  });

  it('is not too many, too large or too deep', async () => {
    await put(`${'d/'.repeat(17)}deep`);
    expect(await out('**')).toEqual(refusal('FILE_REFUSED', 'deeper'));
    for (let n = 0; n <= LIMITS.filesMax; n++) await put(`many/${n}`);
    expect(await out('many/*')).toEqual(refusal('TOO_MANY_FILES', '"many/*"'));
    const large = await open(join(workspace, 'large'), 'w');
    await large.truncate(LIMITS.fileBytesMax + 1);
    await large.close();
    expect(await out('large')).toEqual(refusal('FILE_TOO_LARGE', '"large" has 1073741825 bytes'));
    for (const name of ['1', '2', '3', '4', '5']) {
      const part = await open(join(workspace, `part-${name}`), 'w');
      await part.truncate(LIMITS.fileBytesMax);
      await part.close();
    }
    expect(await out('part-*')).toEqual(refusal('FILE_TOO_LARGE', 'together'));
    expect(stored).toBe(0);
  });

  it('changes each time that it is read: after three times it is told', async () => {
    await put('log', 'x');
    const { store: real } = link_;
    link_ = {
      ...link_,
      store: async (...args) => {
        await put('log', `${stored}`);
        return real(...args);
      },
    };
    expect(await out('log')).toEqual(refusal('FILE_CHANGED', '"log"'));
    expect(stored).toBe(3);
  });

  it('waits for a store that is away, as long as somebody wants it, and no longer', async () => {
    await put('x');
    const { store: real } = link_;
    let away = 5;
    link_ = { ...link_, store: async (...args) => (away-- > 0 ? failure(FILE_ABORTS.storage) : real(...args)) };
    expect(pathsOf(await out('x'))).toEqual(['x']);
    const stop = new AbortController();
    link_ = { ...link_, store: async () => (stop.abort(), failure(FILE_ABORTS.storage)) };
    expect(await called('WORKSPACE_OUT', { patterns: ['x'] }, stop.signal)).toEqual({ kind: 'aborted' });
  });
});

describe('what a task takes', () => {
  const contentOf = (path: string): Promise<string> => readFile(join(workspace, path), 'utf8');
  const parts = (): Promise<string[]> => readdir(join(dir, 'workspaces', '.parts'));

  it('lies there with its permissions, and is not fetched again', async () => {
    const files = [kept('a'), kept('logs/web 1/b', 'two')];
    expect(await into(...files)).toMatchObject({ kind: 'moved', result: { fetched: 2 } });
    expect([await contentOf('a'), await contentOf('logs/web 1/b')]).toEqual(['a', 'two']);
    expect((await stat(join(workspace, 'a'))).mode & 0o777).toBe(0o640);
    expect(await into(...files)).toMatchObject({ result: { fetched: 0 } });
    expect([fetched, await parts()]).toEqual([2, []]);
  });

  it('replaces a file of the run, and nothing else', async () => {
    await put('a', 'before');
    expect(await into(kept('a', 'after'))).toMatchObject({ result: { fetched: 1 } });
    expect(await contentOf('a')).toBe('after');
    await writeFile(join(dir, 'outside'), 'outside');
    await symlink(join(dir, 'outside'), join(workspace, 'link'));
    await symlink(dir, join(workspace, 'way'));
    await mkdir(join(workspace, 'directory'));
    expect(await into(kept('link'))).toEqual(refusal('FILE_CLASH', 'a link is there'));
    expect(await into(kept('directory'))).toEqual(refusal('FILE_CLASH', 'a directory is there'));
    expect(await into(kept('way/outside'))).toEqual(refusal('FILE_CLASH', 'no directory'));
    expect(await into(kept('a/b'))).toEqual(refusal('FILE_CLASH', 'no directory'));
    expect(await readFile(join(dir, 'outside'), 'utf8')).toBe('outside');
    expect(await parts()).toEqual([]);
  });

  it('is not two files at one path, nor a file where a directory is', async () => {
    expect(await into(kept('a', '1'), kept('a', '2'))).toEqual(refusal('FILE_CLASH', '"a"'));
    expect(await into(kept('a'), kept('a/b'))).toEqual(refusal('FILE_CLASH', '"a/b"'));
    expect(await into(kept('a'), kept('a'))).toMatchObject({ kind: 'moved' });
  });

  it.each(['/etc/x', '../x', 'a/../../x', '.ssh/x', 'a\0b', '', 'a//b'])('is not at %j', async (path) => {
    expect(await into({ ...kept('a'), path })).toEqual(refusal('INVALID_COMMAND', 'files[0].path'));
  });

  it('is refused before its first byte where the disk has no room for it and what stays free', async () => {
    const file = kept('a', 'four');
    free = LIMITS.fileDiskBytesFree + 3;
    expect(await into(file)).toEqual(refusal('DISK_FULL', `${free} bytes free`));
    expect(fetched).toBe(0);
    free++;
    expect(await into(file)).toMatchObject({ result: { fetched: 1 } });
    // What is there needs no room.
    free = 0;
    expect(await into(file)).toMatchObject({ result: { fetched: 0 } });
  });

  it('ends its task, and leaves nothing, when the disk is full after all', async () => {
    const full = {
      owner: undefined,
      freeBytes: async () => free,
      openPart: async () => ({ handle: await open('/dev/full', 'w'), path: join(dir, 'part') }),
    };
    const tools = new WorkspaceTools({ link: link_, workspaces: full });
    const errand = { commandId: 'c', signal: new AbortController().signal };
    const end = await tools.call('WORKSPACE_IN', { files: [{ ...kept('a') }] }, errand, workspace);
    expect(end).toEqual(refusal('DISK_FULL', '"a"'));
    expect(await readdir(workspace)).toEqual([]);
  });

  it('says when the store does not have it', async () => {
    const file = kept('a');
    store.clear();
    expect(await into(file)).toEqual(refusal('FILE_UNAVAILABLE', '"a" cannot be fetched'));
  });
});

describe('a workspace', () => {
  const none = (): boolean => false;
  const names = (): Promise<string[]> => readdir(join(dir, 'workspaces'));

  it('goes with all that is in it, and nothing outside', async () => {
    await writeFile(join(dir, 'outside'), 'x');
    await put('a/b/c');
    await symlink(dir, join(workspace, 'a', 'way'));
    await mkdir(join(workspace, 'closed', 'in'), { recursive: true });
    await chmod(join(workspace, 'closed'), 0o000);
    await writeFile(Buffer.concat([Buffer.from(`${workspace}/`), Buffer.from([0xff, 0xfe])]), 'no text');
    execFileSync('sh', ['-c', `cd ${workspace} && for i in $(seq 200); do mkdir d && cd d || exit; done; echo x > f`]);
    await workspaces.remove('run-1');
    expect(await workspaces.list(none)).toEqual({ workspaces: [], more: 0 });
    await workspaces.emptied();
    expect(await names()).toEqual(['.parts']);
    expect(await readFile(join(dir, 'outside'), 'utf8')).toBe('x');
  });

  it('is listed with its size and its files, the oldest first', async () => {
    await put('a/b', 'x'.repeat(10_000));
    await put('c');
    await workspaces.make('run-2');
    const { workspaces: listed } = await workspaces.list((runId) => runId === 'run-2');
    expect(listed.map(({ runId, files, kept: isKept }) => ({ runId, files, isKept }))).toEqual([
      { runId: 'run-1', files: 2, isKept: false },
      { runId: 'run-2', files: 0, isKept: true },
    ]);
    expect(listed[0]?.bytes).toBeGreaterThanOrEqual(10_000);
  });

  it('goes at a start when nobody has asked for it in a week, unless it is kept; and so does what a process has left', async () => {
    await workspaces.make('kept');
    const { handle } = await workspaces.openPart();
    await handle.close();
    await mkdir(join(dir, 'workspaces', '.gone-1', 'x'), { recursive: true });
    nowMs += 7 * 24 * HOUR_MS - HOUR_MS;
    await workspaces.sweep(none);
    await workspaces.emptied();
    expect(await names()).toEqual(['.parts', 'kept', 'run-1']);
    nowMs += 2 * HOUR_MS;
    await workspaces.sweep((runId) => runId === 'kept');
    await workspaces.emptied();
    expect(await names()).toEqual(['.parts', 'kept']);
    expect(await readdir(join(dir, 'workspaces', '.parts'))).toEqual([]);
  });

  it('is that of a run, whatever somebody calls a run', () => {
    for (const runId of ['..', '.parts', 'a/b', '']) expect(() => workspaces.pathOf(runId)).toThrow();
  });
});
