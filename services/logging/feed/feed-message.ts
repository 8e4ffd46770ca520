import type { FeedMessage, RunCommit } from '#proto';

/** An event's place in RUNS: the message, and its index among the message's events. */
export interface FeedPosition {
  readonly sequence: number;
  readonly index: number;
}

/** After every event of the message: everything of a later message is new. */
export const wholeMessage = (sequence: number): FeedPosition => ({ sequence, index: Number.MAX_SAFE_INTEGER });

export function isAfter(left: FeedPosition, right: FeedPosition): boolean {
  return left.sequence === right.sequence ? left.index > right.index : left.sequence > right.sequence;
}

export function positionText({ sequence, index }: FeedPosition): string {
  return `${sequence}.${index}`;
}

export function parsePosition(text: string): FeedPosition | undefined {
  const [, sequence, index] = /^(\d{1,15})\.(\d{1,15})$/u.exec(text) ?? [];
  return sequence === undefined || index === undefined
    ? undefined
    : { sequence: Number(sequence), index: Number(index) };
}

export interface FeedEntry {
  readonly position: FeedPosition;
  readonly message: FeedMessage;
}

/** A commit as the public sees it: one CloudEvents message per event. `time` is the commit's, the id the event's. */
export function feedEntriesOf(commit: RunCommit, sequence: number): FeedEntry[] {
  return commit.events.map((event, index) => {
    const position = { sequence, index };
    const task = 'taskId' in event.data ? { subject: event.data.taskId } : {};
    return {
      position,
      message: {
        specversion: '1.0',
        id: event.id,
        source: `/orrery/runs/${commit.runId}`,
        type: `orrery.${event.type}`,
        ...task,
        time: commit.at,
        datacontenttype: 'application/json',
        orreryrunid: commit.runId,
        orrerysequence: event.sequence,
        orrerysource: positionText(position),
        data: event.data,
      },
    };
  });
}
