// A display that shows itself to nobody, shown by x11vnc: ./orrery test desktop
import { fork, type ChildProcess } from 'node:child_process';
import { createCipheriv } from 'node:crypto';
import { once } from 'node:events';
import { access, constants, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ownPort } from '#libs/testing';
import { until } from '../../services/device-client/testing/until.js';
import { whyNoDesktop } from './rig.js';

const SCREEN = join(import.meta.dirname, '../../dist/services/desktop-tools/screen.main.js');
const PASSWORD = 'look-on1';
const BY_PASSWORD = 2;
const VERSION = 'RFB 003.008\n';

const hasViewer = await access('/usr/bin/x11vnc', constants.X_OK).then(
  () => true,
  () => false,
);
if (!hasViewer)
  process.stderr.write('desktop: no screen is shown by x11vnc, because this machine has not the package x11vnc.\n');
const reason = await whyNoDesktop();

(reason === undefined && hasViewer ? describe : describe.skip)('a screen of Xvfb', () => {
  let dir: string;
  let screen: ChildProcess;
  let port: number;

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'orrery-x11vnc-'));
    port = await ownPort();
    await writeFile(join(dir, 'password'), `${PASSWORD}\n`, { mode: 0o600 });
    const view = { host: '127.0.0.1', port, passwordFile: join(dir, 'password') };
    const settings = { directory: join(dir, 'screen'), server: 'Xvfb', size: '1280x800', view };
    await writeFile(join(dir, 'screen.json'), JSON.stringify(settings));
    screen = fork(SCREEN, [join(dir, 'screen.json')], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    const [said] = (await once(screen, 'message')) as [{ ready?: boolean; ports?: Record<string, number> }];
    expect(said).toMatchObject({ ready: true, ports: { view: port } });
  });
  afterAll(async () => {
    screen?.kill('SIGKILL');
    await rm(dir, { recursive: true, force: true });
  });

  /** A connection, as soon as something listens there. */
  const connected = (): Promise<Socket> =>
    until(async () => {
      const socket = connect({ host: '127.0.0.1', port });
      return once(socket, 'connect').then(
        () => socket,
        () => undefined,
      );
    });

  /** What is said to whoever knows this password: whether he is let in, and how large the screen is. */
  async function letIn(password: string): Promise<{ isIn: boolean; size?: readonly [number, number] }> {
    const socket = await connected();
    try {
      const reader = new Reader(socket);
      await reader.read(VERSION.length);
      socket.write(VERSION);
      const kinds = [...(await reader.read((await reader.read(1)).readUInt8(0)))];
      expect(kinds).toEqual([BY_PASSWORD]);
      socket.write(Buffer.from([BY_PASSWORD]));
      socket.write(answerOf(password, await reader.read(16)));
      if ((await reader.read(4)).readUInt32BE(0) !== 0) return { isIn: false };
      socket.write(Buffer.from([1]));
      const head = await reader.read(4);
      return { isIn: true, size: [head.readUInt16BE(0), head.readUInt16BE(2)] };
    } finally {
      socket.destroy();
    }
  }

  it('is shown to who knows its password, and to nobody else', async () => {
    expect(await letIn(PASSWORD)).toEqual({ isIn: true, size: [1280, 800] });
    expect(await letIn('another1')).toEqual({ isIn: false });
    // Who guessed has locked out nobody.
    expect(await letIn(PASSWORD)).toMatchObject({ isIn: true });
  });

  it('ends with all that shows it', async () => {
    const gone = once(screen, 'exit');
    screen.kill('SIGTERM');
    expect(await gone).toEqual([0, null]);
    const socket = connect({ host: '127.0.0.1', port });
    await expect(once(socket, 'connect')).rejects.toThrow('ECONNREFUSED');
  });
});

class Reader {
  readonly #socket: Socket;
  #bytes = Buffer.alloc(0);

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.pause();
  }

  async read(count: number): Promise<Buffer> {
    while (this.#bytes.length < count) {
      const piece = this.#socket.read() as Buffer | null;
      if (piece !== null) this.#bytes = Buffer.concat([this.#bytes, piece]);
      else await once(this.#socket, 'readable');
    }
    const found = this.#bytes.subarray(0, count);
    this.#bytes = this.#bytes.subarray(count);
    return found;
  }
}

/** The challenge, enciphered with the password as RFB has it: each of its bytes the other way round. */
function answerOf(password: string, challenge: Buffer): Buffer {
  const key = Buffer.from(password, 'latin1').map((byte) =>
    Number.parseInt(Array.from(byte.toString(2).padStart(8, '0')).toReversed().join(''), 2),
  );
  // Three times the same key is DES once.
  const cipher = createCipheriv('des-ede3-ecb', Buffer.concat([key, key, key]), null).setAutoPadding(false);
  return Buffer.concat([cipher.update(challenge), cipher.final()]);
}
