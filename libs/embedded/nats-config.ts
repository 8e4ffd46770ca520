// The nats-server configuration as a pure function of what is wanted: a file to review and to test, not a template.

/**
 * How a client proves who it is: with an Ed25519 user key (`U...`; the server never learns a secret), or with a password, for
 * clients that have nothing but a socket.
 */
type NatsCredential = { readonly nkeyPublic: string } | { readonly password: string };

/** A subject of the services that an account outside may publish on, and gets its answers from. */
interface ImportedService {
  readonly subject: string;
  /** How it is called there; the same when absent. */
  readonly as?: string;
  /** It is answered with more than one message. */
  readonly streams?: boolean;
}

/**
 * An account beside that of the services. Nothing crosses its border but these subjects, whatever its users may do inside of it; the
 * limits are for all connections of the account together.
 */
export interface OutsideAccount {
  readonly name: string;
  readonly services: readonly ImportedService[];
  /** What it hears of what the services publish. */
  readonly hears: readonly string[];
  readonly connectionsMax: number;
  readonly subscriptionsMax: number;
  readonly payloadBytesMax: number;
}

/** One client identity. An empty list means "nothing", never "everything". */
export type NatsUser = NatsCredential & {
  readonly name: string;
  /** Where it lives; with the services when absent. What the users of one account say of it is put together. */
  readonly outside?: OutsideAccount | undefined;
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
  /** Lets a service answer requests without naming every inbox. */
  readonly allowResponses?: boolean;
};

export interface NatsConfigOptions {
  readonly serverName: string;
  /** Address to listen on, for clients and for the monitoring; absent: the loopback interface. */
  readonly host?: string | undefined;
  readonly port: number;
  readonly monitorPort: number;
  readonly storeDir: string;
  /** Absent: standard error. */
  readonly logFile?: string | undefined;
  /** Without users the server is open to everybody who reaches the loopback interface: for tests only. */
  readonly users?: readonly NatsUser[] | undefined;
  readonly maxFileStore?: string | undefined;
}

const MAX_PAYLOAD = '8MB';
const MAX_FILE_STORE = '64GB';
const MAX_MEMORY_STORE = '256MB';
const CONSUMERS_MAX = 2000;
/** The server's own 2 s are too short for a machine on which a whole system starts at once. */
const AUTH_TIMEOUT_S = 15;
const LOG_FILE_SIZE_LIMIT = '16MB';
const LOG_FILES_MAX = 4;
const NOTHING = '{ deny: [">"] }';
const SERVICES_ACCOUNT = 'ORRERY';

const LOOPBACK = '127.0.0.1';

const Name = /^[A-Za-z0-9_-]{1,64}$/;
const UserKey = /^U[A-Z2-7]{55}$/;
/** Generated ones only; a bcrypt hash would be read as such, so `$` is out. */
const Password = /^[A-Za-z0-9_-]{22,128}$/;
const Address = /^(?:\d{1,3}\.){3}\d{1,3}$/;
const Subject = /^[^\s"\\]{1,256}$/;

/** Renders a configuration that `nats-server -c` accepts; throws on a name, key or subject that could change its meaning. */
export function renderNatsConfig(options: NatsConfigOptions): string {
  const host = checked(options.host ?? LOOPBACK, Address, 'address');
  return [
    `server_name: ${text(checked(options.serverName, Name, 'server name'))}`,
    `listen: "${host}:${port(options.port)}"`,
    `http: "${host}:${port(options.monitorPort)}"`,
    `max_payload: ${MAX_PAYLOAD}`,
    ...logFile(options.logFile),
    'jetstream {',
    `  store_dir: ${text(options.storeDir)}`,
    `  max_file_store: ${options.maxFileStore ?? MAX_FILE_STORE}`,
    `  max_memory_store: ${MAX_MEMORY_STORE}`,
    '  sync_interval: always # a published fact is on the disk before it is acknowledged',
    `  limits { default_max_consumers: ${CONSUMERS_MAX} }`,
    '}',
    ...(options.users === undefined ? [] : accounts(options.users)),
    '',
  ].join('\n');
}

function logFile(file: string | undefined): readonly string[] {
  if (file === undefined) return [];
  return [`log_file: ${text(file)}`, `logfile_size_limit: ${LOG_FILE_SIZE_LIMIT}`, `logfile_max_num: ${LOG_FILES_MAX}`];
}

/** JetStream lives in ORRERY; SYS is separate so that no client sees the server's own events, and so is everybody outside. */
function accounts(users: readonly NatsUser[]): readonly string[] {
  const outside = accountsOutside(users);
  return [
    `authorization { timeout: ${AUTH_TIMEOUT_S} }`,
    'accounts {',
    '  SYS {}',
    `  ${SERVICES_ACCOUNT} {`,
    '    jetstream: enabled',
    ...usersLines(users.filter((user) => user.outside === undefined)),
    ...listLines('exports', exportsTo(outside)),
    '  }',
    ...outside.flatMap((account) => [
      `  ${checked(account.name, Name, 'account name')} {`,
      ...usersLines(users.filter((user) => user.outside?.name === account.name)),
      ...listLines('imports', importsOf(account)),
      `    limits { ${limitsOf(account)}, max_leafnodes: 0 }`,
      '  }',
    ]),
    '}',
    'system_account: SYS',
  ];
}

/** One of each name: it imports what any of its users asks for. */
function accountsOutside(users: readonly NatsUser[]): OutsideAccount[] {
  const said = users.flatMap(({ outside }) => outside ?? []);
  return [...Map.groupBy(said, ({ name }) => name).values()].flatMap((same) => {
    const services = new Map(same.flatMap((one) => one.services.map((service) => [service.subject, service])));
    return same.slice(-1).map((account) => ({ ...account, services: [...services.values()] }));
  });
}

const usersLines = (users: readonly NatsUser[]): readonly string[] => listLines('users', users.flatMap(userLines));

function listLines(name: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [`    ${name}: [`, ...lines.map((line) => `      ${line}`), '    ]'];
}

/** Each subject to those accounts only that import it. */
function exportsTo(all: readonly OutsideAccount[]): readonly string[] {
  const services = all.flatMap((account) => account.services.map((service) => ({ ...service, to: account.name })));
  const streams = all.flatMap(({ name, hears }) => hears.map((subject) => ({ subject, to: name })));
  const exported = (kind: string, subject: string, more: string, to: readonly { to: string }[]): string =>
    `{ ${kind}: ${subjectText(subject)}${more}, accounts: [${to.map(({ to: name }) => name).join(', ')}] }`;
  return [
    ...[...Map.groupBy(services, ({ subject }) => subject)].map(([subject, to]) =>
      exported('service', subject, to.some((one) => one.streams) ? ', response_type: stream' : '', to),
    ),
    ...[...Map.groupBy(streams, ({ subject }) => subject)].map(([subject, to]) => exported('stream', subject, '', to)),
  ];
}

function importsOf({ services, hears }: OutsideAccount): readonly string[] {
  const from = (subject: string): string => `{ account: ${SERVICES_ACCOUNT}, subject: ${subjectText(subject)} }`;
  return [
    ...services.map(
      ({ subject, as }) => `{ service: ${from(subject)}${as === undefined ? '' : `, to: ${subjectText(as)}`} }`,
    ),
    ...hears.map((subject) => `{ stream: ${from(subject)} }`),
  ];
}

function limitsOf({ connectionsMax, subscriptionsMax, payloadBytesMax }: OutsideAccount): string {
  const limits = { max_connections: connectionsMax, max_subscriptions: subscriptionsMax, max_payload: payloadBytesMax };
  return Object.entries(limits)
    .map(([name, limit]) => `${name}: ${count(limit, name)}`)
    .join(', ');
}

function userLines(user: NatsUser): readonly string[] {
  return [
    `# ${checked(user.name, Name, 'user name')}`,
    '{',
    ...credentialLines(user),
    '  permissions: {',
    `    publish: ${subjects(user.publish)}`,
    `    subscribe: ${subjects(user.subscribe)}`,
    ...(user.allowResponses === true ? ['    allow_responses: true'] : []),
    '  }',
    '}',
  ];
}

function credentialLines(user: NatsUser): readonly string[] {
  if ('nkeyPublic' in user) return [`  nkey: ${text(checked(user.nkeyPublic, UserKey, `public key of ${user.name}`))}`];
  return [
    `  user: ${text(user.name)}`,
    `  password: ${text(checked(user.password, Password, `password of ${user.name}`))}`,
  ];
}

/** nats-server reads an empty allow list as "no restriction", the opposite of what an empty list says here. */
function subjects(list: readonly string[]): string {
  if (list.length === 0) return NOTHING;
  return `{ allow: [${list.map(subjectText).join(', ')}] }`;
}

const subjectText = (subject: string): string => text(checked(subject, Subject, 'subject'));

/** nats-server reads -1 as "without limit", and 0 as that in some places. */
function count(value: number, what: string): number {
  if (!Number.isSafeInteger(value) || value < 1) throw new RangeError(`${value} is no ${what}.`);
  return value;
}

function checked(value: string, pattern: RegExp, what: string): string {
  if (!pattern.test(value)) throw new RangeError(`The ${what} ${JSON.stringify(value)} is not valid in nats.conf.`);
  return value;
}

/** Port 0 would silently become 4222 in nats-server. */
function port(value: number): number {
  if (!Number.isInteger(value) || value < 1 || value > 65_535) throw new RangeError(`${value} is not a port.`);
  return value;
}

/** A quoted string: inside quotes nats-server expands no `$VARIABLE`, which subjects such as `$JS.API.INFO` rely on. */
function text(value: string): string {
  return `"${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}
