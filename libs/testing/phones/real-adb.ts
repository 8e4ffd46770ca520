import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Whether this machine has adb; nothing is installed for a test. */
export const hasAdb = (): boolean => spawnSync('adb', ['version']).status === 0;

/** The adb server of the distribution, on a socket and with a home of its own. */
export class RealAdb {
  readonly address: { readonly path: string };
  readonly #dir: string;
  readonly #child: ChildProcess;

  private constructor(dir: string, child: ChildProcess) {
    this.#dir = dir;
    this.#child = child;
    this.address = { path: join(dir, 'adb.sock') };
  }

  static async start(): Promise<RealAdb> {
    const dir = await mkdtemp(join(tmpdir(), 'orrery-adb-'));
    const args = ['-L', `localfilesystem:${join(dir, 'adb.sock')}`, 'nodaemon', 'server'];
    const child = spawn('adb', args, { env: { HOME: dir, PATH: '/usr/bin:/bin' }, stdio: 'ignore' });
    const adb = new RealAdb(dir, child);
    const ended = once(child, 'exit').then(() => 'ended');
    for (;;) {
      const state = await Promise.race([ended, answers(adb.address.path)]);
      if (state === 'answers') return adb;
      if (state === 'ended') throw new Error('adb ended before it served');
    }
  }

  /** Makes a phone that listens on a port of this machine known to the server; resolves to its serial. */
  async connect(port: number): Promise<string> {
    const serial = `127.0.0.1:${port}`;
    // It may be trying by itself, and then refuses to do it twice.
    while (!(await this.run('connect', serial)).output.includes(`connected to ${serial}`));
    await this.run('-s', serial, 'wait-for-device');
    return serial;
  }

  /** Its own client, as people use it. */
  async run(...args: string[]): Promise<{ readonly output: string; readonly exitCode: number | null }> {
    const env = { HOME: this.#dir, PATH: '/usr/bin:/bin', ADB_SERVER_SOCKET: `localfilesystem:${this.address.path}` };
    const child = spawn('adb', args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
    const [exitCode] = (await once(child, 'close')) as [number | null];
    return { output, exitCode };
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      const exited = once(this.#child, 'exit');
      this.#child.kill('SIGKILL');
      await exited;
    }
    await rm(this.#dir, { recursive: true, force: true });
  }
}

/** Tries once; a server that is not there yet is tried again by the caller. */
async function answers(path: string): Promise<'answers' | 'not yet'> {
  const socket = connect({ path });
  try {
    await once(socket, 'connect');
    return 'answers';
  } catch {
    const { promise, resolve } = Promise.withResolvers<void>();
    setTimeout(resolve, 20);
    await promise;
    return 'not yet';
  } finally {
    socket.destroy();
  }
}
