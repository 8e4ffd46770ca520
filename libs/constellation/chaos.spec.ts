import { beforeAll, describe, expect, it, jest } from '@jest/globals';
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
import { isSameState } from './same-state.testing.js';
import { emptyRun, hasPlan, isTerminal, type Run } from './state/run.js';
import { REQUESTED, TrustAudit } from './testing/trust.js';
import { viewOf } from './views/view.js';

// Seconds on a quiet machine; the limit is for one that is not.
jest.setTimeout(120_000);

const CASES = IS_DEEP ? 400 : 200;
/** Where something is looked for that seldom happens. */
const MANY_CASES = 400;
const SEED = 20_260_148;

interface Step {
  readonly event: RunEvent;
  readonly from: Run;
  readonly to: Run;
}

/** One commit of a run, with the states that it goes through. */
interface Commit {
  readonly story: Story;
  readonly before: Run;
  readonly now: number;
  readonly steps: readonly Step[];
}

/** What is asked of a run: after each commit, and when it is over. */
interface Look {
  readonly each?: (commit: Commit) => void;
  readonly end?: (story: Story) => void;
}

/** What must hold of every run; `look` is made anew for each. */
interface Law {
  readonly what: string;
  readonly cases: number;
  readonly look: () => Look;
  /** The law is about runs in which certain things happen: when all were looked at. */
  readonly seen?: () => void;
}

/** Every state that the commit goes through, event by event. */
function prefixes(before: Run, events: readonly RunEvent[]): Step[] {
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

/** Plays one run, and asks all of it that is to be asked. */
function play(given: Chaos, looks: readonly Look[]): void {
  const story = playChaos(given, (at, before, now) => {
    const commit = { story: at, before, now, steps: prefixes(before, at.last?.events ?? []) };
    for (const { each } of looks) each?.(commit);
  });
  for (const { end } of looks) end?.(story);
}

const soundness = { edits: 0, rejected: 0, abandoned: 0, starts: 0, retried: 0, forced: 0, evaluated: 0 };
const trust = { judged: 0, beyond: 0, waited: 0, answers: 0, failed: 0, rounds: 0, enough: 0, broke: 0, asked: 0 };
const ends = new Set<string>();

const LAWS: readonly Law[] = [
  {
    what: 'keeps the invariants after every event, and every edit leaves alone what has started',
    cases: CASES,
    look: () => ({
      each: ({ steps }) => {
        expect(steps.flatMap(({ to }) => checkInvariants(to))).toEqual([]);
        expect(steps.flatMap(({ from, event, to }) => checkEdit(from, event, to))).toEqual([]);
        expect(steps.flatMap(({ from, event, to }) => checkBudget(from, event, to))).toEqual([]);
        for (const { event } of steps) {
          if (event.type === 'CONSTELLATION_MODIFIED' && (event.data.edits?.length ?? 0) > 0) soundness.edits++;
          if (event.type === 'EDIT_REJECTED') soundness.rejected++;
          if (event.type === 'EDIT_ABANDONED') soundness.abandoned++;
          if (event.type === 'TASK_STARTED') soundness.starts++;
          if (event.type === 'TASK_REOPENED' && event.data.reason === 'operator') soundness.retried++;
          if (event.type === 'TASK_STOP_REQUESTED' && event.data.reason !== 'timeout') soundness.forced++;
          if (event.type === 'RUN_ANNOTATED' && event.data.kind === 'evaluation') soundness.evaluated++;
        }
      },
    }),
    seen: () => expect(Object.entries(soundness).filter(([, count]) => count < CASES / 5)).toEqual([]),
  },
  {
    what: 'starts and skips nothing that is held, and starts nothing while it is paused or about to end',
    cases: CASES,
    look: () => ({
      each: ({ steps }) => {
        const wrong = steps.filter(({ event, from }) => {
          if (event.type !== 'TASK_STARTED' && event.type !== 'TASK_SKIPPED') return false;
          const index = from.graph.taskIndex.get(event.data.taskId) ?? -1;
          if (isHeld(from)(index)) return true;
          if (event.type === 'TASK_SKIPPED') return !from.doomed.has(index);
          const { notBefore } = from.tasks.at(index);
          const early = notBefore !== null && event.data.startedAt < notBefore;
          return from.phase !== 'RUNNING' || from.ending !== null || !from.ready.has(index) || early;
        });
        expect(wrong.map(({ event }) => event)).toEqual([]);
      },
    }),
  },
  {
    what: 'believes no model, and nobody who is no operator: what they wrote is judged, stays in the scope of its plan, and hides nothing in its answer',
    cases: MANY_CASES,
    look: () => {
      const audit = new TrustAudit();
      return {
        each: ({ story, steps }) => {
          if (JSON.stringify(story.last?.answers).includes('for which the plan was not made')) trust.beyond++;
          for (const { event, to } of steps) {
            expect([...audit.take(event, to, story.fleet)]).toEqual([]);
            if (event.type === 'TASK_STARTED' && event.data.judge === true) trust.judged++;
            if (event.type === 'CONSTELLATION_MODIFIED' && event.data.trace?.thought === REQUESTED.thought)
              trust.asked++;
            if (to.waitsFor !== null) trust.waited++;
            if (event.type === 'RUN_COMPLETED' && event.data.answer !== undefined) trust.answers++;
            if (event.type === 'EDIT_ABANDONED' && event.data.reason.code === 'PLANNER_FAILED') trust.failed++;
            if (event.type === 'EDIT_OPENED' && event.data.budget !== undefined) trust.rounds++;
            if (event.type === 'EDIT_OPENED' && event.data.budget?.llmCalls === 0) trust.broke++;
            if (event.type === 'EDIT_ABANDONED' && event.data.reason.code === 'TOO_MANY_ROUNDS') trust.enough++;
            if (event.type === 'EDIT_OPENED') expect(to.noMoreRounds).toBeNull();
          }
        },
      };
    },
    seen: () => expect(Object.entries(trust).filter(([, count]) => count < MANY_CASES / 20)).toEqual([]),
  },
  {
    what: 'is rebuilt from its events alone: one at a time, all at once, and as decided',
    cases: CASES,
    look: () => ({
      each: ({ story: { last, run } }) => {
        if (last !== undefined && isSameState(last.run, run)) return;
        expect(last === undefined ? '' : stateOf(last.run)).toBe(stateOf(run));
      },
      end: ({ events, run }) => {
        expect(stateOf(events.reduce(evolve, emptyRun('run-1')))).toBe(stateOf(run));
        expect(stateOf(foldEvents(emptyRun('run-1'), events))).toBe(stateOf(run));
      },
    }),
  },
  {
    what: 'leaves nothing undone: a commit is all that follows, and what is decided again adds nothing',
    cases: CASES,
    look: () => ({
      each: ({ story: { run, last, fleet }, now }) => {
        const again = decide(run, [WAKE], { fleet, now: T0 + now, planner: true });
        expect(again.events).toEqual([]);
        // What it would wait for then is waited for already: a wake-up may be too early, never too late.
        expect(last?.wakeAt ?? Infinity).toBeLessThanOrEqual(again.wakeAt ?? Infinity);
      },
    }),
  },
  {
    what: 'always says what it waits for, and is looked at again later',
    cases: CASES,
    look: () => ({
      each: ({ story: { run, last }, now }) => {
        if (run.phase === 'NONE') return;
        const over = isTerminal(run);
        expect(viewOf(run).waitingFor === null).toBe(over);
        expect(last?.wakeAt === null).toBe(over);
        if (over) return;
        expect(last?.wakeAt).toBeGreaterThan(T0 + now);
        for (const owed of owedBy(run, T0 + now)) expect(last?.wakeAt).toBeLessThanOrEqual(owed);
      },
    }),
  },
  {
    what: 'ends when somebody resumes it, and stays as it ended until a retry',
    cases: CASES,
    look: () => ({
      each: ({ steps }) => {
        for (const { event, from } of steps) {
          if (isTerminal(from)) expect(['RUN_ANNOTATED', 'RUN_REOPENED']).toContain(event.type);
        }
      },
      end: ({ run }) => {
        expect(isTerminal(run)).toBe(true);
        ends.add(run.phase);
      },
    }),
    seen: () => expect([...ends].toSorted()).toEqual(['CANCELLED', 'COMPLETED', 'FAILED']),
  },
  {
    what: 'leaves facts that can be recorded and read again',
    cases: 200,
    look: () => ({
      end: ({ events }) => {
        const recorded = events.map((event, index) => ({
          id: `run-1-${index + 1}`,
          sequence: index + 1,
          schemaVersion: 1,
          ...event,
        }));
        expect(recorded.map((event) => RecordedRunEvent.parse(event))).toEqual(recorded);
        expect(JSON.parse(JSON.stringify(recorded))).toEqual(recorded);
      },
    }),
  },
  {
    what: 'can be forked after every commit, and the fork is sound, too',
    cases: 200,
    look: () => ({
      each: ({ story, now }) => {
        if (!hasPlan(story.run)) return;
        const parent = { ...story.run, sequence: story.events.length, number: 1, hash: HASH };
        const forked = forkedFrom({ run: parent, by: ALICE, requestId: 'f', now: T0 + now });
        const fork = new Story().from(emptyRun('run-2')).on(story.fleet).at(now);
        fork.when({ kind: 'fork', id: 'f', forked });
        expect(prefixes(emptyRun('run-2'), fork.events).flatMap(({ to }) => checkInvariants(to))).toEqual([]);
        const { COMPLETED } = parent.counts;
        expect(fork.run.counts.COMPLETED).toBe(COMPLETED);
        expect(fork.last?.wakeAt === null).toBe(isTerminal(fork.run));
      },
    }),
  },
];

/** Says of each law whether it was broken by a run. Each run is played once for all of them: that is most of what it costs. */
function brokenLaws(): ReadonlySet<Law> {
  const broken = new Set<Law>();
  let cases = 0;
  const runs = fc.property(chaos, (given) => {
    const asked = LAWS.filter((law) => cases < law.cases && !broken.has(law));
    cases++;
    const guarded = asked.map((law): Look => {
      const look = law.look();
      const unlessBroken =
        <T>(ask: ((of: T) => void) | undefined) =>
        (of: T): void => {
          if (broken.has(law)) return;
          try {
            ask?.(of);
          } catch {
            broken.add(law);
          }
        };
      return { each: unlessBroken(look.each), end: unlessBroken(look.end) };
    });
    play(given, guarded);
  });
  fc.assert(runs, { numRuns: MANY_CASES, seed: SEED });
  return broken;
}

describe('every run, whatever its planner, its operator and its devices do', () => {
  let broken: ReadonlySet<Law>;

  beforeAll(() => {
    broken = brokenLaws();
  });

  it.each(LAWS)('$what', (law) => {
    // Played again for the law alone, until the smallest run is found that breaks it.
    if (broken.has(law)) {
      const alone = fc.property(chaos, (given) => play(given, [law.look()]));
      fc.assert(alone, { numRuns: law.cases, seed: SEED });
    }
    expect(broken.has(law)).toBe(false);
    law.seen?.();
  });
});
