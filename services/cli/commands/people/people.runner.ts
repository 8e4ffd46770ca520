import { isBuiltInUser } from '#libs/messaging';
import { Actor, BusKey, Role } from '#proto';
import { askRegistry, orderOfRegistry, type Desk } from '../../bus/index.js';
import {
  badInput,
  cleanLine,
  tell,
  tellTable,
  type CliContext,
  type ExitCode,
  dayText,
  momentText,
} from '../../terminal/index.js';
import { keepOut, letIn, ownKey } from './bus-keys.adapter.js';
import { actorIdOf, atDesk, elsewhere, personAt } from './desk.js';
import { connectionText, limitsText } from './people-text.js';

export interface AddOptions {
  readonly roles: readonly string[];
  readonly kind: string;
  /** Another system, that asks for runs. */
  readonly system?: boolean | undefined;
  readonly namespace?: string | undefined;
  readonly key?: boolean | undefined;
  readonly publicKey?: string | undefined;
}
export interface RoleOptions {
  readonly give: readonly string[];
  readonly take: readonly string[];
}
export interface KeyOptions {
  readonly publicKey?: string | undefined;
  readonly revoke?: string | undefined;
  readonly reason?: string | undefined;
}
export interface LoginOptions {
  readonly issuer: string;
  readonly subject: string;
  readonly unbind?: boolean | undefined;
}

const KEY_SHOWN_CHARS = 10;

export async function listPeople(context: CliContext): Promise<ExitCode> {
  const { people } = await atDesk(context, (desk) => askRegistry(desk, 'people', {}));
  return tellTable(context, {
    json: { people },
    rows: people,
    nothing: 'Nobody is known yet; see: orrery people add --help',
    columns: [
      { title: 'ID', value: ({ actor }) => actor.id },
      { title: 'KIND', value: ({ actor }) => actor.kind },
      { title: 'ROLES', value: ({ roles }) => (roles.length === Role.options.length ? 'all' : roles.join(' ') || '-') },
      { title: 'KEYS', value: ({ keys }) => String(keys.filter(({ until }) => until === undefined).length) },
      { title: 'LOGINS', value: ({ logins }) => String(logins.length) },
      {
        title: 'GIVEN',
        value: ({ limits = {} }) =>
          Object.entries(limits)
            .map((one) => one.join('='))
            .join(' ') || '-',
      },
      { title: 'REVOKED', value: ({ revokedAt }) => (revokedAt === undefined ? '-' : dayText(revokedAt)) },
    ],
  });
}

export async function showPerson(context: CliContext, id: string): Promise<ExitCode> {
  const { person, tokens } = await atDesk(context, async (desk) => {
    const found = await personAt(desk, id);
    return { person: found, tokens: (await askRegistry(desk, 'tokens', { actorId: found.actor.id })).tokens };
  });
  const { keys, logins, ...facts } = person;
  const lines = [
    `${person.actor.id}  ${person.actor.kind}, since ${momentText(person.addedAt)}`,
    `roles      ${facts.roles.join(' ') || '-'}`,
    `namespace  ${facts.namespace}`,
    ...(person.actor.kind === 'external' || facts.limits !== undefined
      ? [`limits     ${limitsText(facts.limits ?? {})}`]
      : []),
    ...(facts.revokedAt === undefined ? [] : [`revoked    ${momentText(facts.revokedAt)}`]),
    ...keys.map(
      ({ key, from, until }) =>
        `key        ${key}\n           from ${momentText(from)}${until ? ` until ${momentText(until)}` : ''}`,
    ),
    ...logins.map(({ issuer, subject }) => `login      ${cleanLine(subject)} at ${cleanLine(issuer)}`),
    ...tokens.map(({ tokenId, label, revokedAt }) =>
      cleanLine(`token      ${tokenId} ${label}${revokedAt === null ? '' : ` (revoked ${momentText(revokedAt)})`}`),
    ),
  ];
  return tell(context, { person, tokens }, lines.join('\n'));
}

/** First what is known of him, then the fact of his key, then the key is let in: what can connect always has a fact. */
export async function addPerson(context: CliContext, id: string, options: AddOptions): Promise<ExitCode> {
  const actorId = actorIdOf(id);
  if (isBuiltInUser(id)) throw badInput(`"${id}" is a user of the installation itself; choose another id.`);
  const { system = false } = options;
  const kind = system ? 'external' : Actor.shape.kind.safeParse(options.kind).data;
  if (kind === undefined) throw badInput(`--kind: must be one of ${Actor.shape.kind.options.join(', ')}`);
  const { key: wantsKey = false, namespace, publicKey } = options;
  const roles = rolesOf('--roles', system && options.roles.length === 0 ? ['requester'] : options.roles);
  return atDesk(context, async (desk) => {
    const own = await keyFor(context, actorId, { publicKey, wanted: wantsKey });
    const changed = await orderOfRegistry(desk, 'people-add', {
      actorId,
      kind,
      roles,
      ...(namespace !== undefined && { namespace }),
    });
    const said = [
      `${actorId} ${changed ? 'is known' : 'was known already'}${changed ? ` as ${roles.join(', ') || 'nobody who may do anything'}` : ''}`,
    ];
    if (own !== undefined) {
      said.push(...(await giveKey(context, desk, { ...own, id: actorId, kind })));
      if (kind !== 'person') said.push(...connectionText(actorId, own));
    }
    return tell(context, { actorId, kind, roles, changed, ...own }, said.join('\n'));
  });
}

export async function changeRoles(context: CliContext, id: string, options: RoleOptions): Promise<ExitCode> {
  const [give, take] = [rolesOf('--give', options.give), rolesOf('--take', options.take)];
  if (give.length + take.length === 0) throw badInput('Say which roles to --give or to --take.');
  return atDesk(context, async (desk) => {
    const actorId = actorIdOf(id);
    const body = { actorId, ...(give.length > 0 && { give }), ...(take.length > 0 && { take }) };
    const changed = await orderOfRegistry(desk, 'people-role', body);
    const { roles } = await personAt(desk, actorId);
    return tell(context, { actorId, roles, changed }, `${actorId} has the roles ${roles.join(', ') || '-'}`);
  });
}

/** A key is kept out first and then revoked, so that nothing that is revoked is still connected. */
export async function changeKey(context: CliContext, id: string, options: KeyOptions): Promise<ExitCode> {
  const { publicKey, revoke, reason } = options;
  const because = reason === undefined ? {} : { reason };
  return atDesk(context, async (desk) => {
    const { actor, limits } = await personAt(desk, id);
    if (revoke === undefined) {
      const own = await keyFor(context, actor.id, { publicKey, wanted: true });
      if (own === undefined) throw badInput('No key was given.');
      const said = await giveKey(context, desk, { ...own, ...actor, ...because, connections: limits?.connections });
      return tell(context, { actorId: actor.id, ...own, changed: true }, said.join('\n'));
    }
    const key = busKeyOf('--revoke', revoke);
    const ended = await keepOut(context, (person) => person.key === key && person.id === actor.id);
    const changed = await orderOfRegistry(desk, 'people-key', { actorId: actor.id, change: 'revoke', key, ...because });
    const said = [`${shortKey(key)} of ${actor.id} counts no more`, ...(ended ? [] : [elsewhere('out of')])];
    return tell(context, { actorId: actor.id, key, changed }, said.join('\n'));
  });
}

export async function changeLogin(context: CliContext, id: string, options: LoginOptions): Promise<ExitCode> {
  const { issuer, subject, unbind = false } = options;
  return atDesk(context, async (desk) => {
    const actorId = actorIdOf(id);
    const change = unbind ? 'unbind' : 'bind';
    const changed = await orderOfRegistry(desk, 'people-login', { actorId, change, issuer, subject });
    const words = unbind ? 'logs in with it no more' : 'logs in with it';
    return tell(context, { actorId, issuer, subject, changed }, `${actorId} ${words}`);
  });
}

export async function revokePerson(context: CliContext, id: string, reason: string | undefined): Promise<ExitCode> {
  return atDesk(context, async (desk) => {
    const { actor } = await personAt(desk, id);
    const ended = await keepOut(context, (person) => person.id === actor.id);
    const because = reason === undefined ? {} : { reason };
    const changed = await orderOfRegistry(desk, 'people-revoke', { actorId: actor.id, ...because });
    const words = changed ? 'is revoked: keys, tokens and logins count no more' : 'was revoked already';
    const said = [`${actor.id} ${words}`, ...(ended ? [] : [elsewhere('out of')])];
    return tell(context, { actorId: actor.id, changed }, said.join('\n'));
  });
}

interface GivenKey {
  readonly id: string;
  readonly kind: Actor['kind'];
  readonly key: string;
  readonly seedFile?: string | undefined;
  readonly reason?: string;
  readonly connections?: number | undefined;
}

async function giveKey(context: CliContext, desk: Desk, given: GivenKey): Promise<string[]> {
  const { id, kind, key, seedFile, reason, connections } = given;
  const because = reason === undefined ? {} : { reason };
  await orderOfRegistry(desk, 'people-key', { actorId: id, change: 'add', key, ...because });
  if (!(await letIn(context, { id, kind, key, connections }))) return [elsewhere('into')];
  const where = seedFile === undefined ? shortKey(key) : `the key in ${seedFile}`;
  return [`the bus lets ${where} in; ORRERY_NATS_SEED_FILE names it to this program`];
}

async function keyFor(
  context: CliContext,
  id: string,
  { publicKey, wanted }: { readonly publicKey: string | undefined; readonly wanted: boolean },
): Promise<{ key: string; seedFile?: string } | undefined> {
  if (publicKey !== undefined) return { key: busKeyOf('--public-key', publicKey) };
  return wanted ? ownKey(context, id) : undefined;
}

function rolesOf(option: string, words: readonly string[]): Role[] {
  return [...new Set(words)].map((word) => {
    const role = Role.safeParse(word).data;
    if (role === undefined)
      throw badInput(`${option}: "${cleanLine(word)}" is no role; there are ${Role.options.join(', ')}.`);
    return role;
  });
}

function busKeyOf(option: string, text: string): string {
  const parsed = BusKey.safeParse(text);
  if (parsed.success) return parsed.data;
  throw badInput(`${option}: ${parsed.error.issues.map(({ message }) => message).join('; ')}, U and 55 characters.`);
}

const shortKey = (key: string): string => `the key ${key.slice(0, KEY_SHOWN_CHARS)}…`;
