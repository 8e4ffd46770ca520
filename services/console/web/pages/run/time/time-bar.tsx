import { useState, type ReactElement } from 'react';
import { SPEEDS, type RunRecord, type Speed } from '../../../model/index.js';
import { timeText, Icon, dateTimeText } from '../../../parts/index.js';
import { words } from '../../../words/index.js';
import { usePlaying } from './use-playing.runner.js';

interface TimeBarProps {
  readonly record: RunRecord;
  /** So many commits are shown; undefined: all, as they come. */
  readonly count: number | undefined;
  readonly onMoment: (count: number | undefined) => void;
}

/** The time of a run: any moment of it can be looked at, and playedOn from. */
export function TimeBar({ record, count, onMoment }: TimeBarProps): ReactElement {
  const { commits } = record;
  const shown = count ?? commits.length;
  const [speed, setSpeed] = useState<Speed>(5);
  const { playing, play, stop } = usePlaying({ commits, speed, onMoment });
  const press = (): void => (playing ? stop() : play(shown >= commits.length ? 1 : shown));
  const go = (to: number): void => {
    stop();
    onMoment(to >= commits.length ? undefined : Math.max(1, to));
  };
  const at = commits[shown - 1]?.at;
  const sequence = record.sequenceOf(shown);
  return (
    <section className="time-bar" aria-label={words.time.label}>
      <div className="row tight">
        <button type="button" className="button quiet" onClick={() => go(shown - 1)} aria-label={words.time.back}>
          <Icon name="back" />
        </button>
        <button
          type="button"
          className="button quiet"
          onClick={press}
          aria-label={playing ? words.time.pause : words.time.play}
        >
          <Icon name={playing ? 'pause' : 'play'} />
        </button>
        <button type="button" className="button quiet" onClick={() => go(shown + 1)} aria-label={words.time.forward}>
          <Icon name="forward" />
        </button>
        <label className="speed">
          <span className="unseen">{words.time.speed}</span>
          <select value={speed} onChange={({ target }) => setSpeed(Number(target.value) as Speed)}>
            {SPEEDS.map((one) => (
              <option key={one} value={one}>{`${one}×`}</option>
            ))}
          </select>
        </label>
      </div>
      <input
        type="range"
        className="slider"
        min={1}
        max={Math.max(1, commits.length)}
        value={shown}
        aria-label={words.time.slider}
        aria-valuetext={at === undefined ? '' : words.time.moment(sequence, dateTimeText(at))}
        onChange={({ target }) => go(Number(target.value))}
      />
      <span className="time-at">
        {at === undefined ? '' : timeText(at)} <span className="faint">#{sequence}</span>
      </span>
      {count === undefined ? (
        <span className="now-mark">{words.time.now}</span>
      ) : (
        <button type="button" className="button small" onClick={() => go(commits.length)}>
          {words.time.toNow}
          <span className="faint">{words.time.newer(record.sequenceOf(commits.length) - sequence)}</span>
        </button>
      )}
    </section>
  );
}
