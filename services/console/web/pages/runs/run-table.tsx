import type { ReactElement } from 'react';
import type { RunSummary } from '#proto';
import { Ago, Elapsed, Foreign, PageLink, Status } from '../../parts/index.js';
import { words } from '../../words/index.js';

export function RunTable({ rows }: { readonly rows: readonly RunSummary[] }): ReactElement {
  return (
    <table className="table rows-table runs-table">
      <thead>
        <tr>
          <th scope="col">{words.runs.run}</th>
          <th scope="col">{words.runs.status}</th>
          <th scope="col" className="number">
            {words.runs.tasks}
          </th>
          <th scope="col">{words.runs.duration}</th>
          <th scope="col" className="number">
            {words.runs.cost}
          </th>
          <th scope="col">{words.runs.begun}</th>
          <th scope="col">{words.runs.by}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((run) => (
          <RunRow key={run.runId} run={run} />
        ))}
      </tbody>
    </table>
  );
}

function RunRow({ run }: { readonly run: RunSummary }): ReactElement {
  return (
    <tr>
      <th scope="row">
        <PageLink href={`/runs/${run.runId}`} className="run-name">
          <Foreign text={run.name} />
        </PageLink>
        <span className="run-id">{run.runId}</span>
        {Object.entries(run.labels ?? {}).map(([name, value]) => (
          <PageLink key={name} className="label" href={`/?label=${encodeURIComponent(`${name}=${value}`)}`}>
            <Foreign text={`${name}=${value}`} />
          </PageLink>
        ))}
      </th>
      <td>
        <Status status={run.status} outcome={run.outcome} />
      </td>
      <td className="number" data-name={words.runs.tasks}>
        {run.tasks}
      </td>
      <td data-name={words.runs.duration}>
        <Elapsed from={run.requestedAt} until={run.endedAt} />
      </td>
      <td className="number" data-name={words.runs.cost}>
        {words.runs.costOf(run.used)}
      </td>
      <td data-name={words.runs.begun}>
        <Ago at={run.requestedAt} />
      </td>
      <td data-name={words.runs.by}>{run.requestedBy === undefined ? '' : <Foreign text={run.requestedBy} />}</td>
    </tr>
  );
}
