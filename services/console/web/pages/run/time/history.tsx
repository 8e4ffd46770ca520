import { useCallback, useState, type ReactElement } from 'react';
import { eventWords, Grown, type Showing } from '#libs/constellation';
import type { RunCommit } from '#proto';
import { timeText, Foreign, dateTimeText, Rows } from '../../../parts/index.js';
import { words } from '../../../words/index.js';

const BRIEF_CHARS = 200;
const ROW_PX = 29;
const SHOWING: Showing = {
  exact: (text) => text,
  brief: (text) => (text.length > BRIEF_CHARS ? `${text.slice(0, BRIEF_CHARS)}…` : text),
  moment: dateTimeText,
  clock: timeText,
};

interface HistoryProps {
  readonly commits: readonly RunCommit[];
  /** The moment that is looked at: so many commits; undefined: now. */
  readonly shown: number | undefined;
  /** Always the same function. */
  readonly onMoment: (sequence: number) => void;
}

/** An event, and the commit that it came with. */
interface Recorded {
  readonly event: RunCommit['events'][number];
  readonly at: string;
  readonly number: number;
}

const eventsIn = (commits: readonly RunCommit[]): Recorded[] =>
  commits.flatMap(({ events, at, number }) => events.map((event) => ({ event, at, number })));

/** Every event of a run, newest first. */
export function History({ commits, shown, onMoment }: HistoryProps): ReactElement {
  const [grown] = useState(() => new Grown(eventsIn));
  const events = grown.of(commits);
  const here = shown === undefined ? undefined : commits[shown - 1]?.events.at(-1)?.sequence;
  const draw = useCallback(
    ({ event, at }: Recorded, tabIndex: 0 | -1) => (
      <>
        <span role="cell">
          <button
            type="button"
            className="moment"
            tabIndex={tabIndex}
            onClick={() => onMoment(event.sequence)}
            title={dateTimeText(at)}
          >
            #{event.sequence} {timeText(at)}
          </button>
        </span>
        <code role="cell">{event.type}</code>
        <span role="cell">
          <Foreign text={eventWords(event, SHOWING)} />
        </span>
      </>
    ),
    [onMoment],
  );
  return (
    <Rows
      label={words.run.tab.history}
      className="events"
      rows={events}
      draw={draw}
      newestFirst
      rowPx={ROW_PX}
      markOf={({ number }) => (shown === undefined || number < shown ? '' : number > shown ? 'later' : 'here')}
      at={here === undefined ? undefined : events.findLastIndex(({ event }) => event.sequence === here)}
    />
  );
}
