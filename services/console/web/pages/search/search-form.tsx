import { useState, type FormEvent, type ReactElement } from 'react';
import { FoundState } from '#proto';
import { instantOfField, localField, searchSaid, type SearchFilter, type SearchFilters } from '../../model/index.js';
import { goTo, Icon, TextField } from '../../parts/index.js';
import { useRows } from '../../wire/index.js';
import { words } from '../../words/index.js';

const TEXTS = ['device', 'by', 'exit', 'rule', 'run', 'task'] as const;
const INSTANTS = ['since', 'until'] as const;

/** What is looked for. It is asked for when that is said, and not before: who looks for what is recorded. */
export function SearchForm({ filters }: { readonly filters: SearchFilters }): ReactElement {
  const [typed, setTyped] = useState(filters);
  const set = (name: SearchFilter, text: string): void => setTyped((before) => ({ ...before, [name]: text }));
  const [devices, runs] = [useRows('fleet').rows, useRows('runs').rows];
  const known: Readonly<Partial<Record<SearchFilter, readonly string[]>>> = {
    device: devices.map(({ deviceId }) => deviceId),
    by: [...new Set(runs.flatMap(({ requestedBy }) => requestedBy ?? []))],
    run: runs.map(({ runId }) => runId),
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const said = searchSaid(typed);
    goTo(said === '' ? '/search' : `/search?${said}`);
  };
  const hasMore = Object.entries(filters).some(([name, text]) => name !== 'words' && text !== '');
  return (
    <form className="stack" role="search" onSubmit={submit}>
      <div className="row">
        <label className="search">
          <Icon name="search" />
          <span className="unseen">{words.search.words}</span>
          <input
            type="search"
            value={typed.words}
            placeholder={words.search.words}
            onChange={({ target }) => set('words', target.value)}
          />
        </label>
        <button type="submit" className="button primary">
          {words.search.search}
        </button>
      </div>
      <details className="more" open={hasMore}>
        <summary>{words.search.more}</summary>
        <div className="fields">
          <label className="field">
            <span>{words.search.field.state}</span>
            <select value={typed.state} onChange={({ target }) => set('state', target.value)}>
              <option value="">{words.search.any}</option>
              {FoundState.options.map((state) => (
                <option key={state} value={state}>
                  {words.search.state[state]}
                </option>
              ))}
            </select>
          </label>
          {TEXTS.map((name) => (
            <TextField
              key={name}
              label={words.search.field[name]}
              value={typed[name]}
              known={known[name] ?? []}
              onChange={(text) => set(name, text)}
            />
          ))}
          {INSTANTS.map((name) => (
            <label key={name} className="field">
              <span>{words.search.field[name]}</span>
              <input
                type="datetime-local"
                value={localField(typed[name])}
                onChange={({ target }) => set(name, instantOfField(target.value))}
              />
            </label>
          ))}
        </div>
      </details>
    </form>
  );
}
