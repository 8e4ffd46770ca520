import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { RunEvent, TaskConstellation } from '#proto';
import { plans } from './testing/arbitrary.js';
import type { Input } from './decide/input.js';
import { evolve, foldEvents } from './fold/evolve.js';
import { completed, device, failed, fleet, Story, submit, WAKE } from './testing/given.js';
import { checkInvariants } from './fold/invariants.js';
import { emptyRun, isTerminal, type Run } from './state/run.js';
import { validateConstellation } from './plan/validate.js';
import { viewOf } from './views/view.js';

const CASES = 1_000;
const STEPS_MAX = 400;

interface Played {
  readonly plan: TaskConstellation;
  readonly slots: number;
  readonly seeds: readonly number[];
}

const chaos: fc.Arbitrary<Played> = fc.record({
  plan: plans,
  slots: fc.integer({ min: 1, max: 3 }),
  seeds: fc.array(fc.nat(1_000), { minLength: 30, maxLength: 30 }),
});

/** Drives a run with results, duplicates, stale attempts, silence and time until it is over. */
function play({ plan, slots, seeds }: Played, each: (story: Story) => void = () => undefined): Story {
  const view = fleet([device('web-1', { tasksMax: slots }), device('db-1', { tasksMax: slots })]);
  const story = new Story().on(view).when(submit(plan));
  each(story);
  let now = 0;
  for (let step = 0; !isTerminal(story.run) && step < STEPS_MAX; step++) {
    const seed = (seeds[step % seeds.length] ?? 0) + step * 7;
    now += seed % 3 === 0 ? 20_000 : 400;
    story.at(now).when(...inputs(story.run, seed));
    each(story);
  }
  return story;
}

function inputs(run: Run, seed: number): Input[] {
  const running = [...run.running].map((index) => run.tasks.at(index));
  const chosen = running.filter((_, index) => (seed >> index) % 2 === 0);
  return [
    WAKE,
    ...chosen.flatMap(({ star, attempt }, index): Input[] => {
      const kind = (seed + index) % 6;
      if (kind === 0) return [failed(star.id, attempt)];
      if (kind === 1) return [failed(star.id, attempt, 'unknown')];
      if (kind === 2) return [completed(star.id, attempt), completed(star.id, attempt)];
      if (kind === 3) return [completed(star.id, attempt - 1), completed(star.id, attempt, { exit_code: 1 })];
      return [completed(star.id, attempt)];
    }),
  ];
}

describe('every run, whatever comes', () => {
  it('keeps the invariants after every commit and ends', () => {
    fc.assert(
      fc.property(chaos, (given) => {
        const story = play(given, ({ run }) => expect(checkInvariants(run)).toEqual([]));
        expect(isTerminal(story.run)).toBe(true);
      }),
      { numRuns: CASES, seed: 20_260_101 },
    );
  });

  it('is rebuilt from its events alone: one at a time, all at once, and as decided', () => {
    fc.assert(
      fc.property(chaos, (given) => {
        const live: Run[] = [];
        const { events, run } = play(given, (story) => live.push(story.last?.run ?? story.run));
        const oneByOne = events.reduce((state: Run, event: RunEvent) => evolve(state, event), emptyRun('run-1'));
        expect(viewOf(oneByOne)).toEqual(viewOf(run));
        expect(viewOf(foldEvents(emptyRun('run-1'), events))).toEqual(viewOf(run));
        const decided = live.at(-1);
        expect(decided === undefined ? undefined : viewOf(decided)).toEqual(viewOf(run));
      }),
      { numRuns: CASES, seed: 20_260_102 },
    );
  });

  it('runs each task at most once at a time, never before its lines are satisfied, and never beyond the slots', () => {
    fc.assert(
      fc.property(chaos, (given) => {
        const { events } = play(given);
        const open = new Map<string, string>();
        const ended = new Set<string>();
        for (const event of events) {
          if (event.type === 'TASK_STARTED') {
            const { taskId, deviceId } = event.data;
            expect(open.has(taskId)).toBe(false);
            for (const line of given.plan.lines) if (line.to === taskId) expect(ended).toContain(line.from);
            open.set(taskId, deviceId);
            expect([...open.values()].filter((id) => id === deviceId).length).toBeLessThanOrEqual(given.slots);
          }
          if (
            event.type === 'TASK_COMPLETED' ||
            event.type === 'TASK_FAILED' ||
            event.type === 'TASK_CANCELLED' ||
            event.type === 'TASK_SKIPPED'
          ) {
            open.delete(event.data.taskId);
            ended.add(event.data.taskId);
          }
        }
        expect(open.size).toBe(0);
      }),
      { numRuns: CASES, seed: 20_260_103 },
    );
  });

  it('always says what it waits for and when it is looked at again', () => {
    fc.assert(
      fc.property(chaos, (given) => {
        play(given, ({ run, last }) => {
          const over = isTerminal(run);
          expect(viewOf(run).waitingFor === null).toBe(over);
          expect(last?.wakeAt === null).toBe(over);
        });
      }),
      { numRuns: CASES, seed: 20_260_104 },
    );
  });
});

describe('validation', () => {
  it('accepts every DAG and names a real cycle in every graph that is none', () => {
    fc.assert(
      fc.property(plans, fc.nat(8), fc.nat(8), (plan, one, other) => {
        expect(validateConstellation(plan)).toEqual([]);
        const [from, to] = [plan.tasks[Math.max(one, other)]?.id, plan.tasks[Math.min(one, other)]?.id];
        if (from === undefined || to === undefined) return;
        const lines = [...plan.lines, { id: 'back', from, to, type: 'unconditional' as const }];
        const [issue] = validateConstellation({ ...plan, lines });
        const path = /form a cycle: (?<path>[^;]+);/u.exec(issue?.message ?? '')?.groups?.['path']?.split(' -> ');
        if (path === undefined) {
          expect(issue).toBeUndefined();
          return;
        }
        expect(path[0]).toBe(path.at(-1));
        path
          .slice(1)
          .forEach((id, index) => expect(lines.some((line) => line.from === path[index] && line.to === id)).toBe(true));
      }),
      { numRuns: CASES, seed: 20_260_105 },
    );
  });
});
