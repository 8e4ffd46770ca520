import { fieldsOf, isObject, type CommandCall, type Json, type ToolInfo } from '#proto';

const SHOWN_MAX = 80;
const TOOLS_SHOWN_MAX = 30;

/**
 * Why a call cannot be meant, said so that the model can mend it; null when it can. Catches what models get wrong: a tool that
 * does not exist, a shell command in place of a tool's name, arguments that are missing, unknown or of another type. What a
 * schema says beyond that is left to the tool.
 */
export function callProblem(call: CommandCall, tools: readonly ToolInfo[]): string | null {
  const tool = tools.find(({ name }) => name === call.tool);
  if (tool === undefined) return unknownTool(call.tool, tools);
  const schema = fieldsOf(tool.inputSchema ?? null);
  const properties = fieldsOf(schema['properties']);
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  const missing = required
    .filter((name) => typeof name === 'string')
    .filter((name) => !Object.hasOwn(call.arguments, name));
  const known = Object.keys(properties);
  const unknown =
    schema['additionalProperties'] === false ? Object.keys(call.arguments).filter((name) => !known.includes(name)) : [];
  const wrong = Object.entries(call.arguments).flatMap(([name, value]) => {
    const problem = valueProblem(value, fieldsOf(properties[name]));
    return problem === null ? [] : [`${at(name)} ${problem}`];
  });
  const problems = [
    ...missing.map((name) => `${at(name)} is missing`),
    ...unknown.map(
      (name) => `it has no argument ${shown(name)}${known.length > 0 ? `, only ${known.join(', ')}` : ''}`,
    ),
    ...wrong,
  ];
  return problems.length === 0 ? null : `${tool.name} was not run: ${problems.join('; ')}.`;
}

function unknownTool(name: string, tools: readonly ToolInfo[]): string {
  const names = tools.slice(0, TOOLS_SHOWN_MAX).map((tool) => tool.name);
  const more = tools.length > names.length ? ', ...' : '';
  const shell = tools.find((tool) => tool.name === 'EXEC_CLI');
  // No name of a tool looks like this: it is what should have been run.
  const hint =
    shell !== undefined && /[\s/|;&<>$]/u.test(name)
      ? ` A command line belongs into arguments.command of ${shell.name}.`
      : '';
  return `Nothing was run: there is no tool ${shown(name)}.${hint} There is ${names.join(', ')}${more}.`;
}

function valueProblem(value: Json, schema: Readonly<Record<string, Json>>): string | null {
  const { type, enum: values } = schema;
  const types = typeof type === 'string' ? [type] : Array.isArray(type) ? type : [];
  if (types.length > 0 && !types.some((one) => isOfType(value, one)))
    return `must be ${types.map(shownType).join(' or ')}`;
  if (Array.isArray(values) && !values.some((one) => one === value)) {
    return `must be one of ${values
      .slice(0, TOOLS_SHOWN_MAX)
      .map((one) => JSON.stringify(one))
      .join(', ')}`;
  }
  if (typeof value === 'string') {
    if (typeof schema['minLength'] === 'number' && value.length < schema['minLength']) return 'is too short';
    if (typeof schema['maxLength'] === 'number' && value.length > schema['maxLength']) return 'is too long';
  }
  if (typeof value === 'number') {
    if (typeof schema['minimum'] === 'number' && value < schema['minimum'])
      return `must be at least ${schema['minimum']}`;
    if (typeof schema['maximum'] === 'number' && value > schema['maximum'])
      return `must be at most ${schema['maximum']}`;
  }
  return null;
}

/** A type that is not known is the tool's business. */
function isOfType(value: Json, type: Json): boolean {
  switch (type) {
    case 'string':
    case 'number':
    case 'boolean':
      return typeof value === type;
    case 'integer':
      return Number.isInteger(value);
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isObject(value);
    case 'null':
      return value === null;
    default:
      return true;
  }
}

const shownType = (type: Json): string => TYPES.get(type) ?? 'of another type';

const TYPES = new Map<Json, string>([
  ['string', 'a string'],
  ['number', 'a number'],
  ['integer', 'an integer'],
  ['boolean', 'true or false'],
  ['array', 'an array'],
  ['object', 'an object'],
  ['null', 'null'],
]);

const shown = (text: string): string =>
  JSON.stringify(text.length <= SHOWN_MAX ? text : `${text.slice(0, SHOWN_MAX)}...`);

/** Names that are none are quoted. */
const at = (name: string): string => `arguments.${/^[A-Za-z_]\w{0,39}$/u.test(name) ? name : shown(name)}`;
