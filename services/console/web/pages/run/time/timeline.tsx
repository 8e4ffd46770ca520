import type { ReactElement } from 'react';
import type { RunCommit } from '#proto';
import { barsIn, tookText, type Bar, type BarRow } from '../../../model/index.js';
import { Empty, Foreign } from '../../../parts/index.js';
import { useNow } from '../../../wire/index.js';
import { words } from '../../../words/index.js';

interface TimelineProps {
  readonly commits: readonly RunCommit[];
  /** Of the moment that is looked at; undefined: now. */
  readonly now: number | undefined;
  readonly ended: string | null;
  readonly onChoose: (taskId: string) => void;
}

const TICKS = 5;

/** When each task ran, one bar for each attempt. */
export function Timeline({ commits, now, ended, onChoose }: TimelineProps): ReactElement {
  const clock = useNow();
  const rows = barsIn(commits);
  if (rows.length === 0) return <Empty title={words.timeline.none} />;
  const from = Date.parse(commits[0]?.at ?? '');
  const last = ended === null ? (now ?? clock) : Date.parse(ended);
  const whole = Math.max(1, last - from);
  const place = ({ fromMs, toMs }: Bar): { left: string; width: string } => ({
    left: `${((fromMs - from) / whole) * 100}%`,
    width: `${Math.max(0.4, (((toMs ?? last) - fromMs) / whole) * 100)}%`,
  });
  return (
    <div className="gantt">
      <div className="gantt-axis" aria-hidden="true">
        {Array.from({ length: TICKS + 1 }, (_, tick) => (
          <span key={tick} style={{ left: `${(tick / TICKS) * 100}%` }}>
            {tookText((whole * tick) / TICKS)}
          </span>
        ))}
      </div>
      {rows.map((row) => (
        <Row key={row.taskId} row={row} last={last} place={place} onChoose={onChoose} />
      ))}
    </div>
  );
}

interface RowProps {
  readonly row: BarRow;
  readonly last: number;
  readonly place: (bar: Bar) => { left: string; width: string };
  readonly onChoose: (taskId: string) => void;
}

function Row({ row: { taskId, bars }, last, place, onChoose }: RowProps): ReactElement {
  return (
    <div className="gantt-row">
      <button type="button" className="gantt-name" onClick={() => onChoose(taskId)}>
        <Foreign text={taskId} />
      </button>
      <div className="gantt-track">
        {bars.map((bar) => {
          const took = tookText((bar.toMs ?? last) - bar.fromMs);
          return (
            <span
              key={bar.attempt}
              className={`gantt-bar status-${bar.status.toLowerCase()}`}
              style={place(bar)}
              role="img"
              aria-label={words.timeline.bar(taskId, bar.attempt, bar.device, words.status[bar.status], took)}
              title={words.timeline.bar(taskId, bar.attempt, bar.device, words.status[bar.status], took)}
            >
              <span className="gantt-text">{took}</span>
            </span>
          );
        })}
      </div>
    </div>
  );
}
