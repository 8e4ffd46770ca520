import { describe, expect, it } from '@jest/globals';
import { subjects, type Actor } from '#proto';
import { entryOfRecord } from './access-entries.js';

const KEY = `U${'A'.repeat(55)}`;
const ANNA: Actor = { kind: 'person', id: 'anna' };
const time = new Date('2026-11-20T10:00:00.000Z');
const read = (subject: string, record: unknown) =>
  entryOfRecord({ seq: 7, subject, time, data: new TextEncoder().encode(JSON.stringify(record)) }, (key) =>
    key === KEY ? ANNA : undefined,
  );

describe('a record', () => {
  const ofKey = { id: '1', what: 'EXPORTED', runId: 'run-1' };
  const ofAnna = { id: '1', what: 'RUN_READ', runId: 'run-1', actor: ANNA };

  it('of a key is of who has it, at the time of the bus', () => {
    expect(read(subjects.accessByKey(KEY), ofKey)).toEqual({
      at: time.toISOString(),
      what: 'EXPORTED',
      actor: ANNA,
      proof: 'key',
      key: KEY,
      runId: 'run-1',
      stream: 'ACCESS',
      sequence: 7,
    });
  });

  it('of a key that nobody has is told, and of nobody', () => {
    const stranger = `U${'B'.repeat(55)}`;
    expect(read(subjects.accessByKey(stranger), ofKey)).toMatchObject({ actor: null, note: 'nobody has this key' });
  });

  it('of the console is of whom it vouches for, under his subject only', () => {
    expect(read(subjects.accessAt('console', 'anna'), ofAnna)).toMatchObject({ actor: ANNA, proof: 'vouched' });
    for (const subject of [subjects.accessAt('console', 'bob'), subjects.accessAt('logging', 'anna')]) {
      expect(read(subject, ofAnna)).toMatchObject({ what: 'UNREADABLE', actor: null });
    }
    const refused = { id: '1', what: 'LOGIN_REFUSED', times: 3 };
    expect(read(subjects.accessAt('console', '_'), refused)).toMatchObject({ actor: null, proof: 'none', times: 3 });
  });

  it('in which a key speaks for somebody else, or that is none, is shown for what it is, with who wrote it', () => {
    const bob = { kind: 'person', id: 'bob' };
    for (const lie of [{ ...ofKey, actor: bob }, { ...ofKey, actor: ANNA }, { what: 'EXPORTED' }, 'x', null]) {
      expect(read(subjects.accessByKey(KEY), lie)).toMatchObject({ what: 'UNREADABLE', actor: ANNA, key: KEY });
    }
  });
});
