import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writePhonePrograms } from './phone-programs.js';

export interface PhoneStream {
  /** What the service says, until it ends or the phone is gone. */
  readonly output: AsyncIterable<Buffer>;
  /** Nobody listens any more. */
  readonly end: () => void;
}

interface Oddities {
  /** The phone is gone as soon as a command line begins so. */
  vanishOn?: string | undefined;
  /** A command line that begins so neither says anything nor ends. */
  hangOn?: string | undefined;
}

const STDOUT = 1;
const STDERR = 2;
const EXIT = 3;

/**
 * A phone without Android: what adbd would hand to the device's shell is read by a real sh, in a folder of its own. Quoting is thus real;
 * what the programs there do is not.
 */
export class StandInPhone {
  readonly serial: string;
  readonly oddities: Oddities = {};
  isThere = true;
  /** What was asked for, in order. */
  readonly services: string[] = [];
  readonly #dir: string;
  readonly #bin: string;
  readonly #ends = new Set<() => void>();

  private constructor(serial: string, dir: string, bin: string) {
    this.serial = serial;
    this.#dir = dir;
    this.#bin = bin;
  }

  static async make(serial: string): Promise<StandInPhone> {
    const dir = await mkdtemp(join(tmpdir(), 'orrery-phone-'));
    await mkdir(join(dir, 'home'));
    return new StandInPhone(serial, dir, await writePhonePrograms(dir));
  }

  async remove(): Promise<void> {
    this.vanish();
    await rm(this.#dir, { recursive: true, force: true });
  }

  put(
    name: 'screen.xml' | 'next.xml' | 'screen.png' | 'packages' | 'keyboard',
    content: string | Buffer,
  ): Promise<void> {
    return writeFile(join(this.#dir, name), content);
  }

  take(name: 'screen.xml' | 'keyboard'): Promise<void> {
    return rm(join(this.#dir, name), { force: true });
  }

  /** What its programs were called with since the last time: each name with its words. */
  async calls(): Promise<string[][]> {
    const file = join(this.#dir, 'calls');
    const fields = (await readFile(file, 'utf8').catch(() => '')).split('\0');
    await rm(file, { force: true });
    const calls: string[][] = [];
    for (let at = 0; at < fields.length - 1;) {
      const count = Number(fields[at]) + 1;
      calls.push(fields.slice(at + 1, at + 1 + count));
      at += 1 + count;
    }
    return calls;
  }

  /** Files that a command has left where it ran: none, unless something ran that should not. */
  leftBehind(): Promise<string[]> {
    return readdir(join(this.#dir, 'home'));
  }

  /** Whatever runs loses its listener without a word. */
  vanish(): void {
    this.isThere = false;
    for (const end of this.#ends) end();
    this.#ends.clear();
  }

  /** A service as adbd knows it: `shell,v2,raw:LINE` and `exec:LINE`. Undefined: it has none of that name. */
  open(service: string): PhoneStream | undefined {
    this.services.push(service);
    const [, kind = '', line = ''] = /^([^:]*):(.*)$/su.exec(service) ?? [];
    const [name, ...flags] = kind.split(',');
    if (name !== 'exec' && name !== 'shell') return undefined;
    const packets = flags.includes('v2');
    if (this.oddities.vanishOn !== undefined && line.startsWith(this.oddities.vanishOn)) {
      this.vanish();
      return { output: nothing(), end: () => undefined };
    }
    const isHanging = this.oddities.hangOn !== undefined && line.startsWith(this.oddities.hangOn);
    return this.#run(isHanging ? 'exec sleep 600' : line, packets);
  }

  #run(line: string, packets: boolean): PhoneStream {
    const child = spawn('/bin/sh', ['-c', line], {
      cwd: join(this.#dir, 'home'),
      env: { PATH: `${this.#bin}:/usr/bin:/bin`, PHONE: this.#dir },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const said: Buffer[] = [];
    let wake = (): void => undefined;
    let isOver = false;
    const say = (id: number, payload: Buffer): void => {
      said.push(packets ? packet(id, payload) : payload);
      wake();
    };
    const end = (): void => {
      isOver = true;
      child.kill('SIGKILL');
      this.#ends.delete(end);
      wake();
    };
    child.stdout.on('data', (chunk: Buffer) => say(STDOUT, chunk));
    child.stderr.on('data', (chunk: Buffer) => say(STDERR, chunk));
    child.once('close', (code) => {
      if (packets && !isOver) say(EXIT, Buffer.from([code ?? 255]));
      end();
    });
    this.#ends.add(end);
    async function* output(): AsyncGenerator<Buffer> {
      for (;;) {
        const next = said.shift();
        if (next !== undefined) yield next;
        else if (isOver) return;
        else await new Promise<void>((resolve) => (wake = resolve));
      }
    }
    return { output: output(), end };
  }
}

async function* nothing(): AsyncGenerator<Buffer> {
  yield* [];
}

function packet(id: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(id, 0);
  head.writeUInt32LE(payload.length, 1);
  return Buffer.concat([head, payload]);
}
