import { describe, expect, it } from '@jest/globals';
import { array, assert, constantFrom, integer, property } from 'fast-check';
import { ClientMessageError, ClientMessages } from './client-messages.js';
import { Hands } from './hands.js';

const of = (type: number, bytes: number, change: (message: Buffer) => void = () => undefined): Buffer => {
  const message = Buffer.alloc(bytes);
  message.writeUInt8(type, 0);
  change(message);
  return message;
};
const LOOKS = [
  of(0, 20),
  of(3, 10),
  of(150, 10),
  of(2, 12, (it) => it.writeUInt16BE(2, 2)),
  of(248, 12, (it) => it.writeUInt8(3, 8)),
];
const key = (sym: number, isDown = true): Buffer =>
  of(4, 8, (it) => it.writeUInt32BE(sym, 4) && it.writeUInt8(isDown ? 1 : 0, 1));
const pointer = (buttons: number): Buffer => of(5, 6, (it) => it.writeUInt8(buttons, 1) && it.writeUInt16BE(40, 2));
const pasted = of(6, 11, (it) => it.writeInt32BE(3, 4));
const formats = of(6, 12, (it) => it.writeInt32BE(-4, 4));
const qemu = of(255, 12, (it) => it.writeUInt16BE(1, 2) && it.writeUInt32BE(97, 4));
const ACTS = [key(97), pointer(1), pasted, formats, qemu];

/** What of these messages gets to the server. */
function passed(messages: readonly Buffer[], has: boolean): Buffer {
  const hands = new Hands();
  return Buffer.concat(messages.flatMap((bytes) => hands.passes({ type: bytes.readUInt8(0), bytes }, has)));
}

describe('what a viewer says', () => {
  it('is taken apart the same way, however it is cut', () =>
    assert(
      property(array(constantFrom(...LOOKS, ...ACTS), { maxLength: 12 }), integer({ min: 1, max: 9 }), (said, size) => {
        const [all, messages, taken] = [Buffer.concat(said), new ClientMessages(), [] as Buffer[]];
        for (let at = 0; at < all.length; at += size) {
          taken.push(...messages.take(all.subarray(at, at + size)).map(({ bytes }) => Buffer.from(bytes)));
        }
        expect(taken).toEqual(said);
      }),
    ));

  it.each([
    ['another size of the desktop', of(251, 8)],
    ['a restart of the machine', of(250, 4)],
    ['more than one can paste', of(6, 8, (it) => it.writeInt32BE(1_000_000, 4))],
    ['more encodings than there are', of(2, 4, (it) => it.writeUInt16BE(60_000, 2))],
    ['sound', of(255, 4, (it) => it.writeUInt8(1, 1))],
  ])('is no %s', (_, bytes) => expect(() => new ClientMessages().take(bytes)).toThrow(ClientMessageError));
});

describe('a screen', () => {
  it('gets what looks of everybody', () => expect(passed(LOOKS, false)).toEqual(Buffer.concat(LOOKS)));

  it('gets what acts of who has it, and of nobody else', () => {
    expect(passed(ACTS, true)).toEqual(Buffer.concat(ACTS));
    expect(passed(ACTS, false)).toEqual(Buffer.alloc(0));
  });

  it('is left with nothing held down', () => {
    const hands = new Hands();
    for (const bytes of [key(97), key(98), key(98, false), pointer(1)]) {
      hands.passes({ type: bytes.readUInt8(0), bytes }, true);
    }
    // The next thing that he does when he has it no more.
    const said = hands.passes({ type: 4, bytes: key(99) }, false);
    expect(said).toEqual([key(97, false), pointer(0)]);
    expect(hands.letGo()).toEqual([]);
  });
});
