import { type Actor, feedOwner, type FeedMessage, type RunCommit } from '#proto';

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

/** Who asked for the run; undefined for a commit that is not its first. */
export function requesterIn({ events }: RunCommit): Actor | undefined {
  const [first] = events;
  return first?.type === 'RUN_REQUESTED' || first?.type === 'RUN_FORKED' ? first.data.requestedBy : undefined;
}

export interface FeedEntry {
  readonly position: FeedPosition;
  /** In whose feed it is. */
  readonly owner: string;
  readonly message: FeedMessage;
}

/**
 * A commit as the public sees it: one CloudEvents message per event. `time` is the commit's, the id the event's. `requestedBy`: who
 * asked for the run, where that is known.
 */
export function feedEntriesOf(
  commit: RunCommit,
  sequence: number,
  requestedBy: Actor | undefined = requesterIn(commit),
): FeedEntry[] {
  const owner = feedOwner(requestedBy);
  return commit.events.map((event, index) => {
    const position = { sequence, index };
    const task = 'taskId' in event.data ? { subject: event.data.taskId } : {};
    return {
      position,
      owner,
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
