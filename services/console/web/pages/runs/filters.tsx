import { useMemo, type ReactElement } from 'react';
import { RunStatus, type RunSummary } from '#proto';
import { isLiveEnough, searchOf, type RunFilters } from '../../model/index.js';
import { goTo, Status, TextField, WordsField } from '../../parts/index.js';
import { useRows } from '../../wire/index.js';
import { words } from '../../words/index.js';

interface FiltersProps {
  readonly filters: RunFilters;
  /** Those that are known: what they have is offered. */
  readonly runs: readonly RunSummary[];
}

/** What the list is narrowed to. Every change is a change of the address; what was chosen is a place to come back to, a letter that was typed is not. */
export function Filters({ filters, runs }: FiltersProps): ReactElement {
  const { rows: fleet } = useRows('fleet');
  const change = (part: Partial<RunFilters>, replace = true): void =>
    goTo(`/${searchOf({ ...filters, ...part })}`, { replace });
  const known = useMemo(
    () => ({
      by: distinct(runs.map(({ requestedBy }) => requestedBy ?? '')),
      device: distinct(fleet.map(({ deviceId }) => deviceId)),
      label: distinct(runs.flatMap(({ labels }) => Object.entries(labels ?? {}).map((label) => label.join('=')))),
    }),
    [runs, fleet],
  );
  const toggle = (status: RunStatus): void => {
    const { status: chosen } = filters;
    change({ status: chosen.includes(status) ? chosen.filter((one) => one !== status) : [...chosen, status] }, false);
  };
  return (
    <form className="filters" role="search" onSubmit={(event) => event.preventDefault()}>
      <WordsField label={words.runs.search} value={filters.words} onChange={(text) => change({ words: text })} />
      <div className="chips" role="group" aria-label={words.runs.byStatus}>
        {RunStatus.options.map((status) => (
          <button
            key={status}
            type="button"
            className="chip"
            aria-pressed={filters.status.includes(status)}
            onClick={() => toggle(status)}
          >
            <Status status={status} />
          </button>
        ))}
      </div>
      <details className="more" open={!isLiveEnough(filters)}>
        <summary>{words.runs.more}</summary>
        <div className="row wrap">
          {(['by', 'device', 'label'] as const).map((name) => (
            <TextField
              key={name}
              label={words.runs.filter[name]}
              small
              value={filters[name]}
              known={known[name]}
              onChange={(text) => change({ [name]: text })}
            />
          ))}
        </div>
      </details>
    </form>
  );
}

/** So many are offered; who looks for others types on. */
const KNOWN_MAX = 200;

function distinct(values: readonly string[]): string[] {
  const all = [...new Set(values)].filter((value) => value !== '');
  return all.toSorted().slice(0, KNOWN_MAX);
}
