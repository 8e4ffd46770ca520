// The parts that operations are described with, as OpenAPI 3.1 has them.

export const ID = { name: 'id', in: 'path', required: true, schema: { type: 'string' } };
export const RUN_ID = {
  ...ID,
  description: 'its id, or the beginning of it from 4 characters on; where nothing is changed also "latest"',
};
export const LIMIT = { name: 'limit', in: 'query', schema: { type: 'integer', minimum: 1, maximum: 1_000 } };
export const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  description: 'the request id, when the body has none',
  schema: { type: 'string' },
};

export const VERB_KEY = {
  ...IDEMPOTENCY_KEY,
  description: 'the id of this command: the same id is decided once; every answer names it in this header',
};
export function body(name: string, required = false) {
  return { requestBody: { required, content: { 'application/json': { schema: reference(name) } } } };
}
export function operation(summary: string, responses: Record<string, unknown>, parameters: readonly unknown[]) {
  return { summary, parameters, responses: { ...responses, ...refusedWith(400, 401, 403, 429, 503) } };
}

const REASONS: Readonly<Record<number, string>> = {
  400: 'not valid; the issues name each field',
  401: 'no login, or one that is not known',
  403: 'none of the roles that it needs, or the Host or Origin is not one of ours',
  404: 'there is no such run or task',
  409: 'the request id was used with other content, the state of the run does not allow it, or an edit breaks a rule',
  413: 'larger than allowed',
  429: 'too much of yours is in work; after the seconds of Retry-After',
  503: 'not now, or nobody knows yet what came of it; send the same id again',
  507: 'nothing can be stored now, and the sentence says why; send the same id again when there is room',
};

export function refusedWith(...statuses: number[]): Record<string, unknown> {
  return Object.fromEntries(
    statuses.map((status) => [
      status,
      { description: REASONS[status], content: { 'application/json': { schema: reference('Refused') } } },
    ]),
  );
}

export function answer(name: string) {
  return { description: name, content: { 'application/json': { schema: reference(name) } } };
}

/** The same answer, also as text. */
export function textBeside(name: string, mediaType: string) {
  return { content: { ...answer(name).content, [mediaType]: { schema: { type: 'string' } } } };
}

export function texts(...mediaTypes: string[]) {
  const content = mediaTypes.map((mediaType) => [mediaType, { schema: { type: 'string' } }]);
  return { description: mediaTypes.join(', '), content: Object.fromEntries(content) as unknown };
}

export function textAnswer(mediaType: string) {
  return { description: mediaType, content: { [mediaType]: { schema: { type: 'string' } } } };
}

export function reference(name: string) {
  return { $ref: `#/components/schemas/${name}` };
}
