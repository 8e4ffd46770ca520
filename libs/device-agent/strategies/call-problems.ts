import { argumentProblems, fieldsOf, type CommandCall, type ToolInfo } from '#proto';

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
  const known = Object.keys(fieldsOf(tool.inputSchema?.['properties']));
  const problems = argumentProblems(call.arguments, tool.inputSchema).map(({ name, kind, message }) =>
    kind === 'unknown'
      ? `it has no argument ${shown(name)}${known.length > 0 ? `, only ${known.join(', ')}` : ''}`
      : `${at(name)} ${message}`,
  );
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

const shown = (text: string): string =>
  JSON.stringify(text.length <= SHOWN_MAX ? text : `${text.slice(0, SHOWN_MAX)}...`);

/** Names that are none are quoted. */
const at = (name: string): string => `arguments.${/^[A-Za-z_]\w{0,39}$/u.test(name) ? name : shown(name)}`;
