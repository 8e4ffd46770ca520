import type { ReactElement } from 'react';
import { viewOf } from '#libs/constellation';
import { visibleText } from '#libs/visible';
import { dateTimeText, Foreign, PageLink, Status } from '../../parts/index.js';
import { useRows, type LiveRun } from '../../wire/index.js';
import { words } from '../../words/index.js';
import type { Side } from './sides.js';

interface SideHeadProps {
  readonly name: string;
  readonly side: Side;
  readonly followed: LiveRun | undefined;
  readonly onChange: (side: Side) => void;
}

/** Which run one side is, and how far of it. */
export function SideHead({ name, side, followed, onChange }: SideHeadProps): ReactElement {
  const { rows } = useRows('runs');
  const { run: runId, at } = side;
  const record = followed?.record;
  const then = record?.after(at === undefined ? record.commits.length : record.countAt(at));
  const known = then === undefined ? undefined : viewOf(then);
  const isListed = runId === undefined || rows.some((row) => row.runId === runId);
  return (
    <section className="card compare-side" aria-label={name}>
      <h2>{name}</h2>
      <label className="field">
        <span>{words.compare.run}</span>
        <select value={runId ?? ''} onChange={({ target }) => onChange({ run: target.value, at: undefined })}>
          {runId === undefined ? <option value="">{words.compare.choose}</option> : null}
          {isListed ? null : <option value={runId}>{known === undefined ? runId : named(known.name, runId)}</option>}
          {rows.map((row) => (
            <option key={row.runId} value={row.runId}>
              {named(row.name, row.runId)}
            </option>
          ))}
        </select>
      </label>
      {known === undefined || record === undefined || runId === undefined ? null : (
        <>
          <Moments record={record} at={at} onChange={(to) => onChange({ run: runId, at: to })} />
          <p className="row">
            <Status status={known.status} outcome={known.outcome} />
            <PageLink href={`/runs/${runId}${at === undefined ? '' : `?at=${at}`}`}>
              <Foreign text={known.name} />
            </PageLink>
          </p>
          {known.parent === null ? null : (
            <p className="faint">{words.run.forkOf(known.parent.runId, known.parent.sequence)}</p>
          )}
        </>
      )}
    </section>
  );
}

interface MomentsProps {
  readonly record: LiveRun['record'];
  readonly at: number | undefined;
  readonly onChange: (at: number | undefined) => void;
}

function Moments({ record, at, onChange }: MomentsProps): ReactElement {
  const { commits } = record;
  const count = at === undefined ? commits.length : record.countAt(at);
  const when = commits[count - 1]?.at ?? '';
  const sequence = record.sequenceOf(count);
  return (
    <label className="field">
      <span>
        {words.time.slider}: {words.time.moment(sequence, dateTimeText(when))}
      </span>
      <input
        type="range"
        className="slider"
        min={1}
        max={Math.max(1, commits.length)}
        value={count}
        aria-valuetext={words.time.moment(sequence, dateTimeText(when))}
        onChange={({ target }) => {
          const to = Number(target.value);
          onChange(to >= commits.length ? undefined : record.sequenceOf(to));
        }}
      />
    </label>
  );
}

const named = (name: string, runId: string): string => `${visibleText(name)} · ${runId.slice(-8)}`;
