/** What of JSON Schema the schemas of messages come out as. */
interface Schema {
  readonly $ref?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly type?: string | readonly string[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
}

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}

interface Operation {
  readonly summary: string;
  readonly parameters: readonly { name: string; in: string; required?: boolean; schema: Schema }[];
  readonly requestBody?: Content & { readonly required?: boolean };
  readonly responses: Readonly<Record<string, Content>>;
}

/** An OpenAPI document, as far as it is looked at here. */
interface DescribedApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

const HEAD = `// Made of the description of the HTTP interface, and never written by hand: npm run build && node tools/api-types.mjs

`;
const NAME = /^[A-Za-z_]\w*$/u;

/** The HTTP interface as types: each schema and each operation on one line. What has a default may be left out, also where it is answered. */
export function apiTypes(document: object): string {
  const { paths, components } = document as DescribedApi;
  const schemas = Object.entries(components.schemas).map(([name, schema]) => `  ${key(name)}: ${typeOf(schema)};`);
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, operation]) =>
        `  /** ${operation.summary} */\n  '${method.toUpperCase()} ${path}': ${saidAndAnswered(operation)};`,
    ),
  );
  return `${HEAD}/** What is sent and answered, by its name in the description. */
export interface ApiSchemas {
${schemas.join('\n')}
}

/** What is asked for, by method and path. */
export interface ApiOperations {
${operations.join('\n')}
}
`;
}

function saidAndAnswered({ parameters, requestBody, responses }: Operation): string {
  const inPath = parameters.filter((one) => one.in === 'path');
  const behind = parameters.filter((one) => one.in === 'query');
  const fields = [
    inPath.length === 0 ? '' : `path: { ${inPath.map(({ name }) => `${key(name)}: string`).join('; ')} }`,
    behind.length === 0
      ? ''
      : `query?: { ${behind.map(({ name, schema }) => `${key(name)}?: ${typeOf(schema)}`).join('; ')} }`,
    requestBody === undefined ? '' : `body${requestBody.required === true ? '' : '?'}: ${jsonOf(requestBody)}`,
    `answer: ${answerOf(responses)}`,
  ];
  return `{ ${fields.filter((field) => field !== '').join('; ')} }`;
}

/** Of what went well; text where it is no JSON. */
function answerOf(responses: Operation['responses']): string {
  const [, well] = Object.entries(responses).find(([status]) => status.startsWith('2')) ?? [];
  return well === undefined ? 'unknown' : jsonOf(well);
}

function jsonOf({ content = {} }: Content): string {
  const { 'application/json': json } = content;
  return json === undefined ? 'string' : typeOf(json.schema);
}

function typeOf(schema: Schema): string {
  const { $ref, const: only, enum: some, anyOf, oneOf, type } = schema;
  if ($ref !== undefined) return `ApiSchemas['${$ref.split('/').at(-1) ?? ''}']`;
  if (only !== undefined) return JSON.stringify(only);
  if (some !== undefined) return union(some.map((value) => JSON.stringify(value)));
  const choices = anyOf ?? oneOf;
  if (choices !== undefined) return union(choices.map(typeOf));
  if (Array.isArray(type)) return union(type.map((one: string) => typeOf({ ...schema, type: one })));
  switch (type) {
    case 'integer':
    case 'number':
      return 'number';
    case 'string':
    case 'boolean':
    case 'null':
      return type;
    case 'array':
      return `readonly ${typeOf(schema.items ?? {})}[]`;
    case 'object':
      return objectOf(schema);
    default:
      return 'unknown';
  }
}

function objectOf({ properties = {}, required = [], additionalProperties }: Schema): string {
  const fields = Object.entries(properties).map(
    ([name, schema]) => `${key(name)}${required.includes(name) ? '' : '?'}: ${typeOf(schema)}`,
  );
  if (fields.length > 0) return `{ ${fields.join('; ')} }`;
  if (additionalProperties === false) return 'Record<string, never>';
  return `Readonly<Record<string, ${typeof additionalProperties === 'object' ? typeOf(additionalProperties) : 'unknown'}>>`;
}

const union = (types: readonly string[]): string => {
  const all = [...new Set(types)];
  return all.length === 1 ? (all[0] ?? 'never') : `(${all.join(' | ')})`;
};

const key = (name: string): string => (NAME.test(name) ? name : JSON.stringify(name));
