import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ID_PATTERN } from './ids.js';
import {
  attemptOfSubject,
  deviceIdOfSubject,
  partitionOf,
  PARTITIONS,
  runIdOfSubject,
  subjects,
  type AttemptSubjectKind,
} from './subjects.js';

const SEED = 20261120;
const RUN = '0123456789abcdefghjkmnpqrs';
const id = fc.stringMatching(ID_PATTERN);
const kind = fc.constantFrom<AttemptSubjectKind>('step', 'ask', 'end', 'late');
const key = fc.record({ runId: id, taskId: id, attempt: fc.integer({ min: 1, max: 1_000 }) });

/** NATS: `*` is one token, `>` at the end is one or more. */
function matches(filter: string, subject: string): boolean {
  const wanted = filter.split('.');
  const tokens = subject.split('.');
  const rest = wanted.at(-1) === '>';
  if (rest ? tokens.length < wanted.length : tokens.length !== wanted.length) return false;
  return wanted.every((token, index) => token === '*' || token === '>' || token === tokens[index]);
}

describe('subjects', () => {
  it('are spelt as contracted', () => {
    const attempt = { runId: RUN, taskId: 'mem-1', attempt: 2 };
    const p = partitionOf(RUN);
    expect(subjects.run(RUN)).toBe(`orrery.run.${RUN}`);
    expect(subjects.liveRun(RUN)).toBe(`orrery.live.run.${RUN}`);
    expect(subjects.attempt(attempt, 'end')).toBe(`orrery.attempt.${p}.${RUN}.mem-1.2.end`);
    expect(subjects.fleet('web-1')).toBe('orrery.fleet.web-1');
    expect(subjects.runTimer(RUN)).toBe(`orrery.timer.run.${p}.${RUN}`);
    expect(subjects.runDue(RUN)).toBe(`orrery.due.run.${p}.${RUN}`);
    expect(subjects.deviceTimer('web-1')).toBe('orrery.timer.device.web-1');
    expect(subjects.feed(RUN, 'TASK_STARTED', 'anna')).toBe(`orrery.feed.${RUN}.TASK_STARTED.anna`);
    expect(subjects.answerTo('anna', 'r1')).toBe('orrery.answers.anna.r1');
    expect(subjects.verb(RUN, 'SUBMIT')).toBe(`orrery.command.${p}.${RUN}.SUBMIT`);
    expect(subjects.deviceCommand('web-1')).toBe('orrery.device.web-1.command');
    expect(subjects.query('registry', 'devices')).toBe('orrery.v.registry.devices');
    expect([subjects.requests, subjects.submit, subjects.answer('r1'), subjects.dlq('logging')]).toEqual([
      'orrery.requests',
      'orrery.submit',
      'orrery.answer.r1',
      'orrery.dlq.logging',
    ]);
  });

  it('are read back as they were built', () => {
    fc.assert(
      fc.property(key, kind, (attempt, of) => {
        expect(attemptOfSubject(subjects.attempt(attempt, of))).toEqual({ ...attempt, kind: of });
        for (const subject of [
          subjects.run(attempt.runId),
          subjects.attempt(attempt, of),
          subjects.feed(attempt.runId, 'RUN_COMPLETED', 'anna'),
          subjects.verb(attempt.runId, 'SUBMIT'),
          subjects.runTimer(attempt.runId),
          subjects.runDue(attempt.runId),
          subjects.plan(attempt.runId),
        ]) {
          expect(runIdOfSubject(subject)).toBe(attempt.runId);
        }
        for (const subject of [
          subjects.fleet(attempt.taskId),
          subjects.deviceTimer(attempt.taskId),
          subjects.deviceDue(attempt.taskId),
        ]) {
          expect(deviceIdOfSubject(subject)).toBe(attempt.taskId);
        }
      }),
      { seed: SEED },
    );
  });

  it('are covered by the filters of those who read them, and by no other aggregate', () => {
    fc.assert(
      fc.property(key, key, kind, (attempt, other, of) => {
        const subject = subjects.attempt(attempt, of);
        for (const filter of [
          subjects.attemptFilter(attempt),
          subjects.attemptsOfRun(attempt.runId),
          subjects.attemptsOfPartition(partitionOf(attempt.runId), of),
          subjects.anyAttempt,
        ]) {
          expect(matches(filter, subject)).toBe(true);
        }
        expect(matches(subjects.attemptFilter(other), subject)).toBe(JSON.stringify(other) === JSON.stringify(attempt));
        const partition = partitionOf(attempt.runId);
        expect(matches(subjects.runsDueOfPartition(partition), subjects.runDue(attempt.runId))).toBe(true);
        expect(matches(subjects.verbsOfPartition(partition), subjects.verb(attempt.runId, 'SUBMIT'))).toBe(true);
        expect(matches(subjects.plansOfPartition(partition), subjects.plan(attempt.runId))).toBe(true);
        expect(matches(subjects.anyPlan, subjects.plan(attempt.runId))).toBe(true);
        expect(matches(subjects.anyRun, subjects.run(attempt.runId))).toBe(true);
        expect(matches(subjects.anyDeviceDue, subjects.deviceDue(attempt.taskId))).toBe(true);
        expect(matches(subjects.anyDeviceDue, subjects.runDue(attempt.runId))).toBe(false);
        expect(matches(subjects.anyDeviceCommand, subjects.deviceCommand(attempt.taskId))).toBe(true);
        for (const event of [
          subjects.feed(attempt.runId, 'RUN_FAILED', 'anna'),
          `orrery.feed.${attempt.runId}.RUN_FAILED`,
        ]) {
          expect([subjects.anyFeed, subjects.feedOfRun(attempt.runId)].every((filter) => matches(filter, event))).toBe(
            true,
          );
          expect(matches(subjects.feedOf('berta'), event)).toBe(false);
        }
      }),
      { seed: SEED },
    );
  });

  it('of something else belong to no run and no attempt', () => {
    for (const subject of ['', 'orrery', subjects.requests, subjects.fleet('x'), subjects.deviceTimer('x')]) {
      expect(runIdOfSubject(subject)).toBeUndefined();
      expect(attemptOfSubject(subject)).toBeUndefined();
    }
    const attempt = subjects.attempt({ runId: 'r', taskId: 't', attempt: 1 }, 'end');
    expect(attemptOfSubject(`${attempt}.more`)).toBeUndefined();
    expect(attemptOfSubject(attempt.replace(/end$/u, 'begin'))).toBeUndefined();
  });
});

describe('partitions', () => {
  it('never change: moving a run would need every subject that carries one to move', () => {
    expect(PARTITIONS).toBe(32);
    // Published values of FNV-1a (32 bit), modulo 32, and two ids of ours.
    expect(partitionOf('')).toBe(0x811c9dc5 % 32);
    expect(partitionOf('a')).toBe(0xe40c292c % 32);
    expect(partitionOf('foobar')).toBe(0xbf9cf968 % 32);
    expect(partitionOf(RUN)).toBe(6);
    expect(partitionOf('zyxwvtsrqpnmkjhgfedcba9876')).toBe(27);
  });

  it('get about the same number of runs each', () => {
    const counts = Array.from({ length: PARTITIONS }, () => 0);
    const runs = 32_000;
    for (let index = 0; index < runs; index++) {
      const partition = partitionOf(`run${index.toString(32).padStart(23, '0')}`);
      counts[partition] = (counts[partition] ?? 0) + 1;
    }
    expect(Math.min(...counts)).toBeGreaterThan((runs / PARTITIONS) * 0.8);
    expect(Math.max(...counts)).toBeLessThan((runs / PARTITIONS) * 1.2);
  });
});
