import { describe, expect, it } from '@jest/globals';
import { sealCommit } from '#libs/event-log';
import { GENESIS_HASH, type ModelCall, NO_USAGE, type PlanCommit, type RunEventData } from '#proto';
import { auditRun } from './audit-run.js';
import type { ExportRecord } from './export-file.js';
import { findingText } from './findings.js';
import { editedRun, sampleRun } from '#libs/testing';

const { altered, dataOf, edited, groupsOf, recordsOf, RUN, Told } = editedRun;
type Told = editedRun.Told;
const { sealRun } = sampleRun;

const { steps } = edited();
const CALL: ModelCall = {
  model: 'some-model',
  endpoint: 'main',
  promptHash: 'a'.repeat(64),
  parameters: {},
  reply: '{}',
  problems: [],
  error: null,
  tokens: { prompt: 1, completion: 1 },
  costUsd: null,
  startedAt: '2026-01-01T00:00:00.000Z',
  durationMs: 1,
};
const plansOf = (records: readonly ExportRecord[]) => records.filter(({ stream }) => stream === 'PLANS');

/** The findings after somebody altered the planner's steps, and what the run allows, and made all hashes again. */
function replanned(
  alter: (plans: PlanCommit[]) => void,
  options: RunEventData<'RUN_REQUESTED'>['options'] = {},
): string {
  const records = recordsOf(steps);
  const plans = structuredClone(plansOf(records)).map(({ commit }) => commit as PlanCommit);
  alter(plans);
  let prevHash = GENESIS_HASH;
  const sealed = plans.map((plan, index): ExportRecord => {
    const { hash: _, prevHash: __, ...content } = plan;
    const commit = sealCommit({ ...content, number: index + 1 }, prevHash);
    prevHash = commit.hash;
    return { stream: 'PLANS', subject: plansOf(records)[0]?.subject ?? '', sequence: 100 + index, commit };
  });
  const groups = groupsOf(steps);
  Object.assign(dataOf(groups, 'RUN_REQUESTED').options, options);
  const { findings } = auditRun(RUN, [...sealRun(groups, RUN), ...sealed]);
  return findings.map(findingText).join('\n');
}

/** A model was asked for every try of these rounds. */
function asking(...editIds: readonly string[]): (plans: PlanCommit[]) => void {
  return (plans) => {
    const [first] = plans;
    const planned = first?.events.find(({ type }) => type === 'ROUND_PLANNED');
    if (first === undefined || planned?.type !== 'ROUND_PLANNED') throw new Error('nothing was planned');
    first.events = editIds.map((editId, index) => {
      const data = { ...planned.data, editId, try: index + 1, source: 'model' as const, calls: [CALL] };
      return { ...planned, id: `p.${index}`, sequence: index + 1, data };
    });
    plans.length = 1;
  };
}

/** After those of `asking`, the planner gives a round up for having asked too often. */
function givingUp(...editIds: readonly string[]): (plans: PlanCommit[]) => void {
  return (plans) => {
    asking(...editIds)(plans);
    const error = { code: 'TOO_MANY_ROUNDS', message: 'enough' };
    const data = { editId: 'e9', try: 1, calls: [], templates: [], error, used: NO_USAGE };
    const sequence = editIds.length + 1;
    plans[0]?.events.push({ id: `p.${sequence}`, sequence, schemaVersion: 1, type: 'ROUND_FAILED', data });
  };
}

/** After `e1`, in which a model was asked, it could not be reached any more. */
function away(...editIds: readonly string[]): (plans: PlanCommit[]) => void {
  return (plans) => {
    asking('e1')(plans);
    const error = { code: 'MODEL_UNAVAILABLE', message: 'it was not asked' };
    const call = { ...CALL, reply: null, error, tokens: { prompt: 0, completion: 0 } };
    const failures = editIds.map((editId, index) => {
      const data = { editId, try: 1, calls: [call], templates: [], error, used: NO_USAGE };
      return {
        id: `p.${index + 2}`,
        sequence: index + 2,
        schemaVersion: 1 as const,
        type: 'ROUND_FAILED' as const,
        data,
      };
    });
    plans[0]?.events.push(...failures);
  };
}

describe('the steps of the planner', () => {
  it('are as they were written, and are counted', () => {
    const { findings, plans } = auditRun(RUN, recordsOf(steps));
    expect([findings, plans]).toEqual([[], 2]);
  });

  it('are missed when they are taken out', () => {
    const { findings } = auditRun(
      RUN,
      recordsOf(steps).filter(({ stream }) => stream !== 'PLANS'),
    );
    expect(findings.map(findingText)).toEqual([
      expect.stringMatching(/EDIT_REJECTED: no commit of PLANS has the hash/u),
      expect.stringMatching(/CONSTELLATION_MODIFIED: no commit of PLANS has the hash/u),
    ]);
  });

  it('are a chain', () => {
    const records = structuredClone(recordsOf(steps));
    const [, second] = plansOf(records);
    Object.assign(second?.commit as object, { at: '2026-01-01T09:00:00.000Z' });
    expect(auditRun(RUN, records).findings.map(findingText).join()).toContain('PLANS commit 2: its hash is not');
  });

  it('cannot be exchanged for others', () => {
    const found = replanned(([first]) => {
      const [planned] = first?.events ?? [];
      if (planned?.type === 'ROUND_PLANNED') planned.data.revision = 9;
    });
    expect(found).toContain('EDIT_REJECTED: no commit of PLANS has the hash');
  });

  it('are noticed when the run was edited in another way', () => {
    const found = altered(edited(), (groups) => {
      const modified = groups.flat().findLast(({ type }) => type === 'CONSTELLATION_MODIFIED');
      if (modified?.type === 'CONSTELLATION_MODIFIED') modified.data.edits = modified.data.edits?.slice(0, 1) ?? [];
    });
    expect(found).toContain('CONSTELLATION_MODIFIED: the edits are not those that were proposed');
  });

  it('are noticed when a refusal names another try', () => {
    const groups = groupsOf(steps);
    dataOf(groups, 'EDIT_REJECTED').planHash = 'b'.repeat(64);
    const others = recordsOf(steps).filter(({ stream }) => stream !== 'RUNS');
    const { findings } = auditRun(RUN, [...sealRun(groups, RUN), ...others]);
    expect(findings.map(findingText).join()).toContain(
      'EDIT_REJECTED: no commit of PLANS has the hash bbbbbbbbbbbbbbbb',
    );
  });

  it.each<[string, (plans: PlanCommit[]) => void, string]>([
    [
      'proposes what nobody planned',
      ([first]) => void first?.events.shift(),
      'e1 try 1 was proposed and never planned',
    ],
    [
      'plans one try twice',
      ([first, second]) => {
        const again = first?.events[0];
        if (again !== undefined) second?.events.unshift(again);
      },
      'e1 try 1 was planned before',
    ],
    [
      'proposes one try twice',
      ([first, second]) => {
        const again = first?.events[1];
        if (again !== undefined) second?.events.push(again);
      },
      'e1 try 1 was proposed before',
    ],
    [
      'says that a model planned it, and has no call of one',
      ([first]) => {
        const [planned] = first?.events ?? [];
        if (planned?.type === 'ROUND_PLANNED') planned.data.source = 'model';
      },
      'e1 try 1 comes from a model, with 0 calls of a model',
    ],
    [
      'says that a rule planned it, and has a call of a model',
      ([first]) => {
        const [planned] = first?.events ?? [];
        if (planned?.type === 'ROUND_PLANNED') planned.data.calls = [CALL];
      },
      'e1 try 1 comes from a rule, with 1 calls of a model',
    ],
  ])('are noticed when one %s', (_, alter, finding) => expect(replanned(alter)).toContain(finding));

  it('may use a reply again that was asked for in an earlier try of the round', () => {
    const found = replanned(([first, second]) => {
      for (const plan of [first, second]) {
        for (const event of plan?.events ?? []) {
          if (event.type !== 'ROUND_PLANNED') continue;
          event.data.source = 'model';
          event.data.calls = event.data.try === 1 ? [CALL] : [];
        }
      }
    });
    expect(found).not.toContain('comes from a model');
  });
});

describe('rounds in which a model may be asked', () => {
  it.each<[string, (plans: PlanCommit[]) => void, number, string]>([
    ['were too many', asking('e1', 'e2', 'e3'), 2, 'e3 is round 3 in which a model was asked; options.rounds allows 2'],
    ['were none', asking('e1'), 0, 'e1 is round 1 in which a model was asked; options.rounds allows 0'],
    ['were left', givingUp('e1', 'e2'), 3, 'e9 gives up after 2 of 3 rounds in which a model may be asked'],
  ])('are noticed when they %s', (_, alter, rounds, finding) =>
    expect(replanned(alter, { rounds })).toContain(finding),
  );

  it.each<[string, (plans: PlanCommit[]) => void, number | undefined]>([
    ['are as many as they may', asking('e1', 'e2', 'e2', 'e1'), 2],
    ['are given up for being as many', givingUp('e1', 'e2'), 2],
    ['are not bounded by anything that is written down', asking('e1', 'e2', 'e3'), undefined],
    ['came to nothing because no model could be reached', away('e2', 'e3'), 1],
  ])('are no finding when they %s', (_, alter, rounds) => {
    expect(replanned(alter, rounds === undefined ? {} : { rounds })).not.toMatch(/rounds? /u);
  });
});

describe('a planner that has asked often enough', () => {
  const told = (code = 'TOO_MANY_ROUNDS'): Told => {
    const history = new Told().ends('a');
    const { editId = '' } = history.run.editing ?? {};
    const error = { code, message: 'options.rounds lets no model be asked in this run' };
    history.decide([history.failing({ editId, try: 1, error })]);
    return code === 'TOO_MANY_ROUNDS' ? history.ends('b').ends('c') : history;
  };

  it('ends its run in order', () => {
    const { steps, run } = told();
    expect(run).toMatchObject({ phase: 'COMPLETED', rounds: 1 });
    const { findings } = auditRun(RUN, recordsOf(steps));
    expect(findings.map(findingText)).toEqual([]);
  });

  it('is noticed when it is said to have given up for that, and has given up for something else', () => {
    const found = altered(told('NO_MODEL'), (groups) => {
      dataOf(groups, 'EDIT_ABANDONED').reason.code = 'TOO_MANY_ROUNDS';
    });
    expect(found).toContain('EDIT_ABANDONED: it gives up for TOO_MANY_ROUNDS, and that commit of PLANS for NO_MODEL');
  });

  it('is noticed when it is asked again', () => {
    const found = altered(told(), (groups) => {
      const opened = structuredClone(groups.flat().find(({ type }) => type === 'EDIT_OPENED'));
      if (opened?.type !== 'EDIT_OPENED') throw new Error('no round was opened');
      Object.assign(opened.data, { editId: 'e2', triggers: [{ kind: 'task', taskId: 'b', attempt: 1 }] });
      groups.at(-2)?.push(opened);
    });
    expect(found).toContain('EDIT_OPENED: no round is opened any more: options.rounds lets no model be asked');
  });
});
