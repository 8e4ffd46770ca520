import { useState, type ReactElement } from 'react';
import {
  dateTimeText,
  Empty,
  Foreign,
  goTo,
  Icon,
  Loading,
  PageLink,
  Problem,
  WordsField,
  usePlace,
} from '../../parts/index.js';
import { useAsked, useMay } from '../../wire/index.js';
import { words } from '../../words/index.js';
import { fits, People, type ListedPerson } from './people.js';
import { AddForm } from './person-forms.js';
import { PersonDrawer } from './person-drawer.js';
import { OwnTokens } from './tokens.js';

interface Shown {
  readonly typed: string;
  readonly open: string | undefined;
}

function addressOf({ typed, open }: Shown): string {
  const said = new URLSearchParams();
  if (typed !== '') said.set('words', typed);
  if (open !== undefined) said.set('open', open);
  return said.size === 0 ? '/people' : `/people?${said.toString()}`;
}

/** Everybody who is known, for who may see that; the own tokens for everybody else. */
export function PeoplePage(): ReactElement {
  const may = useMay();
  if (may('registry.people')) return <Everybody />;
  return (
    <div className="page narrow">
      <div className="page-head">
        <h1>{words.people.title}</h1>
      </div>
      <p className="faint">{words.people.mayNot}</p>
      <OwnTokens />
    </div>
  );
}

function Everybody(): ReactElement {
  const may = useMay();
  const { search } = usePlace();
  const [adding, setAdding] = useState(false);
  const { value, problem, again } = useAsked('/v1/people', (json) => People.parse(json));
  const people = value?.people ?? [];
  const shown: Shown = { typed: search.get('words') ?? '', open: search.get('open') ?? undefined };
  const fitting = people.filter((person) => fits(person, shown.typed));
  const opened = people.find(({ actor }) => actor.id === shown.open);
  return (
    <div className="page">
      <div className="page-head">
        <h1>{words.people.title}</h1>
        {may('registry.people-add') ? (
          <button type="button" className="button primary" onClick={() => setAdding(true)}>
            <Icon name="request" />
            {words.people.add}
          </button>
        ) : null}
      </div>
      <WordsField
        label={words.people.search}
        value={shown.typed}
        onChange={(typed) => goTo(addressOf({ ...shown, typed }), { replace: true })}
      />
      {problem === undefined ? null : <Problem text={problem} />}
      {value === undefined && problem === undefined ? <Loading /> : null}
      {value !== undefined && shown.open !== undefined && opened === undefined ? (
        <Problem text={words.people.unknown(shown.open)} />
      ) : null}
      {value !== undefined && fitting.length === 0 ? <Empty title={words.people.none} /> : null}
      {fitting.length === 0 ? null : (
        <PeopleTable people={fitting} addressOf={(open) => addressOf({ ...shown, open })} />
      )}
      {adding ? <AddForm onDone={again} onClose={() => setAdding(false)} /> : null}
      {opened === undefined ? null : (
        <PersonDrawer
          key={opened.actor.id}
          person={opened}
          onDone={again}
          onClose={() => goTo(addressOf({ ...shown, open: undefined }), { replace: true })}
        />
      )}
    </div>
  );
}

interface PeopleTableProps {
  readonly people: readonly ListedPerson[];
  readonly addressOf: (open: string) => string;
}

function PeopleTable({ people, addressOf: address }: PeopleTableProps): ReactElement {
  return (
    <table className="table small rows-table">
      <thead>
        <tr>
          <th scope="col">{words.people.id}</th>
          <th scope="col">{words.people.kindTitle}</th>
          <th scope="col">{words.people.roles}</th>
          <th scope="col">{words.people.logins}</th>
          <th scope="col" className="number">
            {words.people.keys}
          </th>
          <th scope="col">{words.people.since}</th>
        </tr>
      </thead>
      <tbody>
        {people.map(({ actor, roles, logins, keys, addedAt, revokedAt }) => (
          <tr key={actor.id}>
            <th scope="row">
              <PageLink href={address(actor.id)} aria-label={words.people.detailsOf(actor.id)}>
                <Foreign text={actor.id} />
              </PageLink>{' '}
              {revokedAt === undefined ? null : <span className="tag">{words.people.isRevoked}</span>}
            </th>
            <td data-name={words.people.kindTitle}>{words.people.kind[actor.kind]}</td>
            <td data-name={words.people.roles}>{roles.join(', ') || words.people.noRoles}</td>
            <td data-name={logins.length === 0 ? undefined : words.people.logins}>
              <Foreign text={logins.map(({ subject }) => subject).join(', ')} />
            </td>
            <td data-name={words.people.keys} className="number">
              {keys.filter(({ until }) => until === undefined).length}
            </td>
            <td data-name={words.people.since}>{dateTimeText(addedAt)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
