import { describe, expect, it } from '@jest/globals';
import { MessageBuffer } from './message-buffer.js';
import { MCP_LIMITS } from './tool-server.js';

const buffer = (): MessageBuffer => new MessageBuffer((line) => JSON.parse(line) as never);

/** All messages that come of these pieces. */
function messages(pieces: readonly (string | Buffer)[]): unknown[] {
  const read = buffer();
  return pieces.flatMap((piece) => {
    read.append(Buffer.from(piece));
    const found: unknown[] = [];
    for (let message: unknown = read.readMessage(); message !== null; message = read.readMessage()) found.push(message);
    return found;
  });
}

describe('messages in lines', () => {
  it('are the same however they are cut', () => {
    const text = '{"id":1,"text":"ä😀"}\n{"id":2}\r\n{"id":3}\n{"id":4';
    const bytes = Buffer.from(text);
    const whole = [{ id: 1, text: 'ä😀' }, { id: 2 }, { id: 3 }];
    for (let at = 0; at <= bytes.length; at++) {
      expect(messages([bytes.subarray(0, at), bytes.subarray(at)])).toEqual(whole);
    }
    expect(messages([...bytes].map((byte) => Buffer.from([byte])))).toEqual(whole);
  });

  it('may be so long and no longer, and the next ones are read', () => {
    const read = buffer();
    const piece = Buffer.alloc(MCP_LIMITS.messageBytesMax / 4, ' ');
    for (let part = 0; part < 4; part++) read.append(piece);
    expect(() => read.append(Buffer.from('x'))).toThrow('more than 33554432 bytes');
    read.append(Buffer.from('and more of it'));
    read.append(Buffer.from('and its end\n1\n'));
    expect(read.readMessage()).toBe(1);
  });

  it('that are none do not hold up the next', () => {
    const read = buffer();
    read.append(Buffer.from('what?\n2\n'));
    expect(() => read.readMessage()).toThrow();
    expect(read.readMessage()).toBe(2);
  });
});
