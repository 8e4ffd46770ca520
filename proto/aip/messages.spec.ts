import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { ClientMessage } from './client-messages.js';
import { ServerMessage } from './server-messages.js';

interface Line {
  readonly from: 'device' | 'server';
  readonly frame: unknown;
}

const fixture = (name: string): unknown =>
  JSON.parse(readFileSync(join(import.meta.dirname, '../fixtures/aip', name), 'utf8'));

const schemaOf = ({ from }: Line) => (from === 'device' ? ClientMessage : ServerMessage);

describe('AIP messages', () => {
  it.each(['orrery-conversation.json', 'ufo-register-heartbeat.json', 'ufo-two-commands.json', 'ufo-failures.json'])(
    'are read as in %s',
    (name) => {
      const lines = fixture(name) as Line[];
      expect(lines.length).toBeGreaterThan(2);
      for (const line of lines) expect(schemaOf(line).safeParse(line.frame)).toMatchObject({ success: true });
    },
  );

  it('of our own revision keep every field', () => {
    for (const line of fixture('orrery-conversation.json') as Line[]) {
      expect(schemaOf(line).parse(line.frame)).toMatchObject(line.frame as object);
    }
  });

  it('that are none of a client are refused', () => {
    const frames = fixture('ufo-first-frames.json') as unknown[];
    const read = frames.map((frame) => ClientMessage.safeParse(frame).success);
    // Not JSON; a task, which comes too early but can be read; then: no client_id, no status, no such role, four registers.
    expect(read).toEqual([false, true, true, false, false, true, true, true, true]);
  });
});
