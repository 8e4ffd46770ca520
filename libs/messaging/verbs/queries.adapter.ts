import { setTimeout as wait } from 'node:timers/promises';
import { Svcm, type ServiceMsg } from '@nats-io/services';
import { nuid, type NatsConnection } from '@nats-io/transport-node';
import type { z } from 'zod';
import { proveActor } from '#libs/keys';
import {
  ASKED_OF_ALL,
  parseJson,
  parseWith,
  QUERIES,
  QueryError,
  subjects,
  isSignedAction,
  type QueryAction,
  type Refusal,
} from '#proto';
import { ConnectionWatch, isAsked, refusalOfFault, storeFaultOf } from '../connection/index.js';
import { ask, type QuestionOutcome } from './ask.client.js';
import { askerOf, type Asker, type Authority } from './asker.js';
import { QueryRefusedError, QueryUnavailableError, refused } from './refused.js';
import { signerOn, type CommandSigner } from './signing.js';

const QUERY_TIMEOUT_MS = 5_000;
const NOBODY_WAIT_MS = 300;
const SERVICE_VERSION = '1.0.0';
const CODE_REFUSED = 400;
const CODE_FAILED = 500;

export type QueryService = keyof typeof QUERIES;
export type QueryName<S extends QueryService> = keyof (typeof QUERIES)[S] & string;
type Shape<S extends QueryService, N extends QueryName<S>> = (typeof QUERIES)[S][N] extends {
  request: infer Q extends z.ZodType;
  answer: infer A extends z.ZodType;
}
  ? { request: z.infer<Q>; answer: z.infer<A> }
  : never;
export type QueryRequest<S extends QueryService, N extends QueryName<S>> = Shape<S, N>['request'];
export type QueryAnswer<S extends QueryService, N extends QueryName<S>> = Shape<S, N>['answer'];
/** `asker`: of a query that has to be signed; what services ask each other nobody else can ask on the bus. */
export type QueryHandlers<S extends QueryService> = {
  [N in QueryName<S>]: (request: QueryRequest<S, N>, asker: Asker) => Promise<QueryAnswer<S, N>>;
};

export interface ServeOptions {
  /** Who asks, and whether he may: nothing that has to be signed is answered without it. */
  readonly authority: Authority;
  /** A handler failed in a way the caller is told nothing about. */
  readonly report?: (error: unknown, query: string) => void;
  /** The server takes a subscription away, for example because its user has no right to it: no query is answered any more. */
  readonly lost?: (error: Error) => void;
}

export interface Served {
  stop(): Promise<void>;
}

/** Serves all queries of a service as NATS micro services; replicas share the work. Both directions are validated. */
export async function serveQueries<S extends QueryService>(
  nc: NatsConnection,
  service: S,
  handlers: QueryHandlers<S>,
  options: ServeOptions,
): Promise<Served> {
  const served = await new Svcm(nc).add({
    name: `orrery-${service}`,
    version: SERVICE_VERSION,
    description: `queries of the ${service} service`,
    queue: service,
  });
  for (const [name, schemas] of Object.entries<Schemas>(QUERIES[service])) {
    const handler = handlers[name as QueryName<S>] as Endpoint['handler'];
    served.addEndpoint(name, {
      subject: subjects.query(service, name),
      // A queue of its own: it hears what all are asked.
      ...(OF_ALL.has(`${service}.${name}`) && { queue: nuid.next() }),
      handler: (error, message) => {
        if (error !== null || !isAsked(message)) return;
        const action = `${service}.${name}` as QueryAction;
        const { authority } = options;
        void answer(message, {
          action,
          schemas,
          handler,
          authority,
          report: (failure) => options.report?.(failure, name),
        });
      },
    });
  }
  let isStopping = false;
  const watch = async (): Promise<void> => {
    const error = await served.stopped;
    if (error !== null && !isStopping && !nc.isClosed()) options.lost?.(error);
  };
  void watch();
  await nc.flush();
  return {
    stop: async () => {
      isStopping = true;
      await served.stop();
    },
  };
}

interface Schemas {
  readonly request: z.ZodType;
  readonly answer: z.ZodType;
}

interface Endpoint extends Pick<ServeOptions, 'authority'> {
  readonly action: QueryAction;
  readonly schemas: Schemas;
  readonly handler: (request: unknown, asker?: Asker) => Promise<unknown>;
  readonly report: (error: unknown) => void;
}

async function answer(message: ServiceMsg, endpoint: Endpoint): Promise<void> {
  const { action, schemas, handler, authority, report } = endpoint;
  try {
    const { body, asker } = await askerOf(jsonOf(message), { action, subject: message.subject, authority });
    const request = parseWith(schemas.request, body);
    if (!request.ok) throw refused('INVALID_REQUEST', 'The query is not valid.', request.issues);
    message.respond(JSON.stringify(schemas.answer.parse(await handler(request.value, asker))));
  } catch (error) {
    const isRefused = error instanceof QueryRefusedError;
    if (!isRefused) report(error);
    const fault = storeFaultOf(error);
    const refusal = isRefused ? error.refusal : fault === undefined ? FAILED : refusalOfFault(fault);
    const body: QueryError = { error: refusal };
    message.respondError(isRefused ? CODE_REFUSED : CODE_FAILED, refusal.message, JSON.stringify(body));
  }
}

const FAILED: Refusal = { code: 'TRY_AGAIN', message: 'The service could not answer this now.', issues: [] };

function jsonOf(message: ServiceMsg): unknown {
  try {
    return message.data.length > 0 ? message.json() : {};
  } catch {
    throw refused('INVALID_JSON', 'The query is not JSON.');
  }
}

const OF_ALL: ReadonlySet<string> = new Set(ASKED_OF_ALL);

export interface AskOptions {
  /** 5 s when absent. */
  readonly timeoutMs?: number;
  /** Who asks, where that is not who signs the queries of this connection. */
  readonly signer?: CommandSigner | undefined;
}

/**
 * Asks a service, signed by who signs the queries of this connection. Throws QueryRefusedError when it says no, QueryUnavailableError when
 * nobody answers.
 */
export async function query<S extends QueryService, N extends QueryName<S>>(
  nc: NatsConnection,
  service: S,
  name: N,
  request: QueryRequest<S, N>,
  { timeoutMs = QUERY_TIMEOUT_MS, signer = signerOn(nc) }: AskOptions = {},
): Promise<QueryAnswer<S, N>> {
  const schemas = (QUERIES[service] as Record<string, Schemas>)[name];
  if (schemas === undefined) throw new TypeError(`There is no query ${service}.${name}.`);
  const subject = subjects.query(service, name);
  const isSigned = signer !== undefined && isSignedAction(`${service}.${name}` as QueryAction);
  const question = isSigned ? signed(subject, request as object, signer) : JSON.stringify(request);
  const put = ONCE.has(`${service}.${name}`) ? ask : askTwice;
  // The client keeps back what is sent while the bus is away, and lets who asks run into his whole timeout.
  if (!(await ConnectionWatch.of(nc).isBackSoon(timeoutMs)))
    throw new QueryUnavailableError('The bus cannot be reached now.', { kind: 'nobody' });
  let asked = await put(nc, subject, question, timeoutMs);
  // A server of the bus that reads its configuration anew finds nobody for a moment.
  if (asked.kind === 'nobody') {
    await wait(Math.min(NOBODY_WAIT_MS, timeoutMs));
    asked = await put(nc, subject, question, timeoutMs);
  }
  if (asked.kind !== 'answered') {
    const { kind, cause } = asked;
    if (kind === 'denied')
      throw new QueryUnavailableError(`This key may not ask ${service} for ${name}.`, { kind, cause });
    const what = kind === 'nobody' ? 'is not running' : `did not answer in ${timeoutMs / 1_000} s`;
    throw new QueryUnavailableError(`The ${service} service ${what}.`, { kind, cause });
  }
  const { json } = asked;
  const no = QueryError.safeParse(json);
  if (no.success) throw new QueryRefusedError(no.data.error);
  const answered = schemas.answer.safeParse(json);
  if (answered.success) return answered.data;
  throw new QueryUnavailableError(`The ${service} service gave an answer that is not valid.`, {
    kind: 'invalid',
    cause: answered.error,
  });
}

/** How long the next replica may take after one that has answered, and all together. */
const STALL_MS = 700;
const ALL_MS_MAX = 4_000;

/**
 * Asks every replica of a service what each answers for itself, once. Nobody knows how many there are: these are those that have answered in
 * time. Throws like `query` when it is none, and when one refuses.
 */
export async function queryAll<S extends QueryService, N extends QueryName<S>>(
  nc: NatsConnection,
  service: S,
  name: N,
  request: QueryRequest<S, N>,
  { signer = signerOn(nc), stallMs = STALL_MS }: Pick<AskOptions, 'signer'> & { readonly stallMs?: number } = {},
): Promise<QueryAnswer<S, N>[]> {
  const schemas = (QUERIES[service] as Record<string, Schemas>)[name];
  if (schemas === undefined) throw new TypeError(`There is no query ${service}.${name}.`);
  const subject = subjects.query(service, name);
  const question = signer === undefined ? JSON.stringify(request) : signed(subject, request as object, signer);
  const found: QueryAnswer<S, N>[] = [];
  try {
    const options = { strategy: 'stall', stall: stallMs, maxWait: ALL_MS_MAX } as const;
    for await (const message of await nc.requestMany(subject, question, options)) {
      const json = parseJson(message.data);
      const no = QueryError.safeParse(json);
      if (no.success) throw new QueryRefusedError(no.data.error);
      const answered = schemas.answer.safeParse(json);
      if (answered.success) found.push(answered.data);
    }
  } catch (cause) {
    if (cause instanceof QueryRefusedError) throw cause;
    throw new QueryUnavailableError(`The ${service} service could not be asked.`, { kind: 'nobody', cause });
  }
  if (found.length > 0) return found;
  throw new QueryUnavailableError(`No ${service} service has answered.`, { kind: 'nobody' });
}

/** Asked twice, these would give two secrets or ask a model twice; all others change what they change once. */
const ONCE: ReadonlySet<string> = new Set<QueryAction>([
  'registry.enroll',
  'registry.enroll-client',
  'planner.learn',
  'planner.demonstrate',
  'planner.evaluate',
]);

/**
 * Puts the same question once more after half the time: a server of the bus that reads its configuration anew (a key was added or
 * revoked) forgets where the answers are to go that are on their way from one account to another.
 */
async function askTwice(
  nc: NatsConnection,
  subject: string,
  question: string,
  timeoutMs: number,
): Promise<QuestionOutcome> {
  const half = Math.ceil(timeoutMs / 2);
  const first = ask(nc, subject, question, timeoutMs);
  const { promise: patience, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), half);
  const early = await Promise.race([first, patience]);
  clearTimeout(timer);
  return early ?? Promise.race([first, ask(nc, subject, question, timeoutMs - half)]);
}

/** What is signed is what will arrive: without fields that have no value. */
function signed(subject: string, request: object, { seed, now, vouched }: CommandSigner): string {
  const body = JSON.parse(JSON.stringify(request)) as object;
  const actor = proveActor(seed, { subject, at: new Date(now()).toISOString(), body, vouched });
  return JSON.stringify({ ...body, actor });
}
