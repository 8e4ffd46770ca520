import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Edit, EditViolation, RunEvent, TaskConstellation } from '#proto';
import { IS_DEEP } from '#libs/testing';
import { batchOf, plans, resultOf, shuffled } from './testing/arbitrary.js';
import type { Input } from './decide/input.js';
import { applyEdits } from './edits/edit.js';
import { foldEvents } from './fold/evolve.js';
import type { FleetView } from './edits/fleet-view.js';
import { device, failed, fleet, propose, Story, submit, T0 } from './testing/given.js';
import { checkInvariants } from './fold/invariants.js';
import { findTask, isTerminal, type Run } from './state/run.js';
import { viewOf } from './views/view.js';

const CASES = IS_DEEP ? 12_000 : 4_000;
/** One device takes them all: which of several would take a task depends on the order in which tasks became ready. */
const FREE = fleet([device('web-1', { tasksMax: 100 })]);
/** Nothing starts: what an edit and results make of a run is seen without what the scheduler makes of it. */
const FULL: FleetView = { ...FREE, slotsLeft: 0 };

interface Case {
  readonly plan: TaskConstellation;
  readonly lockPolicy: 'strict' | 'scoped';
  readonly editPolicy: 'every-result' | 'when-needed';
  /** What happens before the round that is looked at is open. */
  readonly before: readonly number[];
  readonly free: boolean;
  readonly results: readonly number[];
  readonly order: readonly number[];
  readonly batch: readonly number[];
}

const cases: fc.Arbitrary<Case> = fc.record({
  plan: plans,
  lockPolicy: fc.constantFrom('strict', 'scoped'),
  editPolicy: fc.constantFrom('every-result', 'when-needed'),
  before: fc.array(fc.nat(1_000), { maxLength: 6 }),
  free: fc.boolean(),
  results: fc.array(fc.nat(1_000), { minLength: 4, maxLength: 9 }),
  order: fc.array(fc.nat(1_000), { minLength: 4, maxLength: 9 }),
  batch: fc.array(fc.nat(1_000_000), { minLength: 1, maxLength: 5 }),
});

/** A run with an open round, tasks that run and tasks that wait; undefined when this one came to none. */
function withOpenRound({ plan, lockPolicy, editPolicy, before, free }: Case): Run | undefined {
  const options = { lockPolicy, editPolicy };
  const story = new Story().on(FREE).when(submit(plan, { options }));
  const endOne = (seed: number, end: (task: Run['tasks'] extends Iterable<infer T> ? T : never) => Input | null) => {
    const running = [...story.run.running].map((index) => story.run.tasks.at(index));
    const task = running[seed % Math.max(1, running.length)];
    const input = task === undefined ? null : end(task);
    if (input !== null) story.when(input);
  };
  for (const seed of before) {
    const { editing } = story.run;
    if (editing === null) endOne(seed, (task) => resultOf(task, seed));
    else if (seed % 3 === 0) break;
    else story.when(propose(editing.editId, []));
  }
  story.on(free ? FREE : FULL);
  for (let tries = 0; tries < 6 && story.run.editing === null; tries++) {
    endOne(tries, ({ star, attempt }) => failed(star.id, attempt));
  }
  return story.run.editing === null || isTerminal(story.run) ? undefined : story.run;
}

function resultsOf(run: Run, { results, order }: Case): Input[] {
  const running = [...run.running].map((index) => run.tasks.at(index));
  const inputs = running.flatMap((task, index) => resultOf(task, results[index % results.length] ?? 0) ?? []);
  return shuffled(inputs, order);
}

/** What can be applied to the run as it stands, and now and then something that an order of the results might allow. */
function validBatchOf(run: Run, seeds: readonly number[]): Edit[] {
  return seeds.reduce<Edit[]>((kept, seed) => {
    const more = [...kept, ...batchOf(run, [seed])];
    return seed % 9 === 0 || applyEdits(run, more, T0).ok ? more : kept;
  }, []);
}

/** A way from the open round to where the edit has been judged and all the results are told. */
interface Way {
  readonly story: Story;
  /** What happened before the edit was judged. */
  readonly meanwhile: readonly RunEvent[];
  readonly violations: readonly EditViolation[] | null;
}

function go(from: Run, view: FleetView, commits: readonly (readonly Input[])[]): Way {
  const story = new Story().from(from).on(view);
  for (const inputs of commits) story.when(...inputs);
  const judged = story.events.findIndex(({ type }) => type === 'CONSTELLATION_MODIFIED' || type === 'EDIT_REJECTED');
  const event = story.events[judged];
  expect(checkInvariants(story.run)).toEqual([]);
  return {
    story,
    meanwhile: story.events.slice(0, judged),
    violations: event?.type === 'EDIT_REJECTED' ? event.data.violations : null,
  };
}

/**
 * All that can be observed of a run, by id: the view, the state of every task and line, what is ready, doomed, queued and
 * asked. Left out are orders that follow from the order of the inputs and decide nothing but it: of triggers, of the ready
 * set, and of names in the sentence that says what a run waits for.
 */
function observable(run: Run) {
  const view = viewOf(run);
  const byId = <T extends { readonly id: string }>(items: readonly T[]) =>
    Object.fromEntries(items.map((item) => [item.id, item]));
  const idsOf = (positions: Iterable<number>) => [...positions].map((index) => run.tasks.at(index).star.id).toSorted();
  const sorted = (items: readonly unknown[]) => items.map((item) => JSON.stringify(item)).toSorted();
  return {
    ...view,
    waitingFor: view.waitingFor === null ? null : { ...view.waitingFor, detail: '' },
    editing: view.editing === null ? null : { ...view.editing, triggers: sorted(view.editing.triggers) },
    tasks: byId(view.tasks),
    lines: byId(view.lines),
    taskStates: Object.fromEntries([...run.tasks].map((task) => [task.star.id, task])),
    lineStates: Object.fromEntries(
      [...run.graph.lines].map((line, index) => [line.id, { line, ...run.lines.at(index) }]),
    ),
    sets: [run.ready, run.doomed, run.running, run.timed].map(idsOf),
    counts: run.counts,
    queued: sorted(run.queued),
    usedIds: [...run.usedIds].toSorted(),
    ends: [run.ending, run.endOfPlanRevision, run.rounds, run.plannerSilent],
  };
}

const stands = (events: readonly RunEvent[]) =>
  events.every(({ type }) => type !== 'TASK_STARTED' && type !== 'TASK_SKIPPED');

/** `clear` removes what has not started: a start or a skip changes what it says. */
const clears = (edits: readonly Edit[]) => edits.some((edit) => edit.tool === 'build_constellation' && edit.clear);

/** The tasks for which I3 refused one way, and which were PENDING the other way: the order made the difference. */
function racedTasks(from: Run, refused: Way, taken: Way): string[] {
  const [there, here] = [refused, taken].map(({ meanwhile }) => foldEvents(from, meanwhile));
  const status = (run: Run | undefined, id: string) => (run === undefined ? undefined : findTask(run, id)?.status);
  return (refused.violations ?? [])
    .filter(({ code }) => code === 'I3_ONLY_PENDING')
    .map(({ message }) => /leads to "(?<id>[^"]+)"|^"(?<id>[^"]+)"/u.exec(message)?.groups?.['id'] ?? '')
    .filter((id) => status(there, id) !== 'PENDING' && status(here, id) === 'PENDING');
}

/**
 * Edit-sync confluence (paper, appendix A): within one lock interval, `Apply` of an edit and `Sync` of completions and
 * failures commute. A run with an open round, a batch of edits and results of tasks that run are taken in three orders:
 *
 * - results first: each in a commit of its own while the round is open, then the edit, which ends the round;
 * - together: the results and then the edit in one commit;
 * - edit first: the edit and then the results in one commit, so that the lock is let go when both are in.
 *
 * Where the edit is accepted, the observable state afterwards is the same, what the scheduler starts and skips when the lock
 * is let go and the round that follows included. What it starts or skips *while* the round is open is no part of the
 * statement: `Apply` and `Sync` commute because they touch different parts of the state, and a start or a skip touches the
 * part that an edit may touch, too. Under the strict lock there is none, which is asserted; under the scoped lock those cases
 * are compared no further. If one order takes the edit and another does not, then it is refused by I3 for a task that the
 * order made non-PENDING (a failure that is tried again makes one PENDING, so that may go either way round), or what `clear`
 * says was changed by a start or a skip.
 */
describe('an edit and the results that come while it is made', () => {
  it('commute', () => {
    const seen = { rounds: 0, compared: 0, strict: 0, raced: 0, interleaved: 0 };
    fc.assert(
      fc.property(cases, (given) => {
        const from = withOpenRound(given);
        const editId = from?.editing?.editId;
        if (from === undefined || editId === undefined) return;
        seen.rounds++;
        const results = resultsOf(from, given);
        const edits = validBatchOf(from, given.batch);
        const edit = propose(editId, edits);
        const view = given.free ? FREE : FULL;
        const first = go(from, view, [...results.map((result) => [result]), [edit]]);
        const together = go(from, view, [[...results, edit]]);
        const last = go(from, view, [[edit, ...results]]);
        const untouched = stands(first.meanwhile);
        if (given.lockPolicy === 'strict') expect(untouched).toBe(true);
        for (const way of untouched ? [first, together] : [together]) {
          if (way.violations === null && last.violations === null) {
            expect(observable(way.story.run)).toEqual(observable(last.story.run));
            expect(way.story.last?.wakeAt).toBe(last.story.last?.wakeAt);
            seen.compared++;
            if (given.lockPolicy === 'strict') seen.strict++;
          }
        }
        for (const way of [first, together]) {
          if ((way.violations === null) === (last.violations === null)) continue;
          seen.raced++;
          const [refused, taken] = way.violations === null ? [last, way] : [way, last];
          const byClear = !stands(way.meanwhile) && clears(edits);
          if (!byClear) expect(racedTasks(from, refused, taken)).not.toEqual([]);
        }
        if (!untouched) seen.interleaved++;
      }),
      { numRuns: CASES, seed: 20_260_130 },
    );
    // It says something only of cases with a round, and of ways that took the edit.
    expect(seen.rounds).toBeGreaterThanOrEqual(CASES * 0.8);
    expect(seen.compared).toBeGreaterThan(CASES);
    expect(seen.strict).toBeGreaterThan(CASES / 2);
    expect(seen.interleaved).toBeGreaterThan(CASES / 30);
    expect(seen.raced).toBeGreaterThan(CASES / 120);
  }, 120_000);
});
