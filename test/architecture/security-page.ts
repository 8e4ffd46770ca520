import { OWN_KEY } from '#libs/keys';
import { natsUsers, peopleUsers } from '#libs/messaging';
import { Role, ROLE_TABLE, RUN_VERBS, type ActionName } from '#proto';

/** A table of docs/security.md: its head, then its rows, as cells. */
type Cells = readonly (readonly string[])[];

const code = (words: readonly string[]): string => words.map((word) => `\`${word}\``).join(' ') || '-';

/** Roles and what each may do; what is allowed to the same roles stands in one row. */
export function rolesTable(): Cells {
  const rows = new Map<string, ActionName[]>();
  for (const action of Object.keys(ROLE_TABLE) as ActionName[]) {
    const rights = JSON.stringify(rightsTo(action));
    rows.set(rights, [...(rows.get(rights) ?? []), action]);
  }
  return [
    ['Action', ...Role.options],
    ...[...rows].map(([rights, actions]) => [code(actions), ...(JSON.parse(rights) as string[])]),
  ];
}

function rightsTo(action: ActionName): string[] {
  const rule = ROLE_TABLE[action];
  const { own = [] } = rule;
  return Role.options.map((role) => (rule.roles.includes(role) ? 'yes' : own.includes(role) ? 'own' : '-'));
}

const ANYBODY = `U${'A'.repeat(55)}`;

/** Keys and what the server lets each do: what it reads, writes and hears, and which verbs and questions it sends. */
export function keysTable(): Cells {
  const people = peopleUsers([
    { id: 'person', kind: 'person', key: ANYBODY },
    { id: 'system', kind: 'external', key: ANYBODY },
  ]).map((user) => ({ ...user, name: user.name === 'person' ? 'key of a person' : 'key of another system' }));
  return [
    ['Key', 'Account', 'Reads whole', 'Takes inputs of', 'Writes', 'Verbs', 'Asks', 'Hears'],
    ...[...natsUsers(), ...people].map(({ name, publish, subscribe, outside }) => [
      name.includes(' ') ? name : code([name]),
      outside === undefined ? 'services' : 'its own',
      code(tokensAfter(publish, '$JS.API.DIRECT.GET.').filter((stream) => !stream.includes('>'))),
      code(['$JS.API', '$JS.orrery.API'].flatMap((api) => tokensAfter(publish, `${api}.CONSUMER.MSG.NEXT.`))),
      code(
        publish
          .filter((subject) => !/^(?:\$JS\.|\$SRV\.|orrery\.(?:v|command)\.)/u.test(subject))
          .map((subject) => subject.replace(ANYBODY, OWN_KEY)),
      ),
      code(
        RUN_VERBS.filter((verb) =>
          publish.some((subject) =>
            new RegExp(`^orrery\\.command\\..*\\.(?:${verb}|>)$|^orrery\\.command\\.>$`, 'u').test(subject),
          ),
        ),
      ),
      code(tokensAfter(publish, 'orrery.v.')),
      code(subscribe.filter((subject) => !/^(?:_INBOX|\$SRV\.)/u.test(subject))),
    ]),
  ];
}

function tokensAfter(subjects: readonly string[], prefix: string): string[] {
  const rest = subjects.filter((subject) => subject.startsWith(prefix)).map((subject) => subject.slice(prefix.length));
  return [...new Set(rest.map((subject) => subject.split('.')[0] ?? ''))];
}

/** The cells of the first table below this heading, as a person reads them. */
export function tableBelow(page: string, heading: string): Cells {
  const [, section = ''] = page.split(`\n${heading}\n`);
  const lines = section.split('\n');
  const from = lines.findIndex((line) => line.startsWith('|'));
  const rest = lines.slice(Math.max(0, from));
  const until = rest.findIndex((line) => !line.startsWith('|'));
  return rest
    .slice(0, until === -1 ? undefined : until)
    .filter((line) => !/^\|[\s|:-]+\|$/u.test(line))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}
