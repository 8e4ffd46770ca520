import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { PermissionViolationError, type NatsConnection } from '@nats-io/transport-node';
import { readSecret } from '#libs/keys';
import { busPeopleIn } from '#libs/messaging';
import { patienceOf, withBusAt, type BusRole } from '../../bus/index.js';
import {
  type Endpoints,
  hasAdminToken,
  type Home,
  homeOf,
  isDirectory,
  isFile,
  lookAtStores,
  offBy,
  parseEndpoints,
} from '../../home/index.js';
import { EXIT, messageOf, printJson, type CliContext, type ExitCode } from '../../terminal/index.js';
import { checkBus } from './bus-check.client.js';
import { judgeStores } from './judge-bus.js';
import { checkDatabase } from './database-check.adapter.js';
import { bad, ok, pageOf, sumOf, warn, type Diagnosis } from './finding.js';
import { checkModes, checkProcesses } from './home-check.adapter.js';
import { checkDevices, checkPeople } from './registry-check.client.js';
import { checkServices } from './services-check.client.js';

/** No check takes longer: what does not answer is a finding, too. */
const CHECK_MS_MAX = 15_000;
const CONNECT_MS_MAX = 4_500;

/** What one check brings. */
interface Checked {
  readonly findings: readonly Diagnosis[];
  /** What was repaired. */
  readonly done?: readonly string[];
}

/** All checks at once, whatever of the system is down. Exit code 1 when something is bad. */
export async function doctor(context: CliContext, repair: boolean): Promise<ExitCode> {
  const { env, terminal, json } = context;
  const home = homeOf(env);
  const endpoints = parseEndpoints(await readFile(home.endpointsFile, 'utf8').catch(() => ''));
  const isOurs = (env['ORRERY_NATS_URL'] ?? '') === '';
  const checks = isOurs ? ofHome(home) : ofForeign(home);
  const monitorUrl = isOurs ? endpoints?.natsMonitor : env['ORRERY_NATS_MONITOR_URL'];
  checks.push(
    bounded('storage', async () => ({
      findings: judgeStores(await lookAtStores(isOurs ? home : undefined, monitorUrl)),
    })),
  );
  checks.push(bounded('services', () => services(endpoints, env)));
  checks.push(bounded('postgres', async () => ({ findings: await checkDatabase(home, { env, endpoints }) })));
  if (await isDirectory(home.keys)) checks.push(bounded('files', () => checkModes(home, repair)));
  checks.push(...(await ofBus(context, { home, endpoints, repair, monitorUrl })));
  const checked = await Promise.all(checks);
  const findings = [ok('versions', `orrery on node ${process.version}`), ...checked.flatMap((one) => one.findings)];
  const done = checked.flatMap((one) => one.done ?? []);
  if (json) printJson(context, { findings, repaired: done });
  else {
    for (const line of pageOf(findings, terminal)) terminal.out(line);
    for (const what of done) terminal.out(`mended  ${what}`);
    terminal.out(sumOf(findings));
  }
  return findings.some(({ state }) => state === 'bad') ? EXIT.failure : EXIT.ok;
}

function ofHome(home: Home): Promise<Checked>[] {
  return [bounded('processes', async () => ({ findings: await checkProcesses(home) }))];
}

function ofForeign({ root }: Home): Promise<Checked>[] {
  const what = `the bus is that of ORRERY_NATS_URL; what runs elsewhere is not looked at, nor a home in ${root}`;
  return [Promise.resolve({ findings: [ok('processes', what)] })];
}

async function services(endpoints: Endpoints | undefined, env: NodeJS.ProcessEnv): Promise<Checked> {
  if (endpoints !== undefined) return { findings: await checkServices(endpoints) };
  if ((env['ORRERY_NATS_URL'] ?? '') !== '') return { findings: [] };
  return { findings: [bad('services', 'nobody says where they listen', 'orrery up')] };
}

interface BusPlace {
  readonly home: Home;
  readonly endpoints: Endpoints | undefined;
  readonly repair: boolean;
  /** Of nats-server; undefined when nobody says where it is. */
  readonly monitorUrl: string | undefined;
}

/** With the administrator's key where it is, for only that sees every stream; the devices as a person sees them. */
async function ofBus(
  context: CliContext,
  { home, endpoints, repair, monitorUrl }: BusPlace,
): Promise<Promise<Checked>[]> {
  const { env, now } = context;
  const usual = patienceOf(context, () => {});
  const patience = { ...usual, connectMs: Math.min(usual.connectMs, CONNECT_MS_MAX) };
  const given = env['ORRERY_NATS_URL'] ?? '';
  const url = given === '' ? (endpoints?.nats ?? '') : given;
  if (url === '') {
    return [Promise.resolve({ findings: [bad('nats', 'nobody says where the bus is', 'orrery up')] })];
  }
  const seedOf = (user: BusRole): string | undefined =>
    given === '' ? home.seedFile(user) : env['ORRERY_NATS_SEED_FILE'];
  // With a key that somebody gave: whose it is, is for the server to know.
  const hasOwnKey = given !== '' && seedOf('cli') !== undefined;
  const as = <T>(user: BusRole, work: (nc: NatsConnection) => Promise<T>): Promise<T> =>
    withBusAt({ url, seedFile: seedOf(user), hasOwnKey, patience, now }, work, user);
  const mayAdminister = given !== '' || (await isFile(home.seedFile('admin')));
  const remedy = "run it where the administrator's key is";
  const unseen = {
    findings: [warn('streams', "streams and durables are not seen without the administrator's key", remedy)],
  };
  const look = async (): Promise<Checked> => {
    try {
      return await as('admin', (nc) => checkBus(nc, { monitorUrl, repair, now }));
    } catch (error) {
      if (isForbidden(error)) return unseen;
      throw error;
    }
  };
  return [
    mayAdminister ? bounded('nats', look) : Promise.resolve(unseen),
    bounded('devices', async () => ({ findings: await as('cli', checkDevices) })),
    bounded('people', async () => {
      const letIn = given === '' ? await busPeopleIn(home.peopleKeys) : undefined;
      const seed = await readSecret(seedOf('cli') ?? '');
      if (seed === undefined) return { findings: [warn('people', 'they are not seen without a key', remedy)] };
      const adminTokenOffBy = given === '' && (await hasAdminToken(home)) ? offBy(home) : undefined;
      return { findings: await as('cli', (nc) => checkPeople(nc, { letIn, adminTokenOffBy })) };
    }),
  ];
}

/** Of a request the server's word is the cause. */
const isForbidden = (error: unknown): boolean =>
  error instanceof PermissionViolationError ||
  (error instanceof Error && error.cause instanceof PermissionViolationError);

/** What throws, or does not end, is a finding of its area. */
async function bounded(area: string, check: () => Promise<Checked>): Promise<Checked> {
  const ended = new AbortController();
  const late = sleep(CHECK_MS_MAX, undefined, { signal: ended.signal, ref: false }).then((): Checked => ({
    findings: [bad(area, `no answer within ${CHECK_MS_MAX / 1000} s`, 'see the lines above')],
  }));
  late.catch(() => undefined);
  try {
    return await Promise.race([check(), late]);
  } catch (error) {
    return { findings: [bad(area, messageOf(error), 'see the lines above, and the logs')] };
  } finally {
    ended.abort();
  }
}
