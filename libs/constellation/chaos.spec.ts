import { describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { LIMITS, RecordedRunEvent, type RunEvent } from '#proto';
import { IS_DEEP } from '#libs/testing';
import { chaos, type Chaos, playChaos } from './testing/chaos.js';
import { decide } from './decide/decide.js';
import { evolve, foldEvents } from './fold/evolve.js';
import { forkedFrom } from './fold/fork.js';
import { ALICE, HASH, Story, T0, WAKE } from './testing/given.js';
import { isHeld } from './schedule/held.js';
import { checkBudget, checkEdit, checkInvariants } from './fold/invariants.js';
import { emptyRun, hasPlan, isTerminal, type Run } from './state/run.js';
import { REQUESTED, TrustAudit } from './testing/trust.js';
import { viewOf } from './views/view.js';

// Seconds on a quiet machine; the limit is for one that is not.
jest.setTimeout(120_000);

const CASES = IS_DEEP ? 400 : 200;
/** Where something is looked for that seldom happens. */
const MANY_CASES = 400;

/** Every state that the commit goes through, event by event. */
function prefixes(before: Run, events: readonly RunEvent[]): { event: RunEvent; from: Run; to: Run }[] {
  let from = before;
  return events.map((event) => {
    const step = { event, from, to: evolve(from, event) };
    from = step.to;
    return step;
  });
}

/** Everything a fold makes of events, as text. */
function stateOf({ tasks, lines, ready, doomed, running, timed, usedIds, graph, ...rest }: Run): string {
  const sets = [ready, doomed, running, timed, usedIds].map((set) => [...set]);
  const parts = [graph.name, [...graph.taskIds], [...graph.lines]];
  const lists = [[...graph.linesFrom], [...graph.linesInto]];
  return JSON.stringify([[...tasks], [...lines], sets, parts, lists, rest]);
}

/** Every instant at which something of a run is due, in milliseconds since the epoch. */
function owedBy(run: Run, now: number): number[] {
  const waiting = [...run.ready].map((index) => run.tasks.at(index).notBefore);
  const tasks = [...run.tasks].flatMap(({ status, stopping, timeoutAt, deadlineAt }) => {
    if (status === 'PENDING') return [deadlineAt];
    if (status !== 'RUNNING') return [];
    return stopping === null ? [timeoutAt, deadlineAt] : [stopping.graceUntil];
  });
  const ofRun = [run.editing?.deadlineAt, run.ending === null ? run.deadlineAt : null];
  const instants = [...waiting, ...tasks, ...ofRun].flatMap((instant) => (instant ? [Date.parse(instant)] : []));
  return [...instants.filter((instant) => instant > now), now + LIMITS.wakeUpMsMax];
}

const forAll = (seed: number, check: (given: Chaos) => void, numRuns = CASES) =>
  fc.assert(fc.property(chaos, check), { numRuns, seed });

describe('every run, whatever its planner, its operator and its devices do', () => {
  it('keeps the invariants after every event, and every edit leaves alone what has started', () => {
    const seen = { edits: 0, rejected: 0, abandoned: 0, starts: 0, retried: 0, forced: 0, evaluated: 0 };
    forAll(20_260_140, (given) => {
      playChaos(given, (story, before) => {
        const steps = prefixes(before, story.last?.events ?? []);
        expect(steps.flatMap(({ to }) => checkInvariants(to))).toEqual([]);
        expect(steps.flatMap(({ from, event, to }) => checkEdit(from, event, to))).toEqual([]);
        expect(steps.flatMap(({ from, event, to }) => checkBudget(from, event, to))).toEqual([]);
        for (const { event } of steps) {
          if (event.type === 'CONSTELLATION_MODIFIED' && (event.data.edits?.length ?? 0) > 0) seen.edits++;
          if (event.type === 'EDIT_REJECTED') seen.rejected++;
          if (event.type === 'EDIT_ABANDONED') seen.abandoned++;
          if (event.type === 'TASK_STARTED') seen.starts++;
          if (event.type === 'TASK_REOPENED' && event.data.reason === 'operator') seen.retried++;
          if (event.type === 'TASK_STOP_REQUESTED' && event.data.reason !== 'timeout') seen.forced++;
          if (event.type === 'RUN_ANNOTATED' && event.data.kind === 'evaluation') seen.evaluated++;
        }
      });
    });
    // The property is about runs in which all of that happens.
    expect(Object.entries(seen).filter(([, count]) => count < CASES / 5)).toEqual([]);
  });

  it('starts and skips nothing that is held, and starts nothing while it is paused or about to end', () => {
    forAll(20_260_141, (given) => {
      playChaos(given, (story, before) => {
        const wrong = prefixes(before, story.last?.events ?? []).filter(({ event, from }) => {
          if (event.type !== 'TASK_STARTED' && event.type !== 'TASK_SKIPPED') return false;
          const index = from.graph.taskIndex.get(event.data.taskId) ?? -1;
          if (isHeld(from)(index)) return true;
          if (event.type === 'TASK_SKIPPED') return !from.doomed.has(index);
          const { notBefore } = from.tasks.at(index);
          const early = notBefore !== null && event.data.startedAt < notBefore;
          return from.phase !== 'RUNNING' || from.ending !== null || !from.ready.has(index) || early;
        });
        expect(wrong.map(({ event }) => event)).toEqual([]);
      });
    });
  });

  it('believes no model, and nobody who is no operator: what they wrote is judged, stays in the scope of its plan, and hides nothing in its answer', () => {
    const seen = { judged: 0, beyond: 0, waited: 0, answers: 0, failed: 0, rounds: 0, enough: 0, broke: 0, asked: 0 };
    forAll(
      20_260_148,
      (given) => {
        const audit = new TrustAudit();
        playChaos(given, (story, before) => {
          if (JSON.stringify(story.last?.answers).includes('for which the plan was not made')) seen.beyond++;
          for (const { event, to } of prefixes(before, story.last?.events ?? [])) {
            expect([...audit.take(event, to, story.fleet)]).toEqual([]);
            if (event.type === 'TASK_STARTED' && event.data.judge === true) seen.judged++;
            if (event.type === 'CONSTELLATION_MODIFIED' && event.data.trace?.thought === REQUESTED.thought)
              seen.asked++;
            if (to.waitsFor !== null) seen.waited++;
            if (event.type === 'RUN_COMPLETED' && event.data.answer !== undefined) seen.answers++;
            if (event.type === 'EDIT_ABANDONED' && event.data.reason.code === 'PLANNER_FAILED') seen.failed++;
            if (event.type === 'EDIT_OPENED' && event.data.budget !== undefined) seen.rounds++;
            if (event.type === 'EDIT_OPENED' && event.data.budget?.llmCalls === 0) seen.broke++;
            if (event.type === 'EDIT_ABANDONED' && event.data.reason.code === 'TOO_MANY_ROUNDS') seen.enough++;
            if (event.type === 'EDIT_OPENED') expect(to.noMoreRounds).toBeNull();
          }
        });
      },
      MANY_CASES,
    );
    expect(Object.entries(seen).filter(([, count]) => count < MANY_CASES / 20)).toEqual([]);
  });

  it('is rebuilt from its events alone: one at a time, all at once, and as decided', () => {
    forAll(20_260_142, (given) => {
      const { events, run } = playChaos(given, (story) => {
        expect(story.last === undefined ? '' : stateOf(story.last.run)).toBe(stateOf(story.run));
      });
      expect(stateOf(events.reduce(evolve, emptyRun('run-1')))).toBe(stateOf(run));
      expect(stateOf(foldEvents(emptyRun('run-1'), events))).toBe(stateOf(run));
    });
  });

  it('leaves nothing undone: a commit is all that follows, and what is decided again adds nothing', () => {
    forAll(20_260_143, (given) => {
      playChaos(given, ({ run, last, fleet }, _, now) => {
        const again = decide(run, [WAKE], { fleet, now: T0 + now, planner: true });
        expect(again.events).toEqual([]);
        // What it would wait for then is waited for already: a wake-up may be too early, never too late.
        expect(last?.wakeAt ?? Infinity).toBeLessThanOrEqual(again.wakeAt ?? Infinity);
      });
    });
  });

  it('always says what it waits for, and is looked at again later', () => {
    forAll(20_260_144, (given) => {
      playChaos(given, ({ run, last }, _, now) => {
        if (run.phase === 'NONE') return;
        const over = isTerminal(run);
        expect(viewOf(run).waitingFor === null).toBe(over);
        expect(last?.wakeAt === null).toBe(over);
        if (over) return;
        expect(last?.wakeAt).toBeGreaterThan(T0 + now);
        for (const owed of owedBy(run, T0 + now)) expect(last?.wakeAt).toBeLessThanOrEqual(owed);
      });
    });
  });

  it('ends when somebody resumes it, and stays as it ended until a retry', () => {
    const ends = new Set<string>();
    forAll(20_260_145, (given) => {
      const story = playChaos(given, ({ last }, before) => {
        for (const { event, from } of prefixes(before, last?.events ?? [])) {
          if (isTerminal(from)) expect(['RUN_ANNOTATED', 'RUN_REOPENED']).toContain(event.type);
        }
      });
      expect(isTerminal(story.run)).toBe(true);
      ends.add(story.run.phase);
    });
    expect([...ends].toSorted()).toEqual(['CANCELLED', 'COMPLETED', 'FAILED']);
  });

  it('leaves facts that can be recorded and read again', () => {
    forAll(
      20_260_146,
      (given) => {
        const { events } = playChaos(given, () => undefined);
        const recorded = events.map((event, index) => ({
          id: `run-1-${index + 1}`,
          sequence: index + 1,
          schemaVersion: 1,
          ...event,
        }));
        expect(recorded.map((event) => RecordedRunEvent.parse(event))).toEqual(recorded);
        expect(JSON.parse(JSON.stringify(recorded))).toEqual(recorded);
      },
      200,
    );
  });

  it('can be forked after every commit, and the fork is sound, too', () => {
    forAll(
      20_260_147,
      (given) => {
        playChaos(given, (story, _, now) => {
          if (!hasPlan(story.run)) return;
          const parent = { ...story.run, sequence: story.events.length, number: 1, hash: HASH };
          const forked = forkedFrom({ run: parent, by: ALICE, requestId: 'f', now: T0 + now });
          const fork = new Story().from(emptyRun('run-2')).on(story.fleet).at(now);
          fork.when({ kind: 'fork', id: 'f', forked });
          expect(prefixes(emptyRun('run-2'), fork.events).flatMap(({ to }) => checkInvariants(to))).toEqual([]);
          const { COMPLETED } = parent.counts;
          expect(fork.run.counts.COMPLETED).toBe(COMPLETED);
          expect(fork.last?.wakeAt === null).toBe(isTerminal(fork.run));
        });
      },
      200,
    );
  });
});
