import { useCallback, useState, type CSSProperties, type ReactElement } from 'react';
import type { RunCommit } from '#proto';
import { TaskBars, tookText, type Bar, type BarRow } from '../../../model/index.js';
import { Empty, Foreign, Rows } from '../../../parts/index.js';
import { useNow } from '../../../wire/index.js';
import { words } from '../../../words/index.js';

interface TimelineProps {
  readonly commits: readonly RunCommit[];
  /** Of the moment that is looked at; undefined: now. */
  readonly now: number | undefined;
  readonly ended: string | null;
  /** Always the same function. */
  readonly onChoose: (taskId: string) => void;
}

const TICKS = 5;
const ROW_PX = 28;

/** When each task ran, one bar for each attempt. */
export function Timeline({ commits, now, ended, onChoose }: TimelineProps): ReactElement {
  const clock = useNow();
  const [known] = useState(() => new TaskBars());
  const rows = known.of(commits);
  const from = Date.parse(commits[0]?.at ?? '');
  /** Undefined while time goes on. */
  const until = ended === null ? now : Date.parse(ended);
  const draw = useCallback(
    ({ taskId, bars }: BarRow, tabIndex: 0 | -1) => (
      <>
        <span role="rowheader" className="gantt-head">
          <button type="button" className="gantt-name" tabIndex={tabIndex} onClick={() => onChoose(taskId)}>
            <Foreign text={taskId} />
          </button>
        </span>
        <div role="cell" className="gantt-track">
          {bars.map((bar) =>
            bar.toMs === null && until === undefined ? (
              <GrowingBar key={bar.attempt} taskId={taskId} bar={bar} from={from} />
            ) : (
              <BarBox key={bar.attempt} taskId={taskId} bar={bar} from={from} last={bar.toMs ?? until ?? from} />
            ),
          )}
        </div>
      </>
    ),
    [from, until, onChoose],
  );
  if (rows.length === 0) return <Empty title={words.timeline.none} />;
  const whole = Math.max(1, (until ?? clock) - from);
  return (
    <div className="gantt" style={{ '--whole': whole } as CSSProperties}>
      <div className="gantt-axis" aria-hidden="true">
        {Array.from({ length: TICKS + 1 }, (_, tick) => (
          <span key={tick} style={{ left: `${(tick / TICKS) * 100}%` }}>
            {tookText((whole * tick) / TICKS)}
          </span>
        ))}
      </div>
      <Rows label={words.run.tab.timeline} className="gantt-rows" rows={rows} draw={draw} rowPx={ROW_PX} />
    </div>
  );
}

interface BarProps {
  readonly taskId: string;
  readonly bar: Bar;
  /** When the run began. */
  readonly from: number;
}

/** Of an attempt that goes on: every second it is longer, and nothing else of its row is drawn for that. */
function GrowingBar(props: BarProps): ReactElement {
  return <BarBox {...props} last={useNow()} />;
}

/** Where it lies follows from the length of the whole, which the style knows: it grows, and no bar is drawn for it. */
function BarBox({ taskId, bar, from, last }: BarProps & { readonly last: number }): ReactElement {
  const { attempt, device, fromMs, status } = bar;
  const took = tookText(last - fromMs);
  const said = words.timeline.bar(taskId, attempt, device, words.status[status], took);
  return (
    <span
      className={`gantt-bar status-${status.toLowerCase()}`}
      style={{ '--from': fromMs - from, '--took': Math.max(0, last - fromMs) } as CSSProperties}
      role="img"
      aria-label={said}
      title={said}
    >
      <span className="gantt-text">{took}</span>
    </span>
  );
}
