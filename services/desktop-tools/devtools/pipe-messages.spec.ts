import { describe, expect, it } from '@jest/globals';
import { PipeMessages } from './pipe-messages.js';

describe('messages of a pipe', () => {
  it('are the same however they are cut', () => {
    const bytes = Buffer.from('{"id":1,"text":"ä😀"}\0{"id":2}\0{"id":3');
    const whole = [{ text: '{"id":1,"text":"ä😀"}' }, { text: '{"id":2}' }];
    for (let at = 0; at <= bytes.length; at++) {
      const messages = new PipeMessages();
      expect([bytes.subarray(0, at), bytes.subarray(at)].flatMap((piece) => messages.append(piece))).toEqual(whole);
    }
  });

  it('may be so long and no longer: of others only the beginning is kept, and the next ones are read', () => {
    const messages = new PipeMessages(100);
    const long = `{"id":7,${'x'.repeat(500)}}\0{"id":8}\0`;
    const found = Array.from(long).flatMap((sign) => messages.append(Buffer.from(sign)));
    expect(found).toEqual([{ head: long.slice(0, 64) }, { text: '{"id":8}' }]);
  });
});
