import type { ReactElement } from 'react';
import { RunbooksAnswer, type RunbookInfo } from '#proto';
import { Empty, Foreign, goTo, Loading, PageLink, Problem, WordsField, usePlace } from '../../parts/index.js';
import { useAsked } from '../../wire/index.js';
import { words } from '../../words/index.js';
import { WordsBeforehand } from './words-beforehand.js';

/** Every runbook that the planner has: what it does, and what it asks for. */
export function GalleryPage(): ReactElement {
  const { search } = usePlace();
  const typed = search.get('words') ?? '';
  const asked = useAsked('/v1/runbooks', (json) => RunbooksAnswer.parse(json));
  const { runbooks, problems } = asked.value ?? { runbooks: [], problems: [] };
  const shown = runbooks.filter((runbook) => fits(runbook, typed));
  return (
    <div className="page">
      <div className="page-head">
        <h1>{words.runbooks.title}</h1>
        <span className="faint">{words.runbooks.about}</span>
        <PageLink href="/examples" className="button">
          {words.examples.title}
        </PageLink>
      </div>
      <WordsField
        label={words.runbooks.search}
        value={typed}
        onChange={(text) =>
          goTo(text === '' ? '/runbooks' : `/runbooks?words=${encodeURIComponent(text)}`, { replace: true })
        }
      />
      {asked.problem === undefined ? null : <Problem text={asked.problem} />}
      {asked.value === undefined && asked.problem === undefined ? <Loading /> : null}
      {asked.value !== undefined && shown.length === 0 ? (
        <Empty title={runbooks.length === 0 ? words.runbooks.none : words.runbooks.noneSo} />
      ) : null}
      <ul className="cards gallery">
        {shown.map((runbook) => (
          <Card key={runbook.name} runbook={runbook} />
        ))}
      </ul>
      <WordsBeforehand />
      {problems.length === 0 ? null : (
        <section aria-labelledby="unused">
          <h2 id="unused">{words.runbooks.unused}</h2>
          <ul className="issues">
            {problems.map((problem) => (
              <li key={problem} className="problem">
                <Foreign text={problem} />
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}

const fits = ({ name, title, description, matches }: RunbookInfo, typed: string): boolean =>
  [name, title, description, ...matches].join(' ').toLowerCase().includes(typed.trim().toLowerCase());

function Card({ runbook }: { readonly runbook: RunbookInfo }): ReactElement {
  const { name, title, description, parameters, matches, source } = runbook;
  return (
    <li className="card">
      <h2>
        <PageLink href={`/runbooks/${name}`}>
          <Foreign text={title} />
        </PageLink>
      </h2>
      <p className="card-head">
        <code>{name}</code>
        <span>{words.runbooks.parameters(parameters.length)}</span>
        {source === 'operator' ? <span className="tag">{words.runbooks.operator}</span> : null}
      </p>
      <Foreign text={description} block />
      {matches.length === 0 ? null : (
        <details>
          <summary>{words.runbooks.goals}</summary>
          <ul className="plain-list">
            {matches.map((match) => (
              <li key={match}>
                <Foreign text={match} />
              </li>
            ))}
          </ul>
        </details>
      )}
    </li>
  );
}
