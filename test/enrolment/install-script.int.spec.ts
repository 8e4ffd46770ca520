import { spawn, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { access, chmod, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { execa } from 'execa';

// The script as machines get it, with an archive whose program only says how it was called.
const SCRIPT = resolve(import.meta.dirname, '../../deploy/device/install.sh');
const PROGRAM = '#!/bin/sh\necho "$@"\ncat\n';
const RELEASE = '1.2.3-abc';
const TOOLS = ['sh', 'tar', 'gzip', 'sha256sum', 'rm', 'mv', 'mkdir', 'uname', 'id', 'grep', 'sync', 'cat'];

let base: string;
let bin: string;
let archive: Buffer;
let script: string;
let server: Server;
let url: string;
/** How the next requests are answered. */
let answer: (response: ServerResponse) => void;
let asked: string[];
let dir: string;
let count = 0;

beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), 'orrery-install-'));
  const tree = join(base, 'tree');
  await mkdir(join(tree, 'bin'), { recursive: true });
  await writeFile(join(tree, 'bin/orrery-device'), PROGRAM);
  await chmod(join(tree, 'bin/orrery-device'), 0o755);
  // What does not become smaller, so that a download can be cut in the middle.
  const ballast = Array.from({ length: 16_384 }, (_, at) => createHash('sha256').update(String(at)).digest());
  await writeFile(join(tree, 'ballast'), Buffer.concat(ballast));
  await execa('tar', ['-czf', join(base, 'archive.tar.gz'), '-C', tree, 'bin', 'ballast']);
  archive = await readFile(join(base, 'archive.tar.gz'));
  const sum = createHash('sha256').update(archive).digest('hex');
  const line = `${process.arch === 'arm64' ? 'linux-arm64' : 'linux-x64'} client.tar.gz ${sum}`;
  script = join(base, 'install.sh');
  const text = await readFile(SCRIPT, 'utf8');
  await writeFile(script, text.replace('@RELEASE@', RELEASE).replace('@ARCHIVES@', line));
  bin = await toolsIn('with-curl', 'curl');
  server = createServer((request, response) => (asked.push(request.url ?? ''), answer(response)));
  await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done));
  url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}/prefix/ws`;
});
beforeEach(() => {
  dir = join(base, `machine-${(count += 1)}`);
  asked = [];
  answer = (response) => void response.end(archive);
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await rm(base, { recursive: true, force: true });
});

/** A PATH with the programs that a machine has which has nothing. */
async function toolsIn(name: string, ...more: string[]): Promise<string> {
  const place = join(base, name);
  await mkdir(place);
  for (const tool of [...TOOLS, ...more]) {
    const found = await execa('sh', ['-c', `command -v ${tool}`], { env: { PATH: '/usr/bin:/bin' }, extendEnv: false });
    await symlink(found.stdout, join(place, tool));
  }
  return place;
}

const environment = (path: string) => ({ PATH: path, HOME: join(base, 'home') });
async function install(args: readonly string[] = [url, '--dir', dir], path = bin) {
  const { exitCode, stdout, stderr } = await execa('sh', [script, ...args], {
    env: environment(path),
    extendEnv: false,
    input: 'join-the-token\n',
    reject: false,
  });
  return { exitCode, stdout, stderr };
}
const installed = () => `install --url ${url} --dir ${dir}\njoin-the-token`;
const releases = async () => readdir(join(dir, 'releases'));

describe('the script that machines are given', () => {
  it('fetches, compares, unpacks, and lets the client install itself; the token stays on standard input', async () => {
    expect(await install()).toMatchObject({ exitCode: 0, stdout: installed() });
    expect(asked).toEqual(['/prefix/device/client.tar.gz']);
    expect(await releases()).toEqual([RELEASE]);
  });

  it('fetches nothing that is there already', async () => {
    await install();
    expect(await install()).toMatchObject({ exitCode: 0, stdout: installed(), stderr: '' });
    expect(asked).toHaveLength(1);
  });

  it('takes wget where there is no curl, and says what it needs where there is neither', async () => {
    expect(await install(undefined, await toolsIn('with-wget', 'wget'))).toMatchObject({ exitCode: 0 });
    dir = `${dir}-bare`;
    const bare = await install(undefined, await toolsIn('bare'));
    expect(bare).toMatchObject({ exitCode: 1, stdout: '' });
    expect(bare.stderr).toContain('curl or wget is needed, and neither is here.');
  });

  it('uses nothing that is not what was promised, and nothing of a half', async () => {
    const changed = Buffer.from(archive);
    changed[1_000] = 255 - (changed[1_000] ?? 0);
    answer = (response) => void response.end(changed);
    const forged = await install();
    expect(forged).toMatchObject({ exitCode: 1, stdout: '' });
    expect(forged.stderr).toContain('client.tar.gz is not what was promised (SHA-256 differs); it is not used.');
    answer = (response) => {
      response.writeHead(200, { 'Content-Length': archive.length });
      response.write(archive.subarray(0, 100_000), () => response.destroy());
    };
    expect(await install()).toMatchObject({ exitCode: 1, stdout: '' });
    answer = (response) => void response.writeHead(404).end('not found');
    expect((await install()).stderr).toContain(
      `${url.replace('ws:', 'http:').replace('/ws', '')}/device/client.tar.gz cannot be fetched.`,
    );
    expect(await releases()).toEqual([]);
  });

  it('killed in the middle it leaves nothing that counts, and nothing at all after the next time', async () => {
    const halfway = Promise.withResolvers<void>();
    answer = (response) => {
      response.writeHead(200, { 'Content-Length': archive.length });
      response.write(archive.subarray(0, 100_000), () => halfway.resolve());
    };
    const child: ChildProcess = spawn('sh', [script, url, '--dir', dir], {
      env: environment(bin),
      detached: true,
      stdio: 'ignore',
    });
    await halfway.promise;
    process.kill(-(child.pid ?? 0), 'SIGKILL');
    await once(child, 'exit');
    expect(await releases()).toEqual([`.incoming.${child.pid}`]);
    answer = (response) => void response.end(archive);
    expect(await install()).toMatchObject({ exitCode: 0, stdout: installed() });
    expect(await releases()).toEqual([RELEASE]);
  });

  it.each([
    [[], 'the address of the gateway comes first'],
    [['http://h/ws'], 'the address of the gateway comes first'],
    [['ws://h/ws', '--dir'], '"--dir" is not known here; there are --dir DIR and --ca-file FILE.'],
    [['ws://h/ws', '--token', 'x'], '"--token" is not known here'],
  ])('%j is refused in one sentence', async (args, sentence) => {
    const { exitCode, stderr } = await install(args);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining(sentence)]);
    await expect(access(join(base, 'home'))).rejects.toThrow();
  });
});
