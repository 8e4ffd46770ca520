import { CONSTELLATION_TOOL_NAMES, CONSTELLATION_TOOLS, fieldsOf, type Json } from '#proto';

type Schema = Readonly<Record<string, Json>>;

/**
 * The seven tools with their arguments, as the wire defines them: a field that is added there is told of here. What the fields
 * of tasks and dependencies mean stands in `planFieldsText`.
 */
export function constellationToolsText(): string {
  return CONSTELLATION_TOOL_NAMES.map((name) => {
    const { about, input } = CONSTELLATION_TOOLS[name];
    return [`### ${name}`, '', about, '', ...fieldLines(schemaOf(input), false)].join('\n');
  }).join('\n\n');
}

/** The fields of a task and of a dependency in a plan that begins. */
export function planFieldsText(): { readonly task: string; readonly dependency: string } {
  return {
    task: fieldLines(schemaOf(CONSTELLATION_TOOLS.add_task.input), true).join('\n'),
    dependency: fieldLines(schemaOf(CONSTELLATION_TOOLS.add_dependency.input), true).join('\n'),
  };
}

/** As it is written, not as it is read: what has a default may be left out. */
const schemaOf = (schema: { toJSONSchema(options: { io: 'input' }): unknown }): Schema =>
  schema.toJSONSchema({ io: 'input' }) as Schema;

function fieldLines(schema: Schema, withMeaning: boolean): string[] {
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  return Object.entries(fieldsOf(schema['properties'])).map(([name, value]) => {
    const field = fieldsOf(value);
    const about = withMeaning && typeof field['description'] === 'string' ? `: ${field['description']}` : '';
    return `- \`${name}\` (${typeOf(field, withMeaning ? 2 : 1)}${required.includes(name) ? ', required' : ''})${about}`;
  });
}

/** A type in few words; `depth`: how far into objects. */
function typeOf(schema: Schema, depth: number): string {
  const { type, enum: values, anyOf, items, properties } = schema;
  if (Array.isArray(values)) return values.map((value) => JSON.stringify(value)).join(' | ');
  if (Array.isArray(anyOf)) return anyOf.map((one) => typeOf(fieldsOf(one), depth)).join(' or ');
  if (type === 'array') return `[${typeOf(fieldsOf(items), depth)}]`;
  if (type !== 'object') return typeof type === 'string' ? type : 'any';
  const names = Object.entries(fieldsOf(properties));
  if (names.length === 0 || depth <= 0) return 'object';
  return `{${names.map(([name, value]) => `${name}: ${typeOf(fieldsOf(value), depth - 1)}`).join(', ')}}`;
}
