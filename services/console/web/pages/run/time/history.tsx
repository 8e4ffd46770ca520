import type { ReactElement } from 'react';
import { eventWords, type Showing } from '#libs/constellation';
import type { RunCommit } from '#proto';
import { timeText, Foreign, dateTimeText } from '../../../parts/index.js';
import { words } from '../../../words/index.js';

const BRIEF_CHARS = 200;
const SHOWN_MAX = 500;
const SHOWING: Showing = {
  exact: (text) => text,
  brief: (text) => (text.length > BRIEF_CHARS ? `${text.slice(0, BRIEF_CHARS)}…` : text),
  moment: dateTimeText,
  clock: timeText,
};

interface HistoryProps {
  readonly commits: readonly RunCommit[];
  /** The moment that is looked at: so many commits. */
  readonly shown: number;
  readonly onMoment: (sequence: number) => void;
}

/** Every event of a run, newest first. */
export function History({ commits, shown, onMoment }: HistoryProps): ReactElement {
  const events = commits.flatMap(({ events: recorded, at, number }) =>
    recorded.map((event) => ({ event, at, number })),
  );
  const last = events.slice(-SHOWN_MAX).toReversed();
  return (
    <ol className="events" reversed start={events.at(-1)?.event.sequence} aria-label={words.run.tab.history}>
      {last.map(({ event, at, number }) => (
        <li key={event.sequence} className={number > shown ? 'later' : number === shown ? 'here' : ''}>
          <button type="button" className="moment" onClick={() => onMoment(event.sequence)} title={dateTimeText(at)}>
            #{event.sequence} {timeText(at)}
          </button>
          <code>{event.type}</code>
          <Foreign text={eventWords(event, SHOWING)} />
        </li>
      ))}
    </ol>
  );
}
