import { RFB, type ViewerMessage } from './client-messages.js';

const ACTS: ReadonlySet<number> = new Set(Object.values(RFB));
/** Keys that one person presses at once, at the most. */
const KEYS_MAX = 32;

/**
 * What of a viewer gets to the screen: that he looks always, that he acts only while he has it. What he holds down when he has it no
 * more is let go of for him.
 */
export class Hands {
  /** The release of each key that is down. */
  readonly #down = new Map<string, Buffer>();
  #pointer: Buffer | undefined;

  /** Whether a message is one of keys, mouse or clipboard. */
  static acts({ type }: ViewerMessage): boolean {
    return ACTS.has(type);
  }

  /** What is passed on. */
  passes(message: ViewerMessage, has: boolean): readonly Buffer[] {
    if (!Hands.acts(message)) return [message.bytes];
    if (!has) return this.letGo();
    this.#note(message);
    return [message.bytes];
  }

  /** What lets go of all that is held down. */
  letGo(): readonly Buffer[] {
    const messages = [...this.#down.values(), ...(this.#pointer === undefined ? [] : [this.#pointer])];
    this.#down.clear();
    this.#pointer = undefined;
    return messages;
  }

  #note({ type, bytes }: ViewerMessage): void {
    if (type === RFB.pointer) this.#pointer = bytes.readUInt8(1) === 0 ? undefined : released(bytes, 1);
    if (type === RFB.key) this.#press(bytes.toString('hex', 2), bytes.readUInt8(1) !== 0, () => released(bytes, 1));
    if (type === RFB.qemu) {
      this.#press(bytes.toString('hex', 4), bytes.readUInt16BE(2) !== 0, () => released(released(bytes, 2), 3));
    }
  }

  #press(key: string, isDown: boolean, release: () => Buffer): void {
    if (!isDown) this.#down.delete(key);
    else if (this.#down.size < KEYS_MAX) this.#down.set(key, release());
  }
}

/** The same message with the byte that says "down" cleared. */
function released(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes);
  copy.writeUInt8(0, at);
  return copy;
}
