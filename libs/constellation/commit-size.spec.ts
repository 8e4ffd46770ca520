import { describe, expect, it } from '@jest/globals';
import { LIMITS, type TaskConstellation } from '#proto';
import { completed, constellation, device, failed, fleet, Story, submit, verb, WAKE } from './testing/given.js';
import { jsonBytes } from './values/json-bytes.js';
import { isTerminal } from './state/run.js';

const ONE = fleet([device('web-1', { tasksMax: 10_000 })]);
/** What the inputs of one commit may leave in it, beside what follows from them. */
const INPUT_BYTES = 256 * 1024;
/** The shortest one that is worth a long sentence: a request has room for most of these. */
const CONDITION = 'result.a.b == 1';
const long = (index: number) => `t${index}`;

/** As many lines as a request may hold, each with a condition that is not satisfied and is worth a sentence. */
function conditional(ends: (index: number) => readonly [number, number], count: number): TaskConstellation {
  const tasks = Array.from({ length: LIMITS.tasksMax }, (_, index) => long(index));
  const plan = constellation(tasks);
  const lines = Array.from({ length: count }, (_, index) => {
    const [from, to] = ends(index).map(long);
    return { id: `l${index}`, from: from ?? '', to: to ?? '', type: 'conditional' as const, condition: CONDITION };
  });
  return { ...plan, lines };
}

describe('the largest constellation that a request may hold', () => {
  it.each([
    ['a fan of conditions', conditional((index) => [0, 1 + (index % 1_999)], 1_999)],
    [
      'ten lines between each two tasks of a chain',
      conditional((index) => [index % 1_999, (index % 1_999) + 1], 9_995),
    ],
  ])('every commit of %s stays below the limit, whoever ends it', (_, plan) => {
    for (const end of [failed(long(0)), completed(long(0)), verb({ verb: 'CANCEL' })]) {
      expect(jsonBytes(plan)).toBeLessThan(LIMITS.requestBytesMax * 1.6); // the defaults that a request leaves out
      const story = new Story().on(ONE).when(submit(plan));
      const small = (): void => expect(jsonBytes(story.last?.events) + INPUT_BYTES).toBeLessThan(LIMITS.commitBytesMax);
      story.when(end);
      small();
      for (let commits = 0; story.last?.wakeAt !== null && story.run.doomed.size > 0; commits++) {
        expect(commits).toBeLessThan(20);
        story.when(WAKE);
        small();
      }
      if (end.kind === 'verb') continue;
      expect(isTerminal(story.run)).toBe(true);
    }
  });
});
