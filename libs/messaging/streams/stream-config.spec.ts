import { describe, expect, it } from '@jest/globals';
import { allDurables, STREAMS } from '#proto';
import { allSettings, consumerSetting, driftOf, streamSetting } from './stream-config.js';

describe('driftOf', () => {
  it('ignores what the server adds and what it leaves out because it is nothing', () => {
    expect(driftOf({ a: 1, b: false, c: 0 }, { a: 1, d: 'added' })).toEqual([]);
  });

  it('names each difference with both values', () => {
    expect(driftOf({ a: 1, b: ['x'] }, { a: 2, b: ['y'] })).toEqual([
      { field: 'a', wanted: 1, found: 2 },
      { field: 'b', wanted: ['x'], found: ['y'] },
    ]);
  });

  it('looks into nested settings', () => {
    const wanted = { republish: { src: 'a', dest: 'b' } };
    expect(driftOf(wanted, { republish: { src: 'a', dest: 'b', headers_only: false } })).toEqual([]);
    expect(driftOf(wanted, { republish: { src: 'a', dest: 'c' } })).toHaveLength(1);
    expect(driftOf(wanted, {})).toHaveLength(1);
  });
});

describe('the settings', () => {
  it('keep the event log for ever', () => {
    expect(streamSetting(STREAMS.RUNS)).toMatchObject({
      deny_delete: true,
      max_age: 0,
      max_msgs: -1,
      max_bytes: -1,
      max_msgs_per_subject: -1,
      discard: 'new',
      storage: 'file',
    });
    expect(streamSetting(STREAMS.RUNS).persist_mode).toBeUndefined();
  });

  it('sync everything but the buckets that are rebuilt', () => {
    const unsynced = allSettings().streams.filter(({ persist_mode: mode }) => mode === 'async');
    expect(unsynced.map(({ name }) => name)).toEqual(['KV_PRESENCE', 'KV_MEMBERS']);
  });

  it('let no durable lose a message: explicit acks, no limit to deliveries', () => {
    for (const spec of allDurables()) {
      expect(consumerSetting(spec)).toMatchObject({ ack_policy: 'explicit', max_deliver: -1, max_ack_pending: -1 });
    }
  });
});
