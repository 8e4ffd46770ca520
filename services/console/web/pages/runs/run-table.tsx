import type { ReactElement } from 'react';
import type { RunSummary } from '#proto';
import { Ago, Elapsed, Foreign, PageLink, Status, Table, type TableColumn } from '../../parts/index.js';
import { words } from '../../words/index.js';

export function RunTable({ rows }: { readonly rows: readonly RunSummary[] }): ReactElement {
  return <Table isSmall={false} className="runs-table" rows={rows} keyOf={({ runId }) => runId} columns={COLUMNS} />;
}

const COLUMNS: readonly [TableColumn<RunSummary>, ...TableColumn<RunSummary>[]] = [
  { name: words.runs.run, cell: (run) => <Named run={run} /> },
  {
    name: words.runs.status,
    isPlain: true,
    cell: ({ status, outcome }) => <Status status={status} outcome={outcome} />,
  },
  { name: words.runs.tasks, isNumber: true, cell: ({ tasks }) => tasks },
  {
    name: words.runs.duration,
    cell: ({ requestedAt, endedAt }) => <Elapsed from={requestedAt} until={endedAt} />,
  },
  { name: words.runs.cost, isNumber: true, cell: ({ used }) => words.runs.costOf(used) },
  { name: words.runs.begun, cell: ({ requestedAt }) => <Ago at={requestedAt} /> },
  {
    name: words.runs.by,
    cell: ({ requestedBy }) => (requestedBy === undefined ? null : <Foreign text={requestedBy} />),
  },
];

function Named({ run: { runId, name, labels = {} } }: { readonly run: RunSummary }): ReactElement {
  return (
    <>
      <PageLink href={`/runs/${runId}`} className="run-name">
        <Foreign text={name} />
      </PageLink>
      <span className="run-id">{runId}</span>
      {Object.entries(labels).map(([key, value]) => (
        <PageLink key={key} className="label" href={`/?label=${encodeURIComponent(`${key}=${value}`)}`}>
          <Foreign text={`${key}=${value}`} />
        </PageLink>
      ))}
    </>
  );
}
