import { describe, expect, it } from '@jest/globals';
import { NO_USAGE, PlanCommit, type PlanEvent, type Proposal } from '#proto';
import { CALL, HASH, planCommit, tools } from './given.testing.js';
import { evolvePlan, foldPlan, NO_PLAN, roundsAsked, tryOf } from './plan-state.js';

const round = { editId: 'e1', try: 1 };
const asked = { calls: [], templates: [] };
const planned: PlanEvent = {
  type: 'ROUND_PLANNED',
  data: { ...round, mode: 'creation', source: 'model', ...asked, revision: 0, reply: { thought: 'x' } },
};
const used = { llmCalls: 1, tokens: 100, commands: 0, costUsd: 0.5 };
const proposal: Proposal = { editId: 'e1', try: 1, baseRevision: 0, state: 'CONTINUE', edits: [] };
const proposed: PlanEvent = { type: 'PLAN_PROPOSED', data: { proposal, source: 'model', used } };
const roundFailed: PlanEvent = {
  type: 'ROUND_FAILED',
  data: { ...round, try: 2, ...asked, error: { code: 'NO_MODEL', message: 'nobody' }, used },
};

describe('the plan of a run', () => {
  it('is nothing before anything was recorded', () => {
    expect(foldPlan([])).toEqual({ tries: [], evaluation: null, example: null, used: NO_USAGE });
  });

  it('keeps what was planned and proposed for a try together', () => {
    const plan = foldPlan([planCommit([planned, proposed])]);
    expect(plan.tries).toEqual([{ ...round, planned: planned.data, proposal, source: 'model', failed: null }]);
    expect(plan.used).toEqual(used);
  });

  it('knows a reply that nothing was made of yet', () => {
    const plan = foldPlan([planCommit([planned])]);
    expect(tryOf(plan, 'e1', 1)).toMatchObject({ planned: planned.data, proposal: null, failed: null });
    expect(plan.used).toEqual(NO_USAGE);
  });

  it('is the same for one commit and for two', () => {
    expect(foldPlan([planCommit([planned]), planCommit([proposed], 1)])).toEqual(
      foldPlan([planCommit([planned, proposed])]),
    );
  });

  it('knows that a try came to nothing, and what everything cost', () => {
    const plan = foldPlan([planCommit([planned, proposed, roundFailed])]);
    expect(tryOf(plan, 'e1', 2)).toMatchObject({ proposal: null, failed: roundFailed.data });
    expect(plan.used).toEqual({ llmCalls: 2, tokens: 200, commands: 0, costUsd: 1 });
  });

  it('tells the tries of rounds apart', () => {
    const plan = foldPlan([planCommit([planned, proposed])]);
    expect(tryOf(plan, 'e2', 1)).toBeUndefined();
    expect(tryOf(plan, 'e1', 2)).toBeUndefined();
  });

  it('knows in which rounds a model was asked: whatever came of it, and all tries of a round once', () => {
    const said = (event: PlanEvent, editId: string, number = 1): PlanEvent =>
      ({ ...event, data: { ...event.data, editId, try: number, calls: [CALL] } }) as PlanEvent;
    const plan = foldPlan([
      planCommit([planned, proposed]), // by a rule: nobody was asked
      planCommit([said(planned, 'e2'), said(planned, 'e2', 2)], 2),
      planCommit([said(roundFailed, 'e3'), { ...roundFailed, data: { ...roundFailed.data, used: NO_USAGE } }], 4),
    ]);
    expect([...roundsAsked(plan)]).toEqual(['e2', 'e3']);
    expect(roundsAsked(NO_PLAN).size).toBe(0);
  });

  it('counts no round in which no model could be reached', () => {
    const error = { code: 'CIRCUIT_OPEN', message: 'it was not asked' };
    const call = { ...CALL, reply: null, error, tokens: { prompt: 0, completion: 0 } };
    const why = { code: 'MODEL_UNAVAILABLE', message: 'it was not asked' };
    const data = { ...round, calls: [call], templates: [], error: why, used: NO_USAGE };
    expect(roundsAsked(foldPlan([planCommit([{ type: 'ROUND_FAILED', data }])])).size).toBe(0);
  });

  it('knows what the run was found to be worth, and what was learnt of it', () => {
    const evaluation = {
      reason: 'r',
      sub_scores: [{ name: 's', evaluation: 'yes' as const }],
      complete: 'yes' as const,
    };
    const example = { request: 'look after disks', tips: [], constellation: tools(['a']) };
    const plan = foldPlan([
      planCommit([
        { type: 'RUN_EVALUATED', data: { ...asked, evaluation, used } },
        { type: 'RUN_SUMMARISED', data: { ...asked, exampleId: 'x1', example } },
      ]),
    ]);
    expect(plan).toEqual({
      tries: [],
      evaluation: { of: null, evaluation },
      example: { exampleId: 'x1', example },
      used,
    });
  });

  it('stops at a fact that it does not know', () => {
    const unknown = { ...planCommit([planned]), events: [{ type: 'ROUND_DREAMT', data: {} }] };
    expect(() => evolvePlan(NO_PLAN, unknown as never)).toThrow('unknown fact: {"type":"ROUND_DREAMT","data":{}}');
  });

  it('leaves what it was made from as it was', () => {
    const before = foldPlan([planCommit([planned])]);
    const copy = structuredClone(before);
    evolvePlan(before, planCommit([proposed], 1));
    expect(before).toEqual(copy);
  });

  it('is folded from commits as they cross the wire', () => {
    const commit = { ...planCommit([planned, proposed]), hash: HASH };
    expect(foldPlan([PlanCommit.parse(JSON.parse(JSON.stringify(commit)))])).toEqual(foldPlan([commit]));
  });
});
