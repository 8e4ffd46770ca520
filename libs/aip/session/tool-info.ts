import { isObject, type Json, type ToolInfo } from '#proto';

/*
 * What a tool says of itself is for its callers, a model first of all: its description, the JSON Schema of its
 * arguments, and a line on what it returns. All of it is hostile text, so all of it has limits.
 */

const DESCRIPTION_CHARS_MAX = 4_000;
const RETURNS_CHARS_MAX = 1_000;
/** A schema that is larger tells nobody anything. */
const SCHEMA_CHARS_MAX = 16 * 1024;
/** Of the depth that a frame may have, the rest is its envelope. */
const SCHEMA_DEPTH_MAX = 24;

/** How much each tool may say, from everything to its name. */
const STEPS = [
  { descriptionChars: DESCRIPTION_CHARS_MAX, schemaChars: SCHEMA_CHARS_MAX },
  { descriptionChars: DESCRIPTION_CHARS_MAX, schemaChars: 2_048 },
  { descriptionChars: 2_000, schemaChars: 512 },
  { descriptionChars: 400, schemaChars: 0 },
  { descriptionChars: 100, schemaChars: 0 },
  { descriptionChars: 24, schemaChars: 0 },
] as const;

/** The tools as far as they fit: descriptions become shorter and schemas go, the largest first, until they do. */
export function fitToolInfos(tools: readonly ToolInfo[], fits: (tools: readonly ToolInfo[]) => boolean): ToolInfo[] {
  for (const step of STEPS) {
    const fitted = tools.map((tool) => cutDown(tool, step));
    if (fits(fitted)) return fitted;
  }
  return tools.map(({ name, readOnly }) => ({ name, description: '', readOnly }));
}

function cutDown(
  { name, description, readOnly, inputSchema, returns }: ToolInfo,
  { descriptionChars, schemaChars }: (typeof STEPS)[number],
): ToolInfo {
  const keepsSchema = inputSchema !== undefined && JSON.stringify(inputSchema).length <= schemaChars;
  return {
    name,
    description: description.slice(0, descriptionChars).toWellFormed(),
    readOnly,
    ...(keepsSchema && { inputSchema }),
    ...(returns !== undefined && schemaChars > 0 && { returns: returns.slice(0, RETURNS_CHARS_MAX).toWellFormed() }),
  };
}

/** The schema of a tool's arguments, when it is one that can be passed on. */
export function schemaOf(schema: Json | undefined): Pick<ToolInfo, 'inputSchema'> {
  if (!isObject(schema)) return {};
  // Which draft it is written in is of no use to a reader.
  const { $schema: _, ...inputSchema } = schema;
  const isUsable = depthOf(inputSchema) <= SCHEMA_DEPTH_MAX && JSON.stringify(inputSchema).length <= SCHEMA_CHARS_MAX;
  return isUsable && Object.keys(inputSchema).length > 0 ? { inputSchema } : {};
}

/** One line on an answer: what its schema says of itself, or the names and types of its fields. */
export function returnsOf(schema: Json | undefined): Pick<ToolInfo, 'returns'> {
  if (!isObject(schema)) return {};
  const { description, properties, type } = schema;
  if (typeof description === 'string' && description !== '')
    return { returns: description.slice(0, RETURNS_CHARS_MAX) };
  if (!isObject(properties)) return typeof type === 'string' ? { returns: type.slice(0, RETURNS_CHARS_MAX) } : {};
  const required = new Set(Array.isArray(schema['required']) ? schema['required'] : []);
  const fields = Object.entries(properties).map(
    ([name, field]) => `${name}${required.has(name) ? '' : '?'}${typed(field)}`,
  );
  return fields.length === 0 ? {} : { returns: `{${fields.join(', ')}}`.slice(0, RETURNS_CHARS_MAX).toWellFormed() };
}

function typed(field: Json): string {
  if (!isObject(field)) return '';
  const { type, enum: values } = field;
  if (Array.isArray(values)) return `: ${values.map((value) => JSON.stringify(value)).join(' | ')}`;
  return typeof type === 'string' ? `: ${type}` : '';
}

function depthOf(value: Json): number {
  if (value === null || typeof value !== 'object') return 0;
  return 1 + Math.max(0, ...Object.values<Json>(value).map(depthOf));
}
