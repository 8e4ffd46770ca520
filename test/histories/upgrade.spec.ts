import { describe, expect, it } from '@jest/globals';
import { emptyRun, evolveCommit, viewOf, type Run } from '#libs/constellation';
import type { Actor } from '#proto';
import {
  add,
  change,
  device,
  fleet,
  insert,
  Story,
  T0,
  verb,
  withAgents,
} from '../../libs/constellation/testing/given.js';
import { commitsOfRun, recordedVersions, runHistories } from './history-folder.js';

/* What somebody was still being asked when a system was upgraded is decided by this version, with the rules of this version. */

const FLEET = withAgents(fleet([device('web-1', { tasksMax: 9 }), device('db-1', { tasksMax: 9 })]));
const person = (id: string): Actor => ({ kind: 'person', id });
const MINUTE = 60_000;

describe.each(recordedVersions())('a run of version %s', (version) => {
  /** As it stood when the system stopped; somebody decides a minute after the last thing that was stored. */
  function left(name: string): Story {
    const found = runHistories(version).find((history) => history.name === name);
    const commits = commitsOfRun(found?.lines ?? []);
    const run = commits.reduce<Run>((before, commit) => evolveCommit(before, commit), emptyRun(found?.runId ?? ''));
    const stored = Date.parse(commits.at(-1)?.at ?? '');
    return new Story()
      .from(run)
      .on(FLEET)
      .at(stored + MINUTE - T0);
  }
  const openIn = (story: Story): string => viewOf(story.run).approvals[0]?.approvalId ?? '';

  it('whose agent asks about a command is approved by a person, who had no part in it', () => {
    const story = left('open-approval').approvedBy('cli');
    const approvalId = openIn(story);
    story.when(verb({ verb: 'APPROVE', approvalId }, 'said-1', person('cli')));
    expect(story.answers).toMatchObject([{ kind: 'accepted' }]);
    expect(story.events).toMatchObject([{ type: 'APPROVAL_DECIDED', data: { approvalId, by: person('cli') } }]);
    expect(story.events[0]?.data).not.toHaveProperty('selfApproved');
    expect(viewOf(story.run).approvals).toMatchObject([{ state: 'approved' }]);
  });

  it('whose agent asks about a command is not approved by a system, and goes on asking', () => {
    const story = left('open-approval').approvedBy('cli');
    story.when(verb({ verb: 'APPROVE', approvalId: openIn(story) }, 'said-1', { kind: 'system', id: 'console' }));
    expect(story.answers).toMatchObject([{ kind: 'rejected', reason: { code: 'UNAUTHORIZED' } }]);
    expect(viewOf(story.run).approvals).toMatchObject([{ state: 'open' }]);
  });

  it('whose plan waits for a person starts when one says so', () => {
    const story = left('open-plan').approvedBy('cli');
    expect(viewOf(story.run)).toMatchObject({ status: 'PAUSED', waitingFor: { reason: 'approval' } });
    story.when(verb({ verb: 'RESUME' }, 'said-1', person('cli')));
    expect(story.told).toEqual(['RUN_RESUMED by cli', 'TASK_STARTED open 1 on web-1 judged']);
  });

  it('that a system outside asked for goes on as it was asked for, and its exact commands run unjudged as they did', () => {
    const story = left('open-paused').when(verb({ verb: 'RESUME' }, 'said-1', person('cli')));
    expect(story.run.request?.requestedBy.kind).toBe('external');
    expect(story.told).toEqual(['RUN_RESUMED by cli', 'TASK_STARTED b 1 on web-1']);
    expect(viewOf(story.run)).not.toHaveProperty('judging');
  });

  it('that a system outside asked for, and edits today, has what it adds judged, and what waits for that', () => {
    const story = left('open-paused');
    const { requestedBy: by } = story.run.request ?? { requestedBy: person('nobody') };
    story.when(insert([change.task('b', { command: add.task('x').task?.command })], { by, roles: ['requester'] }));
    story.when(verb({ verb: 'RESUME' }, 'said-1', person('cli')));
    expect(story.told).toEqual(['RUN_RESUMED by cli', 'TASK_STARTED b 1 on web-1 judged']);
  });
});
