import { useCallback, useState, type CSSProperties, type ReactElement } from 'react';
import type { RunCommit, TaskView } from '#proto';
import { TaskBars, TaskNames, tookText, type Bar, type BarRow } from '../../../model/index.js';
import { Empty, Foreign, Rows } from '../../../parts/index.js';
import { useMedia, useNow } from '../../../wire/index.js';
import { words } from '../../../words/index.js';

interface TimelineProps {
  readonly commits: readonly RunCommit[];
  /** As they are at this moment: a row is called as its task is. */
  readonly tasks: readonly TaskView[];
  /** Of the moment that is looked at; undefined: now. */
  readonly now: number | undefined;
  readonly ended: string | null;
  /** Always the same function. */
  readonly onChoose: (taskId: string) => void;
}

const TICKS = 5;
const ROW_PX = 28;
/** On a phone the name stands above the bar. */
const PHONE = '(max-width: 599px)';
const PHONE_ROW_PX = 50;

/** When each task ran, one bar for each attempt. */
export function Timeline({ commits, tasks, now, ended, onChoose }: TimelineProps): ReactElement {
  const clock = useNow();
  const [known] = useState(() => new TaskBars());
  const [called] = useState(() => new TaskNames());
  const names = called.of(tasks);
  const isPhone = useMedia(PHONE);
  const rows = known.of(commits);
  const from = Date.parse(commits[0]?.at ?? '');
  /** Undefined while time goes on. */
  const until = ended === null ? now : Date.parse(ended);
  const draw = useCallback(
    ({ taskId, bars }: BarRow, tabIndex: 0 | -1) => {
      const name = names.get(taskId) ?? taskId;
      return (
        <>
          <span role="rowheader" className="gantt-head">
            <button
              type="button"
              className="gantt-name"
              title={taskId}
              tabIndex={tabIndex}
              onClick={() => onChoose(taskId)}
            >
              <Foreign text={name} />
            </button>
          </span>
          <div role="cell" className="gantt-track">
            {bars.map((bar) =>
              bar.toMs === null && until === undefined ? (
                <GrowingBar key={bar.attempt} name={name} bar={bar} from={from} />
              ) : (
                <BarBox key={bar.attempt} name={name} bar={bar} from={from} last={bar.toMs ?? until ?? from} />
              ),
            )}
          </div>
        </>
      );
    },
    [from, until, onChoose, names],
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
      <Rows
        label={words.run.tab.timeline}
        className="gantt-rows"
        rows={rows}
        draw={draw}
        rowPx={isPhone ? PHONE_ROW_PX : ROW_PX}
      />
    </div>
  );
}

interface BarProps {
  /** Of its task. */
  readonly name: string;
  readonly bar: Bar;
  /** When the run began. */
  readonly from: number;
}

/** Of an attempt that goes on: every second it is longer, and nothing else of its row is drawn for that. */
function GrowingBar(props: BarProps): ReactElement {
  return <BarBox {...props} last={useNow()} />;
}

/** Where it lies follows from the length of the whole, which the style knows: it grows, and no bar is drawn for it. */
function BarBox({ name, bar, from, last }: BarProps & { readonly last: number }): ReactElement {
  const { attempt, device, fromMs, status } = bar;
  const took = tookText(last - fromMs);
  const said = words.timeline.bar(name, attempt, device, words.status[status], took);
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
