import { describe, expect, it } from '@jest/globals';
import { CloudEvent } from 'cloudevents';
import { FeedMessage } from '#proto';
import { forkHistory, generateEditedHistory, generateHistory, runCommitsOf } from '#libs/testing';
import { feedEntriesOf, isAfter, parsePosition, positionText, wholeMessage } from './feed-message.js';

const edited = generateEditedHistory({ seed: 6, goal: true });
const HISTORIES = [
  ['as it was asked for', generateHistory({ seed: 2 })],
  ['that is edited', edited],
  ['that is forked', forkHistory(edited, { at: 20, seed: 1 })],
] as const;

describe('feedEntriesOf', () => {
  it.each(HISTORIES)('makes one valid message of every event of a run %s, in order, with its place', (_, steps) => {
    for (const [index, commit] of runCommitsOf(steps).entries()) {
      const entries = feedEntriesOf(commit, index + 10);
      expect(entries.map(({ message }) => message.data)).toEqual(commit.events.map(({ data }) => data));
      for (const [place, { message, position }] of entries.entries()) {
        const event = commit.events[place];
        expect(FeedMessage.parse(message)).toMatchObject({
          id: event?.id,
          type: `orrery.${event?.type}`,
          time: commit.at,
          orreryrunid: commit.runId,
          orrerysequence: event?.sequence,
        });
        // The public library of the format takes it as it is: strict validation throws otherwise.
        expect(new CloudEvent(JSON.parse(JSON.stringify(message)) as Partial<CloudEvent>, true).id).toBe(event?.id);
        expect(position).toEqual({ sequence: index + 10, index: place });
        expect(parsePosition(message.orrerysource)).toEqual(position);
        const isAboutTask = /^TASK_|^RUN_ANNOTATED$/u.test(event?.type ?? '');
        expect(message.subject).toBe(isAboutTask && event && 'taskId' in event.data ? event.data.taskId : undefined);
        expect(message.subject !== undefined).toBe(isAboutTask);
      }
    }
  });
});

describe('positions', () => {
  it.each([
    [1, 0, 1, 0, false],
    [1, 1, 1, 0, true],
    [2, 0, 1, 9, true],
    [1, 9, 2, 0, false],
  ])('%i.%i after %i.%i: %s', (sequence, index, otherSequence, otherIndex, after) =>
    expect(isAfter({ sequence, index }, { sequence: otherSequence, index: otherIndex })).toBe(after),
  );
  it('knows the end of a message', () => {
    expect(isAfter({ sequence: 4, index: 99 }, wholeMessage(4))).toBe(false);
    expect(isAfter({ sequence: 5, index: 0 }, wholeMessage(4))).toBe(true);
  });
  it.each(['', '1', '1.', '.1', '1.1.1', '-1.0', '1.x', '1e3.0'])('does not take %j for a position', (text) =>
    expect(parsePosition(text)).toBeUndefined(),
  );
  it('reads what it writes', () =>
    expect(parsePosition(positionText({ sequence: 12, index: 3 }))).toEqual({ sequence: 12, index: 3 }));
});
