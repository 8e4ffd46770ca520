import { AdbConnection, type AdbAddress } from './adb-connection.client.js';
import { AdbFault } from './adb-fault.js';
import { shellLine } from './shell-line.js';
import { ShellPackets, type ShellResult } from './shell-packets.js';

export interface ShellOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** Of standard output; a command that writes more has failed. */
  readonly bytesMax: number;
}

/** A device as its server lists it. */
interface AdbListed {
  readonly serial: string;
  /** `device` when it can be used; else `offline`, `unauthorized`, ... */
  readonly state: string;
}

/** One device behind an adb server. Its serial goes along with everything: which device is meant is never left to the server. */
export class AdbDevice {
  readonly #address: AdbAddress;
  readonly #serial: string;
  #isKnown = false;

  constructor(address: AdbAddress, serial: string) {
    this.#address = address;
    this.#serial = serial;
  }

  /** Runs one command, each word of it as it is, and waits for its end; what its exit code means is the caller's business. */
  async shell(words: readonly string[], { signal, timeoutMs, bytesMax }: ShellOptions): Promise<ShellResult> {
    const line = shellLine(words);
    const ends = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    await this.#checkFeatures(ends);
    const connection = await this.#transport(ends);
    try {
      // A device that is gone before it says that it has begun is told like one that did not begin.
      await connection.ask(`shell,v2,raw:${line}`, 'LOST');
      const packets = new ShellPackets(bytesMax);
      for (;;) {
        const chunk = await connection.next();
        if (chunk === undefined) throw new AdbFault('LOST', 'the device was gone before the command had ended');
        const result = packets.push(chunk);
        if (result !== undefined) return result;
      }
    } finally {
      connection.close();
    }
  }

  /** Exit codes and binary output came with Android 7; without them nothing that a command does could be told from nothing. */
  async #checkFeatures(ends: AbortSignal): Promise<void> {
    if (this.#isKnown) return;
    const connection = await AdbConnection.open(this.#address, ends);
    try {
      await connection
        .ask(`host-serial:${this.#serial}:features`)
        .catch((error: unknown) => this.#explain(error, ends));
      const features = (await connection.text()).split(',');
      if (!features.includes('shell_v2')) {
        throw new AdbFault(
          'NO_DEVICE',
          `the device ${this.#serial} has no shell with exit codes: Android 7 or later is needed`,
        );
      }
      this.#isKnown = true;
    } finally {
      connection.close();
    }
  }

  async #transport(ends: AbortSignal): Promise<AdbConnection> {
    const connection = await AdbConnection.open(this.#address, ends);
    try {
      await connection.ask(`host:transport:${this.#serial}`);
      return connection;
    } catch (error) {
      connection.close();
      // What it can do is asked again: it may be another one under the same name.
      this.#isKnown = false;
      return this.#explain(error, ends);
    }
  }

  /** A device that is not there is said together with those that are. */
  async #explain(refusal: unknown, ends: AbortSignal): Promise<never> {
    if (!(refusal instanceof AdbFault) || refusal.code !== 'NO_DEVICE') throw refusal;
    const listed = await listAdbDevices(this.#address, ends).catch(() => []);
    const there = listed.map(({ serial, state }) => (state === 'device' ? serial : `${serial} (${state})`));
    const known = there.length === 0 ? 'the adb server has no device' : `the adb server has ${there.join(', ')}`;
    throw new AdbFault('NO_DEVICE', `the device ${this.#serial} cannot be used: ${refusal.message}; ${known}`, {
      cause: refusal,
    });
  }
}

const LISTED_MAX = 20;

/** The devices that an adb server knows, for people who have to name one. */
async function listAdbDevices(address: AdbAddress, ends: AbortSignal): Promise<AdbListed[]> {
  const connection = await AdbConnection.open(address, ends);
  try {
    await connection.ask('host:devices', 'NO_SERVER');
    const lines = (await connection.text()).split('\n').filter((line) => line.includes('\t'));
    return lines.slice(0, LISTED_MAX).map((line) => {
      const [serial = '', state = ''] = line.split('\t');
      return { serial, state };
    });
  } finally {
    connection.close();
  }
}
