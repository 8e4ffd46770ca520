import { listOfIds } from '#libs/constellation';
import { mayDo, type Role } from '#proto';
import { bad, ok, warn, type Diagnosis } from './finding.js';

/** Somebody who is known, as far as the doctor looks at him. */
export interface KnownPerson {
  readonly actor: { readonly kind: string; readonly id: string };
  readonly roles: readonly Role[];
  readonly keys: readonly { readonly key: string; readonly until?: string | undefined }[];
  readonly revokedAt?: string | undefined;
}

/** A key that the bus lets in. */
export interface LetIn {
  readonly id: string;
  readonly key: string;
}

const PERSON = 'person';

/** Whether the token of the first start lets in while others have logins of their own: it names nobody. `offBy`: how that is ended. */
export function judgeAdminToken(
  known: readonly { readonly logins: readonly unknown[]; readonly revokedAt?: string | undefined }[],
  tokens: readonly { readonly revokedAt: string | null }[],
  offBy: string,
): Diagnosis {
  const hasLogins = known.some(({ logins, revokedAt }) => revokedAt === undefined && logins.length > 0);
  const isNeeded = !hasLogins && tokens.every(({ revokedAt }) => revokedAt !== null);
  if (isNeeded)
    return ok('logins', 'the admin token lets in as the first person; nobody has a token or login of his own yet');
  const what =
    'the admin token of the first start still lets in as the first person, and there are tokens or logins by name';
  return warn('logins', what, `turn it off: ${offBy}`);
}

/** Who may decide and administer, and whether facts and keys belong together. `letIn`: undefined when that cannot be seen from here. */
export function judgePeople(known: readonly KnownPerson[], letIn: readonly LetIn[] | undefined): Diagnosis[] {
  const living = known.filter(({ revokedAt }) => revokedAt === undefined);
  return [...judgeRoles(living), ...(letIn === undefined ? [] : judgeKeys(living, letIn))];
}

function judgeRoles(living: readonly KnownPerson[]): Diagnosis[] {
  const having = (role: Role): string[] =>
    living.filter(({ actor, roles }) => actor.kind === PERSON && roles.includes(role)).map(({ actor }) => actor.id);
  const [approvers, admins] = [having('approver'), having('admin')];
  const findings: Diagnosis[] = [];
  if (approvers.length === 0) {
    findings.push(bad('people', 'nobody may approve', 'orrery people role <id> --give approver'));
  }
  if (approvers.length === 1) {
    const what = `${approvers.join('')} alone may approve, also what is his own, and it is marked`;
    findings.push(warn('people', what, 'it ends with the second: orrery people add <id> --roles approver --key'));
  }
  if (admins.length === 0) {
    findings.push(warn('people', 'no person may administer', 'the key "admin" of the home still may'));
  }
  const count = `${living.length} known, ${approvers.length} may approve, ${admins.length} may administer`;
  return [...(findings.length === 0 ? [ok('people', count)] : findings), ...judgeAskers(living)];
}

/** Whose exact commands are judged before they run: for whoever wonders why something waits that went through before. */
function judgeAskers(living: readonly KnownPerson[]): Diagnosis[] {
  const asking = living.filter(({ roles }) => mayDo(roles, 'SUBMIT') && !mayDo(roles, 'RUN_UNJUDGED'));
  if (asking.length === 0) return [];
  const names = listOfIds(asking.map(({ actor }) => actor.id));
  const what = `what ${names} may ask for is judged, and waits for a person where the policy wants one`;
  return [ok('commands', `${what}; as it stands it runs of an operator: orrery people role <id> --give operator`)];
}

function judgeKeys(living: readonly KnownPerson[], letIn: readonly LetIn[]): Diagnosis[] {
  const facts = new Map(
    living.flatMap(({ actor, keys }) =>
      keys.filter(({ until }) => until === undefined).map(({ key }) => [key, actor.id] as const),
    ),
  );
  const strangers = letIn.filter(({ id, key }) => facts.get(key) !== id);
  if (strangers.length === 0) return [ok('keys', `${letIn.length} of people let in, each with a fact`)];
  return strangers.map(({ id, key }) =>
    bad('keys', `the bus lets ${key} in as ${id}, of which no fact says so`, `orrery people key ${id} --revoke ${key}`),
  );
}
