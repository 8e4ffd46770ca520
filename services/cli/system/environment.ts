// What each process is told through its environment. Pure, so that a test can see who is told what.
import { ADMIN_TOKEN_HASH, type Home } from '../home/index.js';
import { SERVICES_WITH_DATABASE, WITH_MODEL, type Instance } from '../processes/index.js';

/** What a program needs from the surroundings of the launcher. */
const PASSED_ON = [
  'PATH',
  'HOME',
  'LANG',
  'LC_ALL',
  'TZ',
  'TMPDIR',
  'USER',
  'LOGNAME',
  'SHELL',
  // Whom to trust is no secret: a gateway may have the certificate of an authority that only its people know.
  'NODE_EXTRA_CA_CERTS',
] as const;
const PASSED_TO_SERVICES = /^ORRERY_/u;
/** Which model, where, and in which file the key to it is. */
const ABOUT_MODELS = /^(?:OPENAI_|ORRERY_MODEL|ORRERY_EMBEDDING_MODEL$)/u;

export const DATABASE_URL = 'ORRERY_DATABASE_URL';
/** Of a variable with a secret in it. Its value goes into a file, and the variable of this name and `_FILE` names that. */
const SECRET = /(?:_KEY|_TOKEN|_SECRET|_PASSWORD)$/u;

/** The secrets of an environment that a service would be told. */
export function givenSecrets(env: NodeJS.ProcessEnv): [name: string, value: string][] {
  return Object.entries(env).flatMap(([name, value = '']): [string, string][] =>
    value !== '' && SECRET.test(name) && (ABOUT_MODELS.test(name) || PASSED_TO_SERVICES.test(name))
      ? [[name, value]]
      : [],
  );
}

/** The address of a database, and the password that stood in it, in either of its places. What is no address stays as it is. */
export function withoutPassword(url: string): { readonly url: string; readonly password: string | undefined } {
  if (!URL.canParse(url)) return { url, password: undefined };
  const parsed = new URL(url);
  // As PostgreSQL reads it: the parameter counts.
  const password = parsed.searchParams.get('password') ?? decodeURIComponent(parsed.password);
  if (password === '') return { url, password: undefined };
  parsed.password = '';
  parsed.searchParams.delete('password');
  return { url: parsed.href, password };
}

/** Variables for services whose address says who comes, which no file can take over: the name of a user may be a token. */
export function addressesWithCredentials(env: NodeJS.ProcessEnv): string[] {
  return Object.entries(env).flatMap(([name, value = '']) => {
    const isTold = name !== DATABASE_URL && (ABOUT_MODELS.test(name) || PASSED_TO_SERVICES.test(name));
    const addresses = isTold && !SECRET.test(name) ? value.split(',').filter((one) => URL.canParse(one.trim())) : [];
    return addresses.some((one) => new URL(one.trim()).username + new URL(one.trim()).password !== '') ? [name] : [];
  });
}

export interface SystemAddresses {
  readonly natsUrl: string;
  readonly natsMonitorUrl: string | undefined;
  /** Without its password. Absent for a service that has no projections there. */
  readonly databaseUrl: string | undefined;
  readonly databasePasswordFile: string | undefined;
  /** What agents may do on devices, when the operator wrote a policy; otherwise the built-in one counts. */
  readonly policyFile: string | undefined;
  /** Runbooks that the operator wrote, besides those that are shipped. */
  readonly runbooksDir: string | undefined;
  /** Of users whose bus is not ours: everybody has this one. */
  readonly foreignSeedFile: string | undefined;
}

/** 0: any free one. What was taken once is taken again at a restart: others know it by then. */
export interface InstancePorts {
  readonly health: number;
  readonly own: number;
}

/** A device runs other people's commands: it gets nothing that is secret, and nothing of ours. */
export function deviceEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(PASSED_ON.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
}

export function serviceEnvironment(
  { service, name }: Instance,
  {
    home,
    env,
    addresses,
    ports,
  }: { home: Home; env: NodeJS.ProcessEnv; addresses: SystemAddresses; ports: InstancePorts },
): NodeJS.ProcessEnv {
  const asksModels = WITH_MODEL.includes(service);
  const settings = Object.entries(env)
    .filter(([key]) => !SECRET.test(key))
    .filter(([key]) => (ABOUT_MODELS.test(key) ? asksModels : PASSED_TO_SERVICES.test(key)));
  const { natsUrl, natsMonitorUrl, databaseUrl, databasePasswordFile, foreignSeedFile } = addresses;
  const { policyFile, runbooksDir } = addresses;
  const own: NodeJS.ProcessEnv = {
    ORRERY_HOME: home.root,
    ORRERY_NATS_URL: natsUrl,
    ORRERY_NATS_SEED_FILE: foreignSeedFile ?? home.seedFile(service),
    ...(service === 'registry' ? { ORRERY_ACTORS_FILE: home.actorsFile } : {}),
    ORRERY_INSTANCE: name,
    ORRERY_HEALTH_PORT: String(ports.health),
    ORRERY_AIP_PORT: String(ports.own),
    ORRERY_CONSOLE_PORT: String(ports.own),
    ORRERY_MCP_PORT: String(ports.own),
    ORRERY_CONSOLE_TOKEN_FILE: env['ORRERY_CONSOLE_TOKEN_FILE'] ?? home.secretFile(ADMIN_TOKEN_HASH),
    ...(policyFile === undefined ? {} : { ORRERY_POLICY_FILE: policyFile }),
    ...(runbooksDir === undefined ? {} : { ORRERY_RUNBOOKS_DIR: env['ORRERY_RUNBOOKS_DIR'] ?? runbooksDir }),
    ...(natsMonitorUrl === undefined ? {} : { ORRERY_NATS_MONITOR_URL: natsMonitorUrl }),
  };
  const merged = { ...deviceEnvironment(env), ...Object.fromEntries(settings), ...own };
  delete merged[DATABASE_URL];
  delete merged['ORRERY_DATABASE_PASSWORD_FILE'];
  if (!SERVICES_WITH_DATABASE.includes(service)) return merged;
  const password = databasePasswordFile === undefined ? {} : { ORRERY_DATABASE_PASSWORD_FILE: databasePasswordFile };
  return { ...merged, ORRERY_DATABASE_URL: databaseUrl, ...password };
}
