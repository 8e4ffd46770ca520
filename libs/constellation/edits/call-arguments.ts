import { type AgentProfile, argumentProblems, type CommandCall, type Issue, type TaskStar } from '#proto';

/** Why no device that may be meant can take the arguments of a call; undefined when one can, or has not said what it takes. */
export function wrongArguments(
  { command, verify }: Pick<TaskStar, 'command' | 'verify'>,
  able: readonly AgentProfile[],
): Issue | undefined {
  return ofCall(command, 'command', able) ?? ofCall(verify?.command, 'verify.command', able);
}

function ofCall(call: CommandCall | undefined, path: string, able: readonly AgentProfile[]): Issue | undefined {
  if (call === undefined || able.length === 0) return undefined;
  const refusals = able.map((device) => refusalOf(call, device));
  const [first] = refusals;
  if (first === undefined || refusals.includes(undefined)) return undefined;
  return { path: `${path}.arguments${first.path}`, message: first.message };
}

function refusalOf({ tool, arguments: given }: CommandCall, { deviceId, tools }: AgentProfile): Issue | undefined {
  const info = tools.find(({ name }) => name === tool);
  const [problem] = argumentProblems(given, info?.inputSchema);
  if (problem === undefined) return undefined;
  return { path: `.${problem.name}`, message: `${problem.message} (${tool} of ${deviceId})` };
}
