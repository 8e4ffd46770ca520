import { describe, expect, it } from '@jest/globals';
import { agentCommits } from '../testing/agent-attempt.js';
import { attemptStories, eventOf, entryEvents, stepsOf } from './attempt-story.js';

describe('attemptStories', () => {
  const commits = [
    ...agentCommits({ steps: 5 }),
    ...agentCommits({ taskId: 'db', steps: 1 }),
    ...agentCommits({ attempt: 2, steps: 0 }),
  ];
  const stories = attemptStories(commits);

  it('are one for each attempt, in the order in which they began', () => {
    expect(stories.map(({ taskId, attempt, end }) => [taskId, attempt, end?.status])).toEqual([
      ['web', 1, 'completed'],
      ['db', 1, 'completed'],
      ['web', 2, 'completed'],
    ]);
  });

  it('lose no event, and tell each once', () => {
    const told = stories.flatMap(({ entries }) => entries.flatMap(entryEvents));
    expect(told.map(({ type }) => type).toSorted()).toEqual(
      commits.flatMap(({ events }) => events.map(({ type }) => type)).toSorted(),
    );
  });

  it('put to a step what it led to, also when a person decided it later', () => {
    const [, , , , fifth] = stepsOf(stories[0] ?? fail());
    expect(fifth?.acts).toHaveLength(1);
    const [act] = fifth?.acts ?? [];
    expect(act?.events.map(({ type }) => type)).toEqual([
      'COMMAND_JUDGED',
      'ATTEMPT_ASKED',
      'ATTEMPT_SIGNALLED',
      'COMMAND_ISSUED',
      'COMMAND_FINISHED',
    ]);
    expect(act === undefined ? undefined : eventOf(act, 'COMMAND_JUDGED')?.data.decision).toBe('approve');
  });

  it('are the same of any part: an attempt that goes on is told as far as it is', () => {
    const [whole] = stories;
    for (let count = 1; count < 10; count++) {
      const [part] = attemptStories(agentCommits({ steps: 5 }).slice(0, count));
      expect(part?.end).toBeNull();
      expect(part?.entries.length).toBeLessThanOrEqual(whole?.entries.length ?? 0);
    }
  });
});

function fail(): never {
  throw new Error('there is a story');
}
