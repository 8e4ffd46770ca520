import { describe, expect, it } from '@jest/globals';
import type { Run } from '#libs/constellation';
import { LiveConstellation } from '#libs/constellation-mcp';
import type { VerbOutcome } from '#libs/messaging';
import { ConstellationToolCall, type Edit } from '#proto';
import { plan, Story } from '../../libs/planner/moves/given.testing.js';

const REMOVE = ConstellationToolCall.parse({ tool: 'remove_task', arguments: { task_id: 'a' } });
const story = Story.of(plan(['a', 'b'], ['a->b'])).run;
const run = (sequence: number, phase: Run['phase'] = 'RUNNING'): Run => ({ ...story, sequence, phase }) as Run;

/** Each look at the log finds the next of these; the last one stays. */
function given(runs: readonly (Run | undefined)[], outcome: VerbOutcome = { answer: 'accepted', sequence: 9 }) {
  const proposed: (readonly Edit[])[] = [];
  let looks = 0;
  const desk = new LiveConstellation({
    loadRun: async () => runs[Math.min(looks++, runs.length - 1)],
    propose: async (edits) => {
      proposed.push(edits);
      return outcome;
    },
  });
  return { desk, proposed };
}

describe('a live constellation', () => {
  it('hands in one edit for one call, and answers with what stands after it', async () => {
    const { desk, proposed } = given([run(7), run(9)]);
    expect(await desk.apply(REMOVE)).toMatchObject({ ok: true, snapshot: { sequence: 9 } });
    expect(proposed).toEqual([[{ tool: 'remove_task', taskId: 'a' }]]);
  });

  it('looks again while the log it reads is behind the answer', async () => {
    const { desk } = given([run(7), run(7), run(8), run(12)]);
    expect(await desk.apply(REMOVE)).toMatchObject({ ok: true, snapshot: { sequence: 12 } });
  });

  it('takes what is so already for a success', async () => {
    const { desk } = given([run(9)], {
      answer: 'ignored',
      sequence: 9,
      reason: { code: 'IGNORED', message: 'nothing would change', issues: [] },
    });
    expect(await desk.apply(REMOVE)).toMatchObject({ ok: true, snapshot: { sequence: 9 } });
  });

  it('says what is refused in the words of the call', async () => {
    const issues = [{ path: 'edits[0].taskId', message: '"a" is RUNNING' }];
    const { desk } = given([run(7)], {
      answer: 'rejected',
      reason: { code: 'INVALID_STATE', message: 'edits[0].taskId: "a" is RUNNING', issues },
      sequence: 7,
    });
    expect(await desk.apply(REMOVE)).toEqual({ ok: false, problems: ['task_id: "a" is RUNNING'] });
  });

  it.each<[Partial<VerbOutcome>, string]>([
    [{ reason: { code: 'UNAUTHORIZED', message: 'The grant was good until noon.', issues: [] } }, 'The grant was good'],
    [{}, 'without a reason'],
  ])('says why as it was said when no field is to blame: %p', async (outcome, said) => {
    const { desk } = given([run(7)], { answer: 'rejected', sequence: 0, ...outcome } as VerbOutcome);
    expect(await desk.apply(REMOVE)).toEqual({ ok: false, problems: [expect.stringContaining(said)] });
  });

  it('does not say that nothing was changed when nobody knows', async () => {
    const { desk } = given([run(7)], { answer: 'unknown', id: 'v1', why: 'Nobody serves the run at the moment.' });
    await expect(desk.apply(REMOVE)).rejects.toThrow('Whether it was done is not known');
  });

  it.each(['COMPLETED', 'FAILED', 'CANCELLED'] as const)('hands in nothing for a run that is %s', async (phase) => {
    const { desk, proposed } = given([run(7, phase)]);
    expect(await desk.apply(REMOVE)).toEqual({ ok: false, problems: [expect.stringContaining(`The run is ${phase}`)] });
    expect(proposed).toEqual([]);
    expect(await desk.snapshot()).toMatchObject({ sequence: 7 });
  });

  it('hands in nothing for a call that means no edit, and says what is missing', async () => {
    const call = ConstellationToolCall.parse({
      tool: 'add_task',
      arguments: { task_id: 'b', name: 'b', description: '' },
    });
    const { desk, proposed } = given([run(7)]);
    expect(await desk.apply(call)).toEqual({
      ok: false,
      problems: [expect.stringMatching(/^target_device_id: give/u)],
    });
    expect(proposed).toEqual([]);
  });

  it('of a run that is not there is none', async () => {
    const { desk } = given([undefined]);
    await expect(desk.snapshot()).rejects.toThrow('There is no such run.');
    await expect(desk.apply(REMOVE)).rejects.toThrow('There is no such run.');
  });
});
