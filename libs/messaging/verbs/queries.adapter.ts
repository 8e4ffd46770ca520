import { Svcm, type ServiceMsg } from '@nats-io/services';
import type { NatsConnection } from '@nats-io/transport-node';
import type { z } from 'zod';
import { parseWith, QUERIES, QueryError, sentenceOf, subjects, type Refusal } from '#proto';
import { ask } from './ask.client.js';

const QUERY_TIMEOUT_MS = 5_000;
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
export type QueryHandlers<S extends QueryService> = {
  [N in QueryName<S>]: (request: QueryRequest<S, N>) => Promise<QueryAnswer<S, N>>;
};

/** The service says no, and why. Handlers throw it, callers catch it. */
export class QueryRefusedError extends Error {
  override readonly name = 'QueryRefusedError';
  readonly refusal: Refusal;
  constructor(refusal: Refusal) {
    super([refusal.message, ...refusal.issues.map(sentenceOf)].join(' '));
    this.refusal = refusal;
  }
}

/** A no in one sentence. */
export function refused(code: Refusal['code'], message: string, issues: Refusal['issues'] = []): QueryRefusedError {
  return new QueryRefusedError({ code, message, issues });
}

/** Nobody answered: one sentence for people, the details in `cause`. */
export class QueryUnavailableError extends Error {
  override readonly name = 'QueryUnavailableError';
}

export interface ServeOptions {
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
  options: ServeOptions = {},
): Promise<Served> {
  const served = await new Svcm(nc).add({
    name: `orrery-${service}`,
    version: SERVICE_VERSION,
    description: `queries of the ${service} service`,
    queue: service,
  });
  for (const [name, schemas] of Object.entries<Schemas>(QUERIES[service])) {
    const handler = handlers[name as QueryName<S>];
    served.addEndpoint(name, {
      subject: subjects.query(service, name),
      handler: (error, message) => {
        if (error === null) void answer(message, schemas, handler, (failure) => options.report?.(failure, name));
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

async function answer(
  message: ServiceMsg,
  schemas: Schemas,
  handler: (request: unknown) => Promise<unknown>,
  report: (error: unknown) => void,
): Promise<void> {
  try {
    const request = parsed(schemas.request, message);
    message.respond(JSON.stringify(schemas.answer.parse(await handler(request))));
  } catch (error) {
    const isRefused = error instanceof QueryRefusedError;
    if (!isRefused) report(error);
    const refusal = isRefused ? error.refusal : FAILED;
    const body: QueryError = { error: refusal };
    message.respondError(isRefused ? CODE_REFUSED : CODE_FAILED, refusal.message, JSON.stringify(body));
  }
}

const FAILED: Refusal = { code: 'TRY_AGAIN', message: 'The service could not answer this now.', issues: [] };

function parsed(schema: z.ZodType, message: ServiceMsg): unknown {
  let json: unknown = {};
  try {
    if (message.data.length > 0) json = message.json();
  } catch {
    throw refused('INVALID_JSON', 'The query is not JSON.');
  }
  const request = parseWith(schema, json);
  if (request.ok) return request.value;
  throw refused('INVALID_REQUEST', 'The query is not valid.', request.issues);
}

/** Asks a service. Throws QueryRefusedError when it says no, QueryUnavailableError when nobody answers. */
export async function query<S extends QueryService, N extends QueryName<S>>(
  nc: NatsConnection,
  service: S,
  name: N,
  request: QueryRequest<S, N>,
  timeoutMs = QUERY_TIMEOUT_MS,
): Promise<QueryAnswer<S, N>> {
  const schemas = (QUERIES[service] as Record<string, Schemas>)[name];
  if (schemas === undefined) throw new TypeError(`There is no query ${service}.${name}.`);
  const asked = await ask(nc, subjects.query(service, name), JSON.stringify(request), timeoutMs);
  if (asked.kind !== 'answered') {
    const { cause } = asked;
    if (asked.kind === 'denied')
      throw new QueryUnavailableError(`This key may not ask ${service} for ${name}.`, { cause });
    const what = asked.kind === 'nobody' ? 'is not running' : `did not answer in ${timeoutMs / 1_000} s`;
    throw new QueryUnavailableError(`The ${service} service ${what}.`, { cause });
  }
  const { json } = asked;
  const no = QueryError.safeParse(json);
  if (no.success) throw new QueryRefusedError(no.data.error);
  const answered = schemas.answer.safeParse(json);
  if (answered.success) return answered.data;
  throw new QueryUnavailableError(`The ${service} service gave an answer that is not valid.`, {
    cause: answered.error,
  });
}
