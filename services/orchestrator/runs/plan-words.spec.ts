import { describe, expect, it, jest } from '@jest/globals';
import type { Run } from '#libs/constellation';
import { CorruptLogError, LoadError, memoryPlanLog } from '#libs/event-log';
import { maySpeak, planWord, storedWords } from './plan-words.client.js';
import { evaluated, failed, planned, PlannerHand, proposed, USED } from '../plans.testing.js';

const RUN = 'run-1';
const open = (editId: string, tries = 0): Run => ({ runId: RUN, editing: { editId, tries } }) as Run;

describe('what a commit of the planner says to its run', () => {
  it.each([
    [
      'a proposal',
      [planned(), proposed({}, 'a')],
      'e1.1',
      { kind: 'proposal', by: { kind: 'system', id: 'planner' }, source: 'model', used: USED },
    ],
    ['a failure', [failed('no model')], 'e1.1', { kind: 'round-failed', editId: 'e1', try: 1, used: USED }],
    ['a judgement', [evaluated('well done')], 'evaluation', { kind: 'evaluated', used: USED }],
  ])('is %s, with the end of the chain that led there', async (_, events, id, input) => {
    const commit = await new PlannerHand(memoryPlanLog()).write(RUN, ...events);
    expect(planWord(commit)).toMatchObject({ cause: { kind: 'plan', id }, input: { ...input, planHash: commit.hash } });
  });

  it('is nothing while it thinks, and one thing at a time', async () => {
    const hand = new PlannerHand(memoryPlanLog());
    expect(planWord(await hand.write(RUN, planned()))).toBeUndefined();
    const both = await hand.write(RUN, proposed({}, 'a'), failed('both'));
    expect(() => planWord(both)).toThrow('2 things');
    const unasked = await hand.write(RUN, proposed({ editId: null }, 'a'));
    expect(() => planWord(unasked)).toThrow('answers no round');
  });

  it('shows in its header, where it has one', () => {
    expect(maySpeak({ header: () => 'ROUND_PLANNED,RUN_SUMMARISED' })).toBe(false);
    expect(maySpeak({ header: () => 'ROUND_PLANNED,PLAN_PROPOSED' })).toBe(true);
    expect(maySpeak({ header: () => undefined })).toBe(true);
  });
});

describe('what is stored when a run is taken over', () => {
  it('is the word of its open round and of its next try, and no other', async () => {
    const plans = memoryPlanLog();
    const hand = new PlannerHand(plans);
    await hand.write(RUN, planned(), proposed({}, 'a'));
    await hand.write(RUN, planned({ try: 2 }));
    const second = await hand.write(RUN, proposed({ try: 2 }, 'b'));
    expect(await storedWords(plans, open('e1', 1))).toMatchObject([{ input: { planHash: second.hash } }]);
    expect(await storedWords(plans, open('e1', 2))).toEqual([]);
    expect(await storedWords(plans, open('e2'))).toEqual([]);
    expect(await storedWords(plans, { runId: RUN, editing: null } as Run)).toEqual([]);
  });

  it('keeps no run from being served when it cannot be read', async () => {
    const plans = memoryPlanLog();
    await new PlannerHand(plans).write(RUN, proposed({}, 'a'), failed('both'));
    expect(await storedWords(plans, open('e1'))).toEqual([]);
    const load = jest.spyOn(plans, 'load');
    load.mockRejectedValueOnce(new CorruptLogError(RUN, []));
    expect(await storedWords(plans, open('e1'))).toEqual([]);
    load.mockRejectedValueOnce(new LoadError(RUN));
    await expect(storedWords(plans, open('e1'))).rejects.toThrow(LoadError);
  });
});
