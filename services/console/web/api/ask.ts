import type { ApiOperations } from './schema.js';

/** Method and path, as the description has them: `GET /v1/runs/{id}`. */
export type ApiOperation = keyof ApiOperations;
/** What an operation wants to be told: names in its path, fields behind the `?`, a body. `key`: the id of a change, so that saying it again does nothing twice. */
export type ApiSaid<O extends ApiOperation> = Omit<ApiOperations[O], 'answer'> & { readonly key?: string };
export type ApiAnswer<O extends ApiOperation> = ApiOperations[O]['answer'];

/** How one request goes out, and what comes back of one that was not refused. */
export type ApiSend = (method: string, address: string, said: { body?: unknown; key?: string }) => Promise<unknown>;

interface Said {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
  readonly key?: string;
}

/** Asks the console with the types of its own description. What is answered is taken at its word: who is in doubt parses it. */
export function apiClient(send: ApiSend) {
  return <O extends ApiOperation>(operation: O, said: ApiSaid<O>): Promise<ApiAnswer<O>> => {
    const [method = '', template = ''] = operation.split(' ');
    const { path = {}, query = {}, ...more }: Said = said;
    const address = template.replaceAll(/\{(\w+)\}/gu, (_, name: string) => encodeURIComponent(path[name] ?? ''));
    const behind = queryOf(query);
    return send(method, behind === '' ? address : `${address}?${behind}`, more) as Promise<ApiAnswer<O>>;
  };
}

/** Of a list each by itself; what is not said is left out. */
function queryOf(query: Readonly<Record<string, unknown>>): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    [value].flat().flatMap((one) => (one === undefined ? [] : [[name, textOf(one)]])),
  );
  return new URLSearchParams(pairs).toString();
}

/** Fields behind the `?` are texts, numbers and yes or no; what is none of them is said as JSON, and refused there. */
const textOf = (one: unknown): string => (typeof one === 'string' ? one : JSON.stringify(one));
