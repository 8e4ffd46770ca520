import { fieldsOf, type Json, type ToolInfo } from '#proto';

/** What tools say of themselves is hostile and may be huge: nothing of one tool is shown beyond these. */
const PARAMETERS_MAX = 40;
const DESCRIPTION_CHARS_MAX = 4_000;
const PARAMETER_CHARS_MAX = 500;
const VALUE_CHARS_MAX = 200;
/** All tools together. */
const TOOLS_CHARS_MAX = 60_000;

const SEPARATOR = '\n\n---\n\n';

/** One tool as a model is told of it: name, description, parameters, what it returns, and how a call of it looks. */
export function toolToPrompt(tool: ToolInfo): string {
  const parameters = parametersOf(tool.inputSchema);
  const shown = parameters.slice(0, PARAMETERS_MAX);
  const lines = shown.map(parameterLine);
  if (parameters.length > shown.length) lines.push(`- (${parameters.length - shown.length} more are not shown)`);
  if (lines.length === 0) lines.push('- (none)');
  return [
    `Tool name: ${oneLine(tool.name, VALUE_CHARS_MAX)}`,
    `Description: ${clipped(tool.description.trim(), DESCRIPTION_CHARS_MAX)}`,
    '',
    'Parameters:',
    ...lines,
    '',
    `Returns: ${clipped((tool.returns ?? '').trim(), DESCRIPTION_CHARS_MAX)}`,
    '',
    'Example usage:',
    `${oneLine(tool.name, VALUE_CHARS_MAX)}(${shown.filter(isInExample).map(exampleArgument).join(', ')})`,
  ].join('\n');
}

/**
 * All tools, parted by a line; `wrap` may put something around each. When they are too many, those that do not fit are named
 * only. In the order in which they are given.
 */
export function toolsToPrompt(tools: readonly ToolInfo[], wrap: (text: string) => string = (text) => text): string {
  const shown: string[] = [];
  const named: string[] = [];
  let chars = 0;
  for (const tool of tools) {
    const text = toolToPrompt(tool);
    chars += text.length + SEPARATOR.length;
    if (named.length === 0 && chars <= TOOLS_CHARS_MAX) shown.push(wrap(text));
    else named.push(oneLine(tool.name, VALUE_CHARS_MAX));
  }
  if (named.length > 0) shown.push(wrap(clipped(`Not described here: ${named.join(', ')}`, 10_000)));
  return shown.join(SEPARATOR);
}

interface Parameter {
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  readonly description: string;
  /** Undefined when there is none. */
  readonly byDefault: Json | undefined;
}

/** Required ones first, then by name: the order of the keys of a schema gets lost where it is stored. */
function parametersOf(schema: ToolInfo['inputSchema']): Parameter[] {
  const properties = fieldsOf(schema?.['properties']);
  const required = new Set(Array.isArray(schema?.['required']) ? schema['required'] : []);
  const all = Object.entries(properties).map(([name, described]): Parameter => {
    const fields = fieldsOf(described);
    return {
      name: oneLine(name, VALUE_CHARS_MAX),
      type: typeOf(fields),
      required: required.has(name),
      description: oneLine(typeof fields['description'] === 'string' ? fields['description'] : '', PARAMETER_CHARS_MAX),
      byDefault: fields['default'],
    };
  });
  return all.sort((one, other) => Number(other.required) - Number(one.required) || compare(one.name, other.name));
}

function parameterLine({ name, type, required, description, byDefault }: Parameter): string {
  const line = `- ${name} (${type}, ${required ? 'required' : 'optional'}): ${description}`;
  if (byDefault === undefined) return line;
  const shown = typeof byDefault === 'string' ? oneLine(byDefault, VALUE_CHARS_MAX) : boundedJson(byDefault);
  return `${line}${/[.!?]$/u.test(description) ? '' : '.'} Default: ${shown}`;
}

/** What can be left out and has no default says nothing in an example. */
const isInExample = ({ required, byDefault }: Parameter): boolean => required || byDefault !== undefined;

function exampleArgument({ name, type, byDefault }: Parameter): string {
  return `${name}=${byDefault === undefined ? (EXAMPLES.get(type) ?? '"..."') : boundedJson(byDefault)}`;
}

const EXAMPLES = new Map([
  ['integer', '1'],
  ['number', '1'],
  ['boolean', 'true'],
  ['array', '[]'],
  ['object', '{}'],
]);

function typeOf({ type, enum: values, anyOf, oneOf }: Readonly<Record<string, Json>>): string {
  if (typeof type === 'string') return oneLine(type, 50);
  if (Array.isArray(type)) return oneLine(type.filter((one) => typeof one === 'string').join(' | '), 50);
  if (Array.isArray(values)) return 'enum';
  const choices = Array.isArray(anyOf) ? anyOf : oneOf;
  if (!Array.isArray(choices)) return 'any';
  const types = choices.slice(0, 5).map((choice) => fieldsOf(choice)['type']);
  return oneLine(types.filter((one) => typeof one === 'string').join(' | ') || 'any', 50);
}

/** A default may be megabytes: no more of it is written than can be shown. */
function boundedJson(value: Json): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, VALUE_CHARS_MAX));
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const isSmall = Object.keys(value).length <= 10 && Object.values(value).every((item) => typeof item !== 'object');
  return isSmall ? clipped(JSON.stringify(value), VALUE_CHARS_MAX) : '(a longer value)';
}

const compare = (one: string, other: string): number => (one < other ? -1 : Number(one > other));

function oneLine(text: string, chars: number): string {
  return clipped(
    text
      .slice(0, 4 * chars)
      .replace(/\s+/gu, ' ')
      .trim(),
    chars,
  );
}

function clipped(text: string, chars: number): string {
  return text.length <= chars ? text : `${text.slice(0, chars).toWellFormed()}...`;
}
