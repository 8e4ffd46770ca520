import type { ReactElement } from 'react';
import { RunView, type RunSummary } from '#proto';
import { Ago, dateTimeText, Facts, Foreign, PageLink, Problem, Status } from '../../parts/index.js';
import { useAsked } from '../../wire/index.js';
import { words } from '../../words/index.js';

/** More are a filter of the list of runs. */
const SHOWN_MAX = 20;

interface WaitingRunsProps {
  /** The newest that are known. */
  readonly runs: readonly RunSummary[];
  /** Those of which something else on the page says already what they wait for. */
  readonly told: ReadonlySet<string>;
}

/** Runs that go on by themselves or by a word, and do nothing until then: what each waits for, and what wakes it. */
export function WaitingRuns({ runs, told }: WaitingRunsProps): ReactElement | null {
  const waiting = runs.filter(({ runId, status }) => (status === 'WAITING' || status === 'PAUSED') && !told.has(runId));
  if (waiting.length === 0) return null;
  return (
    <section aria-labelledby="waiting">
      <h2 id="waiting">{words.attention.waiting}</h2>
      <ul className="cards">
        {waiting.slice(0, SHOWN_MAX).map((run) => (
          <WaitingRun key={run.runId} run={run} />
        ))}
      </ul>
      {waiting.length > SHOWN_MAX ? (
        <PageLink href="/?status=PAUSED,WAITING">{words.attention.allWaiting(waiting.length)}</PageLink>
      ) : null}
    </section>
  );
}

function WaitingRun({
  run: { runId, name, status, sequence, requestedAt },
}: {
  readonly run: RunSummary;
}): ReactElement {
  // What it waits for is another thing after each of its events.
  const { value, problem } = useAsked(`/v1/runs/${runId}#${sequence}`, (json) => RunView.parse(json));
  const waits = value?.waitingFor ?? undefined;
  return (
    <li className="card">
      <p className="card-head">
        <Status status={status} />
        <PageLink href={`/runs/${runId}`}>
          <Foreign text={name} />
        </PageLink>
        <span className="run-id">{runId}</span>
        <Ago at={requestedAt} />
      </p>
      {problem === undefined ? null : <Problem text={problem} />}
      {waits === undefined ? null : (
        <Facts
          of={[
            [words.run.waitsFor, <Foreign text={waits.detail} />],
            [words.attention.wokenBy, words.attention.wakers[status === 'PAUSED' ? 'operator' : waits.wokenBy]],
            [words.attention.wakesAt, waits.wakesAt === null ? null : dateTimeText(waits.wakesAt)],
          ]}
        />
      )}
    </li>
  );
}
