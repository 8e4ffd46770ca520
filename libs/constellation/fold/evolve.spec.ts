import { describe, expect, it } from '@jest/globals';
import type { RunCommit, RunEvent } from '#proto';
import { evolve, evolveCommit, foldEvents, foldRun, RunDraft, withVerbs } from './evolve.js';
import {
  add,
  ALICE,
  ask,
  completed,
  constellation,
  failed,
  HASH,
  instant,
  propose,
  Story,
  submit,
  verb,
} from '../testing/given.js';
import { editPolicyOf, emptyRun, findTask, lockPolicyOf, type Run } from '../state/run.js';

/** What the shell makes of the events of one decision. */
function commitOf(
  number: number,
  first: number,
  events: readonly RunEvent[],
  causes: RunCommit['causes'] = [],
): RunCommit {
  return {
    commit: `01ARZ3NDEKTSV4RRFFQ69G5FA${number}`,
    runId: 'run-1',
    number,
    prevHash: HASH,
    hash: `${number}`.repeat(64),
    at: instant(0),
    by: { service: 'orchestrator', instance: 'test' },
    causes,
    events: events.map((event, index) => ({
      id: `run-1-${first + index}`,
      sequence: first + index,
      schemaVersion: 1,
      ...event,
    })),
  };
}

const story = () =>
  new Story().when(submit(constellation(['a', 'b'], ['a->b']), { options: { editPolicy: 'when-needed' } }));

describe('a commit', () => {
  it('is folded with its number, its hash, how far it goes, and the verbs that it decided', () => {
    const first = story();
    const second = story().when(verb({ verb: 'PAUSE' }));
    const causes: RunCommit['causes'] = [
      { kind: 'verb', id: 'v1' },
      { kind: 'verb', id: 'v2', rejected: true },
      { kind: 'timer', id: 't1' },
    ];
    const commits = [commitOf(1, 1, first.events), commitOf(2, 4, second.last?.events ?? [], causes)];
    const run = foldRun(commits);
    expect(run).toMatchObject({ phase: 'PAUSED', number: 2, hash: '2'.repeat(64), sequence: 4 });
    expect([...(run?.verbs ?? [])]).toEqual([
      ['v1', { sequence: 4, rejected: false }],
      ['v2', { sequence: 4, rejected: true }],
    ]);
    expect(evolveCommit(evolveCommit(undefined, commits[0] as RunCommit), commits[1] as RunCommit)).toEqual(run);
  });

  it('without verbs leaves those that were decided as they are', () => {
    const verbs = new Map([['v1', { sequence: 1, rejected: false }]]);
    expect(withVerbs(verbs, [{ kind: 'timer', id: 't' }], 9)).toBe(verbs);
    expect(withVerbs(verbs, [{ kind: 'verb', id: 'v2' }], 9).size).toBe(2);
    expect(verbs.size).toBe(1);
  });

  it('of nothing folds to nothing', () => {
    expect(foldRun([])).toBeUndefined();
  });
});

describe('a fold', () => {
  it('leaves every state before as it was', () => {
    const { events } = story()
      .when(failed('a'))
      .when(propose('e1', [add.task('n'), add.line('a->n')]));
    const states = events.reduce<Run[]>((all, event) => [...all, evolve(all.at(-1) ?? emptyRun('run-1'), event)], []);
    const texts = () =>
      states.map((run) => JSON.stringify([run, [...run.tasks], [...run.lines], [...run.ready], [...run.running]]));
    const before = texts();
    for (const [index, event] of events.entries()) {
      expect(evolve(states[index - 1] ?? emptyRun('run-1'), event)).toEqual(states[index]);
    }
    expect(texts()).toEqual(before);
  });

  it('in a draft is seen at once, and keeps the events', () => {
    const draft = new RunDraft(story().run);
    draft.add({ type: 'RUN_PAUSED', data: { by: 'system', reason: 'x', pausedAt: instant(0) } });
    expect(draft.run.phase).toBe('PAUSED');
    expect(draft.events).toHaveLength(1);
  });

  it('takes no notice of an annotation', () => {
    const { run } = story();
    const event: RunEvent = {
      type: 'RUN_ANNOTATED',
      data: { kind: 'late_result', taskId: 'a', attempt: 1, text: 'x', attemptHash: HASH, annotatedAt: instant(0) },
    };
    expect(evolve(run, event)).toEqual(run);
  });

  it('stops at a fact that it does not know: no state is better than a wrong one', () => {
    expect(() => evolve(story().run, { type: 'RUN_EXPLODED', data: {} } as never)).toThrow(
      'unknown fact: {"type":"RUN_EXPLODED"',
    );
  });

  it.each<[string, () => Run, RunEvent, string]>([
    [
      'a task nobody knows',
      () => story().run,
      {
        type: 'TASK_SKIPPED',
        data: { taskId: 'z', by: 'failure', lineId: 'l', reason: '', lines: [], skippedAt: instant(0) },
      },
      'no task or line has the id z',
    ],
    [
      'a task before there is a constellation',
      () => new Story().when(ask()).run,
      { type: 'TASK_REOPENED', data: { taskId: 'z', attempt: 1, reason: 'operator', notBefore: instant(0) } },
      'no task or line has the id z',
    ],
    [
      'a creation without a constellation',
      () => new Story().when(ask()).run,
      {
        type: 'CONSTELLATION_MODIFIED',
        data: { revision: 1, origin: 'request', tasks: 1, lines: 0, modifiedAt: instant(0) },
      },
      'was created without a constellation',
    ],
    [
      'a refusal outside of a round',
      () => story().run,
      {
        type: 'EDIT_REJECTED',
        data: {
          editId: 'e1',
          try: 1,
          revision: 1,
          violations: [{ code: 'I2_ACYCLIC', path: 'edits', message: 'x' }],
          lockPolicy: 'scoped',
          proposedBy: ALICE,
          rejectedAt: instant(0),
          planHash: null,
        },
      },
      'outside of a round',
    ],
    [
      'an edit that cannot be applied',
      () => story().run,
      {
        type: 'CONSTELLATION_MODIFIED',
        data: {
          revision: 2,
          origin: 'operator',
          tasks: 1,
          lines: 0,
          modifiedAt: instant(0),
          edits: [{ tool: 'remove_task', taskId: 'a' }],
        },
      },
      'a recorded edit cannot be applied: "a" is RUNNING',
    ],
  ])('stops at a fact that contradicts those before it: %s', (_, before, event, message) => {
    expect(() => evolve(before(), event)).toThrow(message);
  });

  it('judges a line once: what followed from it has happened', () => {
    const { run } = story().when(completed('a'));
    const again: RunEvent = {
      type: 'TASK_SKIPPED',
      data: {
        taskId: 'a',
        by: 'failure',
        lineId: 'x',
        reason: 'x',
        lines: [{ id: 'a-b', satisfied: false, reason: 'x' }],
        skippedAt: instant(0),
      },
    };
    expect(evolve(run, again).lines.at(0)).toEqual({ satisfied: true, reason: null });
  });
});

describe('what a run is asked decides', () => {
  const asked = (request: Parameters<typeof submit>[1]) => new Story().when(submit(constellation(['a']), request)).run;

  it('when the planner is asked', () => {
    expect(editPolicyOf(asked({}))).toBe('never');
    expect(editPolicyOf(new Story().when(ask()).run)).toBe('when-needed');
    expect(editPolicyOf(asked({ options: { editPolicy: 'every-result' } }))).toBe('every-result');
    expect(editPolicyOf(emptyRun('r'))).toBe('when-needed');
  });

  it('what an open round holds', () => {
    expect(lockPolicyOf(asked({}))).toBe('scoped');
    expect(lockPolicyOf(asked({ options: { lockPolicy: 'strict' } }))).toBe('strict');
    expect(lockPolicyOf(emptyRun('r'))).toBe('scoped');
  });

  it('what there is of it', () => {
    expect(findTask(asked({}), 'a')?.status).toBe('RUNNING');
    expect(findTask(asked({}), 'z')).toBeUndefined();
    expect(findTask(emptyRun('r'), 'a')).toBeUndefined();
  });
});

it('folding all at once is folding one by one, also through an edit', () => {
  const { events } = story()
    .when(failed('a'))
    .when(propose('e1', [add.task('n'), add.line('a->n')]));
  const oneByOne = events.reduce(evolve, emptyRun('run-1'));
  expect(foldEvents(emptyRun('run-1'), events)).toEqual(oneByOne);
});
