import type { CommandId, DeviceId, OutputChunk } from '#proto';
import { thoughtFollower } from '#libs/llm';

/** Milliseconds between two pieces. */
const PAUSE_MS = 100;
const CHARS_MAX = 20_000;

/** What the model of one step thinks, in pieces for people who watch: not too often, not too much. */
export class ThoughtChunks {
  readonly #of: { readonly commandId: CommandId; readonly deviceId: DeviceId };
  readonly #follow = thoughtFollower();
  #said = '';
  #lastMs = Number.NEGATIVE_INFINITY;

  constructor(of: { readonly commandId: CommandId; readonly deviceId: DeviceId }) {
    this.#of = of;
  }

  /** The next piece of a reply that is being written; null while there is nothing new to say, or it is too early. */
  next(replySoFar: string, nowMs: number): OutputChunk | null {
    if (nowMs - this.#lastMs < PAUSE_MS) return null;
    const thought = this.#follow(replySoFar).slice(0, CHARS_MAX).toWellFormed();
    // A try that replaces an earlier one begins again; a piece that is left out shows as a gap.
    if (!thought.startsWith(this.#said)) this.#said = '';
    const text = thought.slice(this.#said.length);
    if (text === '') return null;
    const offset = Buffer.byteLength(this.#said);
    this.#said = thought;
    this.#lastMs = nowMs;
    return { ...this.#of, stream: 'thought', offset, text };
  }
}
