import type { ReactElement } from 'react';
import { RunsAnswer } from '#proto';
import { askedOf, filtersIn, isLiveEnough, matches } from '../../model/index.js';
import { Empty, Icon, PageLink, Loading, Problem, usePlace } from '../../parts/index.js';
import { useAsked, useMay, useRows } from '../../wire/index.js';
import { words } from '../../words/index.js';
import { Filters } from './filters.js';
import { RunTable } from './run-table.js';

const ASKED_MAX = 200;

/** All runs, newest first, narrowed by what stands in the address. */
export function RunsPage(): ReactElement {
  const { search } = usePlace();
  const filters = filtersIn(search);
  const may = useMay();
  const listed = useRows('runs');
  const isLive = isLiveEnough(filters);
  const asked = useAsked(isLive ? undefined : askedOf(filters, ASKED_MAX), (json) => RunsAnswer.parse(json));
  const all = isLive ? listed.rows : (asked.value?.runs ?? []);
  const rows = all.filter((run) => matches(filters, run));
  const ready = isLive ? listed.ready : asked.value !== undefined;
  const problem = listed.problem ?? asked.problem;
  return (
    <div className="page">
      <div className="page-head">
        <h1>{words.runs.title}</h1>
        {may('SUBMIT') ? (
          <PageLink href="/new" className="button primary">
            <Icon name="request" />
            {words.nav.request}
          </PageLink>
        ) : null}
      </div>
      <Filters filters={filters} runs={listed.rows} />
      {listed.stale === undefined ? null : <p className="stale">{words.stale(listed.stale)}</p>}
      {problem === undefined ? null : <Problem text={problem} />}
      {!ready && problem === undefined ? <Loading /> : null}
      {ready && rows.length === 0 ? (
        <Empty title={all.length === 0 ? words.runs.none : words.runs.noneSo}>
          {all.length === 0 ? <p>{words.runs.begin}</p> : null}
        </Empty>
      ) : null}
      {rows.length === 0 ? null : <RunTable rows={rows} />}
    </div>
  );
}
