import { readFile } from 'node:fs/promises';
import { errors, type NatsConnection } from '@nats-io/transport-node';
import { busKeyOfSeed, readSecret } from '#libs/keys';
import {
  AccessNotStoredError,
  BusError,
  connectBus,
  QueryRefusedError,
  QueryUnavailableError,
  refusedBus,
  signsQueries,
  storeAccess,
} from '#libs/messaging';
import { subjects, type AccessRecord } from '#proto';
import {
  CliError,
  badInput,
  cannotStore,
  failure,
  messageOf,
  unreachable,
  type CliContext,
} from '../terminal/index.js';
import { homeOf, parseEndpoints, withoutCredentials } from '../home/index.js';
import { patienceOf, USUAL_PATIENCE, type Patience, type PatienceWish } from './patience.js';
import { untilSilent } from './silence.client.js';

/** `cli` may do what people do every day; `admin` may also delete. */
export type BusRole = 'cli' | 'admin';

/** What somebody reads with his own key. */
export type OwnAccess = Pick<AccessRecord, 'what' | 'runId' | 'taskId' | 'artifact' | 'asked'>;

const CLOSE_MS_MAX = 500;
/** After this long a person is told what is waited for. */
const TOLD_AFTER_MS = 1_000;
const WHAT_TO_CHECK: Readonly<Record<BusError['kind'], string>> = {
  away: ' Is it the right address, and does the server run? See: orrery status, orrery doctor',
  refused: ' ORRERY_NATS_SEED_FILE names the file of a key that it knows.',
  key: '',
};

export interface BusAddress {
  readonly url: string;
  readonly seedFile: string | undefined;
  /** The key is one that somebody gave: the name of its user is not known here. */
  readonly hasOwnKey?: boolean;
  /** How long it may say nothing; the usual time when absent. */
  readonly patience?: Partial<Patience>;
  /** The clock that queries are signed by, in milliseconds since the epoch; that of the machine when absent. */
  readonly now?: () => number;
}

/** ORRERY_NATS_URL, else the embedded system of ORRERY_HOME; with the key in ORRERY_NATS_SEED_FILE, else with that of the home. */
async function findBus(env: NodeJS.ProcessEnv, user: BusRole = 'cli'): Promise<BusAddress> {
  const url = env['ORRERY_NATS_URL'] ?? '';
  const given = env['ORRERY_NATS_SEED_FILE'] ?? '';
  if (url !== '') return { url, seedFile: given === '' ? undefined : given, hasOwnKey: given !== '' };
  const home = homeOf(env);
  const text = await readFile(home.endpointsFile, 'utf8').catch(() => undefined);
  const endpoints = text === undefined ? undefined : parseEndpoints(text);
  if (endpoints === undefined) {
    throw unreachable(`No system is running in ${home.root}; start one with "orrery up", or set ORRERY_NATS_URL.`);
  }
  return { url: endpoints.nats, seedFile: given === '' ? home.seedFile(user) : given, hasOwnKey: given !== '' };
}

/**
 * Connects, does the work, and closes whatever happens. What services are asked is signed with the key that lets us in. What the bus
 * says is turned into one sentence and an exit code.
 */
export async function withBus<T>(
  context: CliContext,
  work: (nc: NatsConnection) => Promise<T>,
  { user = 'cli', ...wish }: PatienceWish & { readonly user?: BusRole } = {},
): Promise<T> {
  const { env, now, terminal } = context;
  const address = await findBus(env, user);
  return withBusAt({ ...address, now, patience: patienceOf(context, (said) => terminal.err(said), wish) }, work, user);
}

/** As `withBus`, for what changes something: without a key it is not even tried. `seed`: of that key, for what is signed otherwise. */
export async function withSignedBus<T>(
  context: CliContext,
  work: (nc: NatsConnection, seed: string) => Promise<T>,
  wish: PatienceWish = {},
): Promise<T> {
  const { env, now, terminal } = context;
  const address = await findBus(env);
  const seed = await seedOf(address);
  return withBusAt({ ...address, now, patience: patienceOf(context, (said) => terminal.err(said), wish) }, (nc) =>
    work(nc, seed),
  );
}

/** The seed of the key that lets us in, for what is signed and not sent over the bus. Throws CliError without one. */
export async function ownSeed({ env }: CliContext): Promise<string> {
  const given = env['ORRERY_NATS_SEED_FILE'] ?? '';
  const isElsewhere = (env['ORRERY_NATS_URL'] ?? '') !== '';
  return seedOf({ seedFile: given !== '' || isElsewhere ? given : homeOf(env).seedFile('cli') });
}

async function seedOf({ seedFile = '' }: Pick<BusAddress, 'seedFile'>): Promise<string> {
  const seed = await readSeed(seedFile);
  if (seed !== undefined) return seed;
  throw badInput('This is signed with your key of the bus: set ORRERY_NATS_SEED_FILE to the file that holds it.');
}

export async function withBusAt<T>(
  address: BusAddress,
  work: (nc: NatsConnection) => Promise<T>,
  user: BusRole = 'cli',
): Promise<T> {
  const { url, seedFile, now = Date.now } = address;
  const patience = { ...USUAL_PATIENCE, ...address.patience };
  const kept = keptBuses.get(patience.signal);
  try {
    const nc = kept?.of(user) ?? (await connected(address, patience, user));
    if (seedFile !== undefined) seedFiles.set(nc, seedFile);
    const over = new AbortController();
    let isWell = false;
    try {
      const seed = await readSeed(seedFile ?? '');
      if (seed !== undefined) signsQueries(nc, { seed, now });
      const where = `NATS at ${withoutCredentials(url)}`;
      const refused = () => refusedBus({ url, seedFile });
      const worked = work(nc).catch(async (error: unknown) => {
        await soonHeard(nc, error);
        throw error;
      });
      const done = await Promise.race([worked, untilSilent(nc, { ...patience, where, refused, over: over.signal })]);
      isWell = true;
      return done;
    } finally {
      over.abort();
      if (isWell && kept !== undefined) await kept.keep(user, nc);
      else await close(nc);
    }
  } catch (error) {
    throw explained(error, withoutCredentials(url));
  }
}

/** A service that did not answer is named only when the bus itself still does: until then it is silent, and that is to be said. */
async function soonHeard(nc: NatsConnection, error: unknown): Promise<void> {
  if (error instanceof QueryUnavailableError && error.mayComeBack) await nc.flush().catch(() => undefined);
}

/** The connections of a command that asks again and again: one that was well is used again. */
class KeptBus {
  readonly #kept = new Map<BusRole, NatsConnection>();

  of(user: BusRole): NatsConnection | undefined {
    const nc = this.#kept.get(user);
    this.#kept.delete(user);
    return nc?.isClosed() === true ? undefined : nc;
  }

  /** One is enough: a second one of what was asked at the same time is closed. */
  async keep(user: BusRole, nc: NatsConnection): Promise<void> {
    if (this.#kept.has(user)) await close(nc);
    else this.#kept.set(user, nc);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#kept.values()].map(close));
  }
}

/** By the signal that ends the command: it is the same in all that the command does. */
const keptBuses = new WeakMap<AbortSignal, KeptBus>();

/** What is asked of the bus meanwhile is asked over one connection, as long as it stands and answers. */
export async function keepingBus<T>({ signal }: Pick<CliContext, 'signal'>, work: () => Promise<T>): Promise<T> {
  const kept = new KeptBus();
  keptBuses.set(signal, kept);
  try {
    return await work();
  } finally {
    keptBuses.delete(signal);
    await kept.close();
  }
}

/** Connected, or not: in the time there is, and never longer than a person wants. */
async function connected(
  { url, seedFile, hasOwnKey = false }: BusAddress,
  { connectMs, say, signal }: Patience,
  user: BusRole,
): Promise<NatsConnection> {
  const connecting = connectBus({
    url,
    seedFile,
    name: `orrery-${user}`,
    ...(hasOwnKey ? {} : { inboxPrefix: `_INBOX_${user}` }),
    connectTimeoutMs: connectMs,
  });
  const { promise: stopped, reject } = Promise.withResolvers<never>();
  const stop = (): void => reject(failure('Stopped before there was a connection.'));
  const told = setTimeout(
    () => say(`connecting to NATS at ${withoutCredentials(url)} for up to ${connectMs / 1_000} s`),
    TOLD_AFTER_MS,
  );
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  try {
    return await Promise.race([connecting, stopped]);
  } catch (error) {
    connecting.then(close, () => undefined);
    throw error;
  } finally {
    clearTimeout(told);
    signal.removeEventListener('abort', stop);
  }
}

const seedFiles = new WeakMap<NatsConnection, string>();

/**
 * Writes down with our key what is about to be read with it; only then it may be shown. Where the bus knows no keys, nobody could be named.
 * Throws CliError when it cannot be stored.
 */
export async function recordAccess(nc: NatsConnection, about: OwnAccess): Promise<void> {
  const seed = await readSeed(seedFiles.get(nc) ?? '');
  if (seed === undefined) return;
  try {
    await storeAccess(nc, subjects.accessByKey(busKeyOfSeed(seed)), about);
  } catch (error) {
    throw error instanceof AccessNotStoredError ? unreachable(error.message, error) : error;
  }
}

async function readSeed(file: string): Promise<string | undefined> {
  if (file === '') return undefined;
  try {
    return await readSecret(file);
  } catch (error) {
    throw failure(`The key in ${file} cannot be read: ${messageOf(error)}`, error);
  }
}

function explained(error: unknown, url: string): unknown {
  if (error instanceof CliError) return error;
  if (error instanceof BusError) return unreachable(`${error.message}${WHAT_TO_CHECK[error.kind]}`, error);
  if (error instanceof QueryUnavailableError) return unreachable(error.message, error);
  if (error instanceof errors.TimeoutError) return unreachable(`NATS at ${url} did not answer in time.`, error);
  if (!(error instanceof QueryRefusedError)) return error;
  const { code, message, issues } = error.refusal;
  if (code === 'STORAGE_FULL') return cannotStore(error.refusal);
  if (code === 'TRY_AGAIN') return unreachable(message, error);
  return code === 'UNAUTHORIZED' ? failure(message, error) : badInput(error.message, issues);
}

/** A server that went away must not hold the end of a command. */
async function close(nc: NatsConnection): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, CLOSE_MS_MAX);
  await Promise.race([nc.close(), late]);
  clearTimeout(timer);
}
