import { readFile } from 'node:fs/promises';
import { errors, type NatsConnection } from '@nats-io/transport-node';
import { busKeyOfSeed, readSecret } from '#libs/keys';
import {
  AccessNotStoredError,
  BusError,
  connectBus,
  QueryRefusedError,
  QueryUnavailableError,
  signsQueries,
  storeAccess,
} from '#libs/messaging';
import { subjects, type AccessRecord } from '#proto';
import { CliError, badInput, failure, messageOf, unreachable, type CliContext } from '../terminal/index.js';
import { homeOf, parseEndpoints } from '../home/index.js';

/** `cli` may do what people do every day; `admin` may also delete. */
export type BusRole = 'cli' | 'admin' | 'external';

/** What somebody reads with his own key. */
export type OwnAccess = Pick<AccessRecord, 'what' | 'runId' | 'taskId' | 'artifact'>;

const CLOSE_MS_MAX = 2_000;

export interface BusAddress {
  readonly url: string;
  readonly seedFile: string | undefined;
  /** The key is one that somebody gave: the name of its user is not known here. */
  readonly hasOwnKey?: boolean;
  /** How long one try to connect may take, in milliseconds; the usual time when absent. */
  readonly dialTimeoutMs?: number;
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
  { env, now }: Pick<CliContext, 'env' | 'now'>,
  work: (nc: NatsConnection) => Promise<T>,
  user: BusRole = 'cli',
): Promise<T> {
  const address = await findBus(env, user);
  return withBusAt({ ...address, now }, work, user);
}

/** As `withBus`, for what changes something: without a key it is not even tried. `seed`: of that key, for what is signed otherwise. */
export async function withSignedBus<T>(
  { env, now }: Pick<CliContext, 'env' | 'now'>,
  work: (nc: NatsConnection, seed: string) => Promise<T>,
): Promise<T> {
  const address = await findBus(env);
  const seed = await readSeed(address.seedFile ?? '');
  if (seed === undefined) {
    throw badInput('This is signed with your key of the bus: set ORRERY_NATS_SEED_FILE to the file that holds it.');
  }
  return withBusAt({ ...address, now }, (nc) => work(nc, seed));
}

export async function withBusAt<T>(
  { url, seedFile, hasOwnKey = false, dialTimeoutMs, now = Date.now }: BusAddress,
  work: (nc: NatsConnection) => Promise<T>,
  user: BusRole = 'cli',
): Promise<T> {
  try {
    const nc = await connectBus({
      url,
      seedFile,
      name: `orrery-${user}`,
      ...(hasOwnKey ? {} : { inboxPrefix: `_INBOX_${user}` }),
      ...(dialTimeoutMs !== undefined && { dialTimeoutMs }),
    });
    if (seedFile !== undefined) seedFiles.set(nc, seedFile);
    try {
      const seed = await readSeed(seedFile ?? '');
      if (seed !== undefined) signsQueries(nc, { seed, now });
      return await work(nc);
    } finally {
      await close(nc);
    }
  } catch (error) {
    throw explained(error);
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

function explained(error: unknown): unknown {
  if (error instanceof CliError) return error;
  if (error instanceof BusError || error instanceof QueryUnavailableError) return unreachable(error.message, error);
  if (error instanceof errors.TimeoutError) return unreachable('NATS did not answer in time.', error);
  if (!(error instanceof QueryRefusedError)) return error;
  const { code, message, issues } = error.refusal;
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
