import { describe, expect, it } from '@jest/globals';
import { LIMITS } from './limits.js';
import { ACK_WAIT_MS, allDurables, BUCKETS, DURABLES, PULL_EXPIRY_MS, STREAMS, type StreamSpec } from './streams.js';
import { PARTITIONS, subjects } from './subjects.js';

const streams: readonly StreamSpec[] = Object.values(STREAMS);

/** Whether a subject could match both filters: then two streams would store it, which the server refuses. */
function overlap(one: string, other: string): boolean {
  const [a, b] = [one.split('.'), other.split('.')];
  for (let index = 0; index < Math.max(a.length, b.length); index++) {
    if (a[index] === '>' || b[index] === '>') return true;
    if (a[index] === undefined || b[index] === undefined) return false;
    if (a[index] !== '*' && b[index] !== '*' && a[index] !== b[index]) return false;
  }
  return true;
}

/** Whether every subject of the filter is one of the stream's. */
function isWithin(filter: string, subject: string): boolean {
  const [wanted, stored] = [filter.split('.'), subject.split('.')];
  if (stored.at(-1) !== '>' && wanted.length !== stored.length) return false;
  return stored.every((token, index) => token === '>' || token === '*' || token === wanted[index]);
}

describe('streams', () => {
  it('are stored under their own names, and no subject belongs to two', () => {
    for (const [name, spec] of Object.entries(STREAMS)) expect(spec.name).toBe(name);
    const all = streams.flatMap((stream) => stream.subjects.map((subject) => ({ stream: stream.name, subject })));
    const clashes = all.flatMap((one) =>
      all.filter((other) => one.stream < other.stream && overlap(one.subject, other.subject)),
    );
    expect(clashes).toEqual([]);
  });

  it('that are the truth cannot be deleted from, and are kept for ever', () => {
    for (const { denyDelete, ageMsMax } of [
      STREAMS.RUNS,
      STREAMS.ATTEMPTS,
      STREAMS.PLANS,
      STREAMS.FLEET,
      STREAMS.ACTORS,
      STREAMS.ATTENTION,
    ] as readonly StreamSpec[]) {
      expect(denyDelete).toBe(true);
      expect(ageMsMax).toBeUndefined();
    }
  });

  it('let a scheduler in only where nobody outside may publish', () => {
    expect(streams.filter(({ schedules }) => schedules === true).map(({ name }) => name)).toEqual(['TIMERS']);
  });

  it('store what the server lets through, and every commit', () => {
    for (const { messageBytesMax } of streams) expect(messageBytesMax).toBeLessThanOrEqual(LIMITS.natsPayloadBytesMax);
    expect(STREAMS.RUNS.messageBytesMax).toBe(LIMITS.commitBytesMax);
    expect(STREAMS.REQUESTS.messageBytesMax).toBeGreaterThan(LIMITS.requestBytesMax);
  });

  it('republish a run where interfaces follow it, never onto a stored subject', () => {
    const { republish } = STREAMS.RUNS;
    expect(republish.source).toBe(subjects.anyRun);
    expect(republish.destination.replace('{{wildcard(1)}}', 'r1')).toBe(subjects.liveRun('r1'));
    for (const subject of streams.flatMap((stream) => stream.subjects)) {
      expect(overlap(subject, subjects.anyLiveRun)).toBe(false);
    }
  });
});

describe('durables', () => {
  it('have names of their own, and filters within their stream', () => {
    const durables = allDurables();
    expect(new Set(durables.map(({ durable }) => durable)).size).toBe(durables.length);
    for (const { stream, filters } of durables) {
      const stored: readonly string[] = STREAMS[stream].subjects;
      for (const filter of filters) expect(stored.some((subject) => isWithin(filter, subject))).toBe(true);
    }
  });

  it('are one per partition for the inputs of runs', () => {
    const partitioned = allDurables().filter(({ durable }) => /-\d+$/u.test(durable));
    expect(partitioned).toHaveLength(PARTITIONS * 3);
    expect(allDurables()).toHaveLength(PARTITIONS * 3 + Object.keys(DURABLES).length);
  });

  it('give a message to the next one soon after its owner has died', () => {
    expect(ACK_WAIT_MS).toBe(3_000);
    expect(PULL_EXPIRY_MS).toBeLessThan(ACK_WAIT_MS);
  });
});

describe('buckets', () => {
  it('are named by their key, and what vanishes is written again by its owners', () => {
    for (const [name, spec] of Object.entries(BUCKETS)) expect(spec.bucket).toBe(name);
    expect(BUCKETS.PRESENCE).toMatchObject({ ttlMs: LIMITS.presenceTtlMs, rebuilt: true });
    expect(BUCKETS.MEMBERS).toMatchObject({ ttlMs: LIMITS.memberTtlMs, rebuilt: true });
  });
});
