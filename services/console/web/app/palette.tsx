import { useId, useState, type KeyboardEvent, type ReactElement } from 'react';
import { Dialog, goTo, usePlace } from '../parts/index.js';
import { useRows } from '../wire/index.js';
import { words } from '../words/index.js';
import { switchTheme } from './theme.js';

interface Command {
  readonly id: string;
  readonly name: string;
  readonly hint: string;
  readonly keys?: string;
  readonly act: () => void;
}

const SHOWN_MAX = 12;

/** Everything that can be reached, by typing some of its name. */
export function Palette({ onClose }: { readonly onClose: () => void }): ReactElement {
  const [typed, setTyped] = useState('');
  const [chosen, setChosen] = useState(0);
  const { path } = usePlace();
  const { rows } = useRows('runs');
  const list = useId();
  const commands: Command[] = [
    { id: 'runs', name: words.nav.runs, hint: words.palette.page, keys: 'g r', act: () => goTo('/') },
    { id: 'new', name: words.nav.request, hint: words.palette.page, keys: 'g n', act: () => goTo('/new') },
    { id: 'runbooks', name: words.nav.runbooks, hint: words.palette.page, keys: 'g b', act: () => goTo('/runbooks') },
    { id: 'examples', name: words.examples.title, hint: words.palette.page, act: () => goTo('/examples') },
    {
      id: 'attention',
      name: words.nav.attention,
      hint: words.palette.page,
      keys: 'g a',
      act: () => goTo('/attention'),
    },
    { id: 'fleet', name: words.nav.fleet, hint: words.palette.page, keys: 'g f', act: () => goTo('/fleet') },
    { id: 'search', name: words.search.title, hint: words.palette.page, keys: 'g o', act: () => goTo('/search') },
    { id: 'people', name: words.nav.people, hint: words.palette.page, keys: 'g p', act: () => goTo('/people') },
    { id: 'settings', name: words.nav.settings, hint: words.palette.page, keys: 'g s', act: () => goTo('/settings') },
    { id: 'theme', name: words.palette.theme, hint: words.palette.command, act: switchTheme },
    { id: 'link', name: words.palette.copy, hint: path, act: () => void navigator.clipboard.writeText(location.href) },
    ...rows.map(({ runId, name, status }) => ({
      id: runId,
      name,
      hint: `${words.status[status]} · ${runId.slice(-8)}`,
      act: () => goTo(`/runs/${runId}`),
    })),
  ];
  const wanted = typed.toLowerCase().trim();
  const found = commands
    .filter(({ name, hint, id }) => `${name} ${hint} ${id}`.toLowerCase().includes(wanted))
    .slice(0, SHOWN_MAX);
  const at = Math.min(chosen, Math.max(0, found.length - 1));
  const run = (command: Command | undefined): void => {
    if (command === undefined) return;
    onClose();
    command.act();
  };
  const hear = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowDown') setChosen((at + 1) % Math.max(1, found.length));
    else if (event.key === 'ArrowUp') setChosen((at + found.length - 1) % Math.max(1, found.length));
    else if (event.key === 'Enter') run(found[at]);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title={words.palette.open} open onClose={onClose}>
      <input
        className="palette-input"
        role="combobox"
        aria-expanded="true"
        aria-controls={list}
        aria-activedescendant={found[at] === undefined ? undefined : `${list}-${found[at].id}`}
        aria-label={words.palette.open}
        placeholder={words.palette.type}
        value={typed}
        onChange={({ target }) => {
          setTyped(target.value);
          setChosen(0);
        }}
        onKeyDown={hear}
        autoFocus
      />
      <ul className="palette-list" role="listbox" id={list} aria-label={words.palette.found}>
        {found.map((command, index) => (
          <li
            key={command.id}
            id={`${list}-${command.id}`}
            role="option"
            aria-selected={index === at}
            onClick={() => run(command)}
            onMouseMove={() => setChosen(index)}
          >
            <span className="palette-name">{command.name}</span>
            <span className="palette-hint">{command.hint}</span>
            {command.keys === undefined ? null : <kbd>{command.keys}</kbd>}
          </li>
        ))}
      </ul>
      {found.length === 0 ? <p className="empty">{words.palette.none}</p> : null}
    </Dialog>
  );
}
