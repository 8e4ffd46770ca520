import { AdbFault, type AdbDevice, type ShellResult } from '#libs/adb';
import { PhoneFault } from '../faults/index.js';
import { parseHierarchy, screenOf, type PhoneScreen } from '../screen/index.js';
import { clearingPieces, TEXT_KEYBOARD, typedPieces, type Keyboard, type TypedPiece } from './typing.js';

const COMMAND_MS = 60_000;
/** A real device takes seconds for its hierarchy, and gives up by itself after ten. */
const LOOK_MS = 60_000;
const TEXT_BYTES_MAX = 1024 * 1024;
const SCREEN_BYTES_MAX = 8 * 1024 * 1024;
const PICTURE_BYTES_MAX = 32 * 1024 * 1024;
const DUMP_FILE = '/data/local/tmp/orrery-hierarchy.xml';
const PACKAGES_MAX = 5_000;

interface Asked {
  readonly signal: AbortSignal;
  readonly timeoutMs?: number;
  readonly bytesMax?: number;
}

/** A picture of the screen as PNG. */
export interface PhonePicture {
  readonly bytes: Buffer;
  readonly width: number;
  readonly height: number;
}

/** What an Android device can be asked for and told to do, each as commands of its own shell. */
export class Phone {
  readonly #device: Pick<AdbDevice, 'shell'>;

  constructor(device: Pick<AdbDevice, 'shell'>) {
    this.#device = device;
  }

  /** What the screen shows. A screen that never rests, with a film on it, cannot be read. */
  async screen(signal: AbortSignal): Promise<PhoneScreen> {
    const dumped = await this.#ask(['uiautomator', 'dump', DUMP_FILE], { signal, timeoutMs: LOOK_MS });
    if (dumped.exitCode !== 0 || !dumped.stdout.includes(DUMP_FILE)) {
      const why = lineOf(dumped.stderr) || lineOf(dumped.stdout.toString('utf8'));
      throw new PhoneFault('NOT_RESPONDING', `the device could not say what it shows: ${why || 'it gave no reason'}`);
    }
    const { stdout } = await this.#asked(['cat', DUMP_FILE], { signal, bytesMax: SCREEN_BYTES_MAX });
    // A later reading that fails must not find this one.
    await this.#asked(['rm', '-f', DUMP_FILE], { signal });
    return screenOf(parseHierarchy(stdout.toString('utf8')));
  }

  /** A picture of the screen as PNG. */
  async picture(signal: AbortSignal): Promise<PhonePicture> {
    const { stdout: bytes } = await this.#asked(['screencap', '-p'], { signal, bytesMax: PICTURE_BYTES_MAX });
    const isPng = bytes.length > PNG_HEAD_BYTES && bytes.subarray(0, PNG_START.length).equals(PNG_START);
    if (!isPng) throw new PhoneFault('NOT_RESPONDING', 'what the device gave as its picture is no PNG');
    return { bytes, width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
  }

  /** Packages that are installed; those that came with the device only when they are asked for. */
  async packages(withSystem: boolean, signal: AbortSignal): Promise<string[]> {
    const { stdout } = await this.#asked(['pm', 'list', 'packages', ...(withSystem ? [] : ['-3'])], { signal });
    const lines = stdout.toString('utf8').split(/\r?\n/u);
    const names = lines.flatMap((line) => /^package:([\w.]{1,255})$/u.exec(line)?.[1] ?? []);
    return names.toSorted().slice(0, PACKAGES_MAX);
  }

  async about(
    signal: AbortSignal,
  ): Promise<{ readonly model: string; readonly release: string; readonly size: string }> {
    const property = async (name: string): Promise<string> =>
      lineOf((await this.#asked(['getprop', name], { signal })).stdout.toString('utf8'));
    const model = await property('ro.product.model');
    const release = await property('ro.build.version.release');
    const sizes = (await this.#asked(['wm', 'size'], { signal })).stdout.toString('utf8');
    return {
      model,
      release,
      size: /Override size: (\d+x\d+)/u.exec(sizes)?.[1] ?? /(\d+x\d+)/u.exec(sizes)?.[1] ?? '',
    };
  }

  async tap([x, y]: readonly [x: number, y: number], signal: AbortSignal): Promise<void> {
    await this.#act(['input', 'tap', `${x}`, `${y}`], signal);
  }

  async swipe(
    { from, to, ms }: { readonly from: readonly number[]; readonly to: readonly number[]; readonly ms: number },
    signal: AbortSignal,
  ): Promise<void> {
    const words = ['input', 'swipe', ...from.map(String), ...to.map(String), `${ms}`];
    await this.#act(words, signal, COMMAND_MS + ms);
  }

  async press(key: string, signal: AbortSignal): Promise<void> {
    await this.#act(['input', 'keyevent', key], signal);
  }

  /** Says what typing a text takes, or why it cannot be typed, before anything is done. */
  async typing(text: string, signal: AbortSignal): Promise<readonly TypedPiece[]> {
    const words = ['settings', 'get', 'secure', 'default_input_method'];
    const isPlain = /^[\t\n\r\x20-\x7e]*$/u.test(text);
    const method = isPlain ? '' : lineOf((await this.#asked(words, { signal })).stdout.toString('utf8'));
    const keyboard: Keyboard = method === TEXT_KEYBOARD ? 'any-text' : 'plain';
    return typedPieces(text, keyboard);
  }

  async type(pieces: readonly TypedPiece[], signal: AbortSignal): Promise<void> {
    for (const [index, piece] of pieces.entries()) {
      try {
        await this.#act(piece, signal);
      } catch (error) {
        if (index === 0 || !(error instanceof PhoneFault)) throw error;
        throw new PhoneFault('OUTCOME_UNKNOWN', `only a part of the text was typed: ${error.message}`, {
          cause: error,
        });
      }
    }
  }

  /** Deletes what the field that has the focus holds. */
  async clear(characters: number, signal: AbortSignal): Promise<void> {
    await this.type(clearingPieces(characters), signal);
  }

  async launch(name: string, signal: AbortSignal): Promise<void> {
    const words = ['monkey', '-p', name, '-c', 'android.intent.category.LAUNCHER', '1'];
    const { stdout } = await this.#ask(words, { signal }, true);
    const said = stdout.toString('utf8');
    if (!said.includes('Events injected: 1')) {
      throw new PhoneFault('APPLICATION', `${name} has nothing that could be started, or is not installed`);
    }
  }

  /** An action: whether a command that did not answer has run, nobody knows. */
  async #act(words: readonly string[], signal: AbortSignal, timeoutMs = COMMAND_MS): Promise<void> {
    const { exitCode, stderr } = await this.#ask(words, { signal, timeoutMs }, true);
    if (exitCode === 0) return;
    throw new PhoneFault(
      'NOT_RESPONDING',
      `${words[0] ?? ''} failed on the device: ${lineOf(stderr) || `exit code ${exitCode}`}`,
    );
  }

  /** A command that must succeed, and changes nothing. */
  async #asked(words: readonly string[], asked: Asked): Promise<ShellResult> {
    const result = await this.#ask(words, asked);
    if (result.exitCode === 0) return result;
    const why = lineOf(result.stderr) || `exit code ${result.exitCode}`;
    throw new PhoneFault('NOT_RESPONDING', `${words[0] ?? ''} failed on the device: ${why}`);
  }

  async #ask(
    words: readonly string[],
    { signal, timeoutMs = COMMAND_MS, bytesMax = TEXT_BYTES_MAX }: Asked,
    acts = false,
  ): Promise<ShellResult> {
    try {
      return await this.#device.shell(words, { signal, timeoutMs, bytesMax });
    } catch (cause) {
      if (!(cause instanceof AdbFault)) throw cause;
      const { code, message } = cause;
      if (code === 'NO_DEVICE' || code === 'NO_SERVER') throw new PhoneFault('NO_DEVICE', message, { cause });
      if (acts && code !== 'ARGUMENT') {
        throw new PhoneFault(
          'OUTCOME_UNKNOWN',
          `${message}: whether it was done is not known; look before anything else`,
          {
            cause,
          },
        );
      }
      throw new PhoneFault('NOT_RESPONDING', message, { cause });
    }
  }
}

const PNG_START = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const PNG_HEAD_BYTES = 24;
const LINE_CHARS_MAX = 200;

/** The first line of what a device says, without what nobody can see. */
const lineOf = (text: string): string =>
  (text.trim().split(/\r?\n/u)[0] ?? '')
    .replaceAll(/\p{C}+/gu, ' ')
    .slice(0, LINE_CHARS_MAX)
    .toWellFormed();
