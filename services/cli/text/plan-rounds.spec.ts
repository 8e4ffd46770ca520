import { describe, expect, it } from '@jest/globals';
import { runCommitsOf } from '#libs/testing';
import type { PlanCommit, RunCommit } from '#proto';
import { planningStoryOf } from './plan-rounds.js';
import { edited, OPERATOR, Told } from '../testing/edited-run.js';

const { steps } = edited();
const plans = steps.flatMap((step) => (step.kind === 'plan' ? [step.commit] : []));
const commits = runCommitsOf(steps);
const first = (story = planningStoryOf(plans, commits)) => story.rounds[0];

/** The history with its events changed, or without some of them. */
function changed(change: (event: RunCommit['events'][number]) => RunCommit['events'][number] | null): RunCommit[] {
  return commits.map((commit) => ({ ...commit, events: commit.events.flatMap((event) => change(event) ?? []) }));
}
const isAccepted = (event: RunCommit['events'][number]): boolean =>
  event.type === 'CONSTELLATION_MODIFIED' && event.data.editId === 'e1';

describe('the story of planning', () => {
  it('tells why a round was opened, what was put forward, and what became of it', () => {
    expect(first()).toMatchObject({
      editId: 'e1',
      mode: 'editing',
      triggers: [{ kind: 'task', taskId: 'a', attempt: 1 }],
      revision: 1,
      budget: null,
      proposals: [
        {
          try: 1,
          source: 'rule',
          state: 'CONTINUE',
          edits: [{ tool: 'remove_task', taskId: 'a' }],
          fate: { kind: 'refused', revision: 1, violations: [{ code: 'I3_ONLY_PENDING' }] },
        },
        { try: 2, edits: [{ tool: 'add_task' }, { tool: 'add_dependency' }], fate: { kind: 'accepted', revision: 2 } },
      ],
      end: { kind: 'accepted', try: 2, revision: 2 },
    });
  });

  it('tells what a round may use up', () => {
    const told = changed((event) =>
      event.type === 'EDIT_OPENED' ? { ...event, data: { ...event.data, budget: { llmCalls: 3 } } } : event,
    );
    expect(first(planningStoryOf(plans, told))?.budget).toEqual({ llmCalls: 3 });
  });

  it('leaves open what nobody has judged yet', () => {
    const open = first(
      planningStoryOf(
        plans,
        changed((event) => (isAccepted(event) ? null : event)),
      ),
    );
    expect([open?.end, open?.proposals.map(({ fate }) => fate?.kind ?? null)]).toEqual([null, ['refused', null]]);
  });

  it('says which proposal came too late for a round that was given up', () => {
    const reason = { code: 'DEADLINE' as const, message: 'too slow' };
    const late = changed((event) =>
      isAccepted(event)
        ? { ...event, type: 'EDIT_ABANDONED', data: { editId: 'e1', reason, abandonedAt: '2026-01-01T00:01:30.000Z' } }
        : event,
    );
    const { end, proposals } = first(planningStoryOf(plans, late)) ?? {};
    expect(end).toEqual({ kind: 'given_up', ...reason, at: '2026-01-01T00:01:30.000Z' });
    expect(proposals?.map(({ fate }) => fate?.kind)).toEqual(['refused', 'unused']);
  });

  it('knows what became of proposals without the records of the planner', () => {
    const none: PlanCommit[] = [];
    expect(first(planningStoryOf(none, commits))?.proposals).toMatchObject([
      { try: 1, proposedAt: null, source: null, state: null, edits: null, spare: [], fate: { kind: 'refused' } },
      { try: 2, proposedAt: null, edits: [{ tool: 'add_task' }, { tool: 'add_dependency' }] },
    ]);
  });

  it('tells of what was accepted what the run itself says of it: a program that plans has no other records', () => {
    const spare = [{ device: 'db-1' }];
    const told = changed((event) =>
      event.type === 'CONSTELLATION_MODIFIED' && isAccepted(event)
        ? { ...event, data: { ...event.data, source: 'model' as const, spare } }
        : event,
    );
    const [refused, accepted] = first(planningStoryOf([], told))?.proposals ?? [];
    expect(refused).toMatchObject({ source: null, state: null, edits: null, spare: [] });
    expect(accepted).toMatchObject({ proposedAt: null, source: 'model', state: 'CONTINUE', spare });
  });

  it('tells what a person changed beside the rounds', () => {
    const edits = [{ tool: 'remove_task' as const, taskId: 'c' }];
    const byHand = new Told().obeys({
      verb: 'PROPOSE',
      delegated: false,
      proposal: { editId: null, try: 1, baseRevision: null, state: 'CONTINUE', edits },
    });
    const { rounds, otherEdits } = planningStoryOf([], runCommitsOf(byHand.steps));
    expect(rounds).toEqual([]);
    expect(otherEdits).toEqual([{ revision: 2, by: OPERATOR, edits, at: expect.any(String) }]);
  });
});
