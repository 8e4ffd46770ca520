import { useState, type ReactElement } from 'react';
import { PeopleAnswer } from '#proto';
import {
  dateTimeText,
  Empty,
  Foreign,
  goTo,
  Icon,
  Loading,
  PageLink,
  Problem,
  Table,
  WordsField,
  usePlace,
  type TableColumn,
} from '../../parts/index.js';
import { useAsked, useMay } from '../../wire/index.js';
import { words } from '../../words/index.js';
import { fits, issuersOf, knownOf, type ListedPerson } from './people.js';
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
  const { value, problem, again } = useAsked('/v1/people', (json) => PeopleAnswer.parse(json));
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
        known={knownOf(people)}
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
          issuers={issuersOf(people)}
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
    <Table
      rows={people}
      keyOf={({ actor }) => actor.id}
      columns={[
        { name: words.people.id, cell: (person) => <Named person={person} href={address(person.actor.id)} /> },
        ...COLUMNS,
      ]}
    />
  );
}

const COLUMNS: readonly TableColumn<ListedPerson>[] = [
  { name: words.people.kindTitle, cell: ({ actor }) => words.people.kind[actor.kind] },
  { name: words.people.roles, cell: ({ roles }) => roles.join(', ') || words.people.noRoles },
  {
    name: words.people.logins,
    cell: ({ logins }) =>
      logins.length === 0 ? null : <Foreign text={logins.map(({ subject }) => subject).join(', ')} />,
  },
  {
    name: words.people.keys,
    isNumber: true,
    cell: ({ keys }) => keys.filter(({ until }) => until === undefined).length,
  },
  { name: words.people.since, cell: ({ addedAt }) => dateTimeText(addedAt) },
];

function Named({ person, href }: { readonly person: ListedPerson; readonly href: string }): ReactElement {
  const { actor, revokedAt } = person;
  return (
    <>
      <PageLink href={href} aria-label={words.people.detailsOf(actor.id)}>
        <Foreign text={actor.id} />
      </PageLink>{' '}
      {revokedAt === undefined ? null : <span className="tag">{words.people.isRevoked}</span>}
    </>
  );
}
