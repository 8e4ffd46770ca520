import type { ReactElement } from 'react';
import { RunStatus } from '#proto';
import { isLiveEnough, searchOf, type RunFilters } from '../../model/index.js';
import { goTo, Icon, Status } from '../../parts/index.js';
import { words } from '../../words/index.js';

/** What the list is narrowed to. Every change is a change of the address. */
export function Filters({ filters }: { readonly filters: RunFilters }): ReactElement {
  const change = (part: Partial<RunFilters>): void => goTo(`/${searchOf({ ...filters, ...part })}`, { replace: true });
  const toggle = (status: RunStatus): void =>
    change({
      status: filters.status.includes(status)
        ? filters.status.filter((one) => one !== status)
        : [...filters.status, status],
    });
  return (
    <form className="filters" role="search" onSubmit={(event) => event.preventDefault()}>
      <label className="search">
        <Icon name="search" />
        <span className="unseen">{words.runs.search}</span>
        <input
          type="search"
          value={filters.words}
          placeholder={words.runs.search}
          onChange={({ target }) => change({ words: target.value })}
        />
      </label>
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
            <label key={name} className="field small">
              <span>{words.runs.filter[name]}</span>
              <input value={filters[name]} onChange={({ target }) => change({ [name]: target.value })} />
            </label>
          ))}
        </div>
      </details>
    </form>
  );
}
