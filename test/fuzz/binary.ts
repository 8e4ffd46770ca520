import type { Dice } from '../simulation/random.js';

/** What a binary frame has beside its head, and how it is broken. */
export interface Binary {
  readonly data: Uint8Array;
  /** By so much the length that it says its head has is wrong. */
  readonly lengthBy: number;
  /** So many of its last bytes do not come. */
  readonly lost: number;
}

const LENGTH_BYTES = 2;
const LENGTH_MAX = 0xff_ff;
const BROKEN = 0.3;
const DATA_BYTES = [0, 1, 3, 64, 1_000];

/** Mostly as it should be: what is refused at once reaches nothing. */
export function binaryOf(dice: Dice): Binary {
  const data = Uint8Array.from({ length: dice.pick(DATA_BYTES) }, (_, index) => (index * 37) % 256);
  const lengthBy = dice.chance(BROKEN) ? dice.pick([-LENGTH_MAX, -1, 1, 2, 64, 5_000, LENGTH_MAX]) : 0;
  return { data, lengthBy, lost: dice.chance(BROKEN / 2) ? dice.int(1, 2_000) : 0 };
}

/** As it comes: the length of the head, the head, and the bytes. */
export function binaryFrame(head: string, { data, lengthBy, lost }: Binary): Uint8Array {
  const said = Math.min(LENGTH_MAX, Math.max(0, Buffer.byteLength(head) + lengthBy));
  const length = Buffer.from([said >> 8, said & 0xff]);
  const whole = Buffer.concat([length, Buffer.from(head), data]);
  return whole.subarray(0, Math.max(0, whole.length - lost));
}

/** The bytes behind the head that a frame says it has; they have to come through as they are. */
export const bytesBehindHead = (frame: Uint8Array): Uint8Array =>
  frame.subarray(LENGTH_BYTES + (((frame[0] ?? 0) << 8) | (frame[1] ?? 0)));
