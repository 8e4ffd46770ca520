import type { ReactElement } from 'react';
import { SearchAnswer, type FoundCommand } from '#proto';
import { shownAnswer, markedPieces, searchFiltersIn, searchSaid } from '../../model/index.js';
import { Ago, Empty, Foreign, Loading, PageLink, Problem, usePlace } from '../../parts/index.js';
import { useAsked } from '../../wire/index.js';
import { words } from '../../words/index.js';
import { SearchForm } from './search-form.js';

/** Commands and what they wrote, of all runs: what is looked for stands in the address. */
export function SearchPage(): ReactElement {
  const { search } = usePlace();
  const filters = searchFiltersIn(search);
  const said = searchSaid(filters, search.get('before') ?? undefined);
  const { value, problem } = useAsked(said === '' ? undefined : `/v1/search?${said}`, (json) =>
    SearchAnswer.parse(json),
  );
  const older = value?.before === undefined ? undefined : `/search?${searchSaid(filters, value.before)}`;
  return (
    <div className="page">
      <div className="page-head">
        <h1>{words.search.title}</h1>
        <span className="faint">{words.search.about}</span>
      </div>
      <SearchForm key={searchSaid(filters)} filters={filters} />
      {problem === undefined ? null : <Problem text={problem} />}
      {said === '' ? <Empty title={words.search.nothing} /> : null}
      {said !== '' && value === undefined && problem === undefined ? <Loading /> : null}
      {value !== undefined && value.commands.length === 0 && value.cut !== true ? (
        <Empty title={words.search.none} />
      ) : null}
      <ul className="cards">
        {(value?.commands ?? []).map((command) => (
          <Found key={command.commandId} command={command} />
        ))}
      </ul>
      {value !== undefined && value.upTo.behind > 0 ? (
        <p className="faint">{words.search.behind(value.upTo.behind)}</p>
      ) : null}
      {older === undefined ? null : (
        <PageLink className="button" href={older}>
          {value?.cut === true ? words.search.further : words.search.older}
        </PageLink>
      )}
    </div>
  );
}

function Found({ command }: { readonly command: FoundCommand }): ReactElement {
  const { at, device, by, tool, line, state, exitCode, rule, decision, cut, runId, taskId } = command;
  return (
    <li className="card found">
      <p className="card-head">
        <Ago at={at} />
        <strong>
          <Foreign text={device ?? words.search.noDevice} />
        </strong>
        <span className={`tag found-${state.toLowerCase()}`}>
          {words.search.state[state]}
          {exitCode === null ? '' : `, ${words.search.exit(exitCode)}`}
        </span>
        {by === null ? null : <Foreign text={words.search.by(by)} />}
        {rule === null ? null : <Foreign text={words.search.judged(decision ?? '', rule)} />}
      </p>
      <code className="block">
        <Foreign text={line === '' ? tool : line} />
      </code>
      <FoundIn command={command} />
      <p className="row wrap">
        <PageLink
          href={`/runs/${runId}?task=${encodeURIComponent(taskId)}`}
          className="button small"
          aria-label={words.search.openOf(taskId, runId)}
        >
          {words.search.open}
        </PageLink>
        <code>{taskId}</code>
        <span className="faint">{words.search.attempt(command.attempt, command.step, command.index)}</span>
        {cut ? <span className="faint">{words.search.partly}</span> : null}
      </p>
    </li>
  );
}

/** Where it was found, with what stands around it. The command itself stands above already. */
function FoundIn({ command: { found } }: { readonly command: FoundCommand }): ReactElement | null {
  if (found === null || (found.of === 'command' && found.marks.length === 0)) return null;
  return (
    <p className="hits">
      <span className="faint">{words.search.in[found.of]}: </span>
      {markedPieces(found.of === 'output' ? shownAnswer(found) : found).map(({ text, isHit }, index) =>
        isHit ? (
          // Pieces of one text never change places.
          <mark key={index}>
            <Foreign text={text} />
          </mark>
        ) : (
          <Foreign key={index} text={text} />
        ),
      )}
    </p>
  );
}
