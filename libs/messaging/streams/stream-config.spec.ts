import { describe, expect, it } from '@jest/globals';
import { allDurables, DURABLES, STREAMS } from '#proto';
import {
  allStreamSettings,
  consumerSetting,
  driftOf,
  driftText,
  durableDrift,
  streamSetting,
} from './stream-config.js';

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

describe('durableDrift', () => {
  const spec = DURABLES.deviceAgentAttempts;
  const asItIs = {
    ...consumerSetting(spec),
    name: spec.durable,
    num_replicas: 1,
    max_waiting: 512,
    metadata: { a: 'b' },
  };

  it('finds nothing in a durable as the server has it, with what the server adds', () => {
    expect(durableDrift(spec, { ...asItIs, backoff: [], headers_only: false })).toEqual([]);
  });

  it.each([
    ['ack_wait', 60_000_000_000],
    ['max_ack_pending', 1],
    ['max_deliver', 1],
    ['ack_policy', 'none'],
    ['deliver_policy', 'new'],
    ['replay_policy', 'original'],
    ['filter_subject', 'orrery.run.other'],
    ['filter_subjects', ['orrery.run.other']],
    ['headers_only', true],
    ['deliver_subject', 'orrery.device.web-1.command'],
    ['pause_until', '2030-01-01T00:00:00Z'],
    ['inactive_threshold', 1],
    ['max_batch', 1],
    ['backoff', [1]],
    ['something a later server knows', 1],
  ])('finds a strange %s', (field, value) => {
    expect(durableDrift(spec, { ...asItIs, [field]: value })).toMatchObject([{ field, found: value }]);
  });

  it('says in words what differs', () => {
    const drift = durableDrift(spec, { ...asItIs, ack_wait: 1, headers_only: true });
    expect(driftText(drift)).toBe('ack_wait is 1, not 3000000000; headers_only is true, not absent');
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

  it('sync everything but the buckets that are rebuilt, and what is kept elsewhere, too', () => {
    const unsynced = allStreamSettings().filter(({ persist_mode: mode }) => mode === 'async');
    expect(unsynced.map(({ name }) => name)).toEqual(['OUTPUT', 'KV_PRESENCE', 'KV_MEMBERS']);
  });

  it('let no durable lose a message: explicit acks, no limit to deliveries', () => {
    for (const spec of allDurables()) {
      expect(consumerSetting(spec)).toMatchObject({ ack_policy: 'explicit', max_deliver: -1, max_ack_pending: -1 });
    }
  });
});
