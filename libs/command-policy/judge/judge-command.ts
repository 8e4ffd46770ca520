import { isObject, isScreenTool, pageAddressOf, type CommandCall, type CommandClass, type Json } from '#proto';
import {
  Call,
  type Links,
  startingBudget,
  type CallJudging,
  plainTextFindings,
  plainVariableFindings,
} from '../calls/index.js';
import {
  givenVariableFindings,
  dynamic,
  notUnderstood,
  type CommandFinding,
  type StandardInput,
  type Invocation,
  type WorkingPlaces,
  glyphsOf,
  placesAt,
  literal,
  type Word,
} from '../words/index.js';
import { judgeInvocation } from './judge-invocation.js';
import { phoneFinding } from './judge-phone.js';
import { readScript, type ShellParser } from '../script/index.js';
import { screenFindings } from '../screen/index.js';
import { ruled } from './rules.js';
import type { Settings } from '../policy/index.js';

export interface JudgeCommand {
  readonly settings: Settings;
  readonly parser: ShellParser;
  /** The files of the device; undefined: it looks at them itself. */
  readonly links?: Links | undefined;
  readonly trace?: CallJudging['trace'];
}

/** The device's own directory, from which a command starts when it names no other. */
const OWN: WorkingPlaces = [glyphsOf('.')];

/** All that is to be said about one command of a device. Total: it never throws, whatever the command is. */
export function judgeCommand(command: CommandCall, { links, ...given }: JudgeCommand): readonly CommandFinding[] {
  // What our own device client runs it judges once more, with its files before it.
  const files = command.tool === EXEC_CLI.tool ? (links ?? 'later') : 'nobody';
  const judging: CallJudging = { ...given, files, depth: 0, budget: startingBudget(), judge: judgeInvocation };
  try {
    return command.tool === EXEC_CLI.tool
      ? shellFindings(command.arguments, EXEC_CLI, judging)
      : toolFindings(command, judging, links);
  } catch {
    return [notUnderstood('The command is more than can be judged.')];
  }
}

/** A tool that gives one of its arguments to a shell, or takes it apart as a shell would. */
interface ShellTool {
  readonly tool: string;
  readonly shellLine: string;
}
const EXEC_CLI: ShellTool = { tool: 'EXEC_CLI', shellLine: 'command' };

function shellFindings(
  given: Readonly<Record<string, Json>>,
  { tool, shellLine }: ShellTool,
  judging: CallJudging,
): readonly CommandFinding[] {
  const { [shellLine]: command, working_directory: directory, stdin, env, timeout: _, ...others } = given;
  if (typeof command !== 'string') return [notUnderstood(`arguments.${shellLine} must be the text of a command.`)];
  const places = placesOf(directory);
  if (places === undefined) return [notUnderstood('arguments.working_directory must be a path.')];
  if (!isInput(stdin)) return [notUnderstood('arguments.stdin must be a text, outputs of predecessors, or a secret.')];
  const script = readScript(command, judging.parser, { places, input: inputOf(stdin) });
  const findings = [
    ...script.findings,
    ...script.invocations.flatMap((invocation) => judging.judge(invocation, judging)),
    ...Object.keys(others).map((name) => dynamic('unknown-argument', `The argument ${name} of ${tool} is not known.`)),
    ...variables(env),
    ...secretFindings([stdin, ...valuesOf(env)], judging),
    // Last: what was found to be wrong says more than that it is not plain.
    ...(script.findings.some(({ rule }) => rule === 'not-understood')
      ? []
      : plainTextFindings(command, script.invocations)),
    ...(isObject(env) ? plainVariableFindings(env) : []),
  ];
  // What it reads is another text the next time: who has allowed it once has not allowed that.
  return isObject(stdin) && 'from' in stdin ? findings.map(once) : findings;
}

/** Pieces of artifacts are put in on the way, and by nobody else: who knows a checksum could have any file brought. */
const isInput = (stdin: Json | undefined): boolean =>
  !isObject(stdin) || 'from' in stdin || 'secret' in stdin || Object.keys(stdin).length === 0;

const once = (finding: CommandFinding): CommandFinding => ({ ...finding, grantable: false });

const valuesOf = (env: Json | undefined): Json[] => (isObject(env) ? Object.values(env) : []);

/**
 * What a command makes of a secret no redactor can foresee: `rev` or `fold` writes it so that nobody finds it again. A rule of a
 * policy speaks of it as of a program with the name `secret:<name>`.
 */
function secretFindings(given: readonly (Json | undefined)[], judging: CallJudging): readonly CommandFinding[] {
  const named = given.flatMap((value) => (isObject(value) ? [value['secret']] : []));
  const names = named.filter((name) => typeof name === 'string');
  return [...new Set(names)].flatMap((name) => {
    const of = `secret:${name}`;
    const call = new Call(of, [], invocationOf(of), judging);
    const reason = `The command is given the secret ${name}, and what it makes of it can be read.`;
    const finding: CommandFinding = {
      kind: 'program',
      class: 'privileged',
      atLeast: 'approve',
      rule: 'uses-secret',
      reason,
    };
    return ruled([finding], { name: of, call }, judging.settings);
  });
}

function placesOf(directory: Json | undefined): WorkingPlaces | undefined {
  if (directory === undefined) return OWN;
  if (typeof directory !== 'string' || directory === '') return undefined;
  return placesAt(literal(directory), OWN);
}

function inputOf(stdin: Json | undefined): StandardInput {
  if (stdin === undefined) return { kind: 'none' };
  return typeof stdin === 'string' ? { kind: 'text', text: stdin } : { kind: 'unknown' };
}

function variables(env: Json | undefined): readonly CommandFinding[] {
  if (env === undefined) return [];
  if (typeof env !== 'object' || env === null || Array.isArray(env))
    return [notUnderstood('arguments.env must be an object.')];
  return Object.keys(env).flatMap(givenVariableFindings);
}

/** Another tool than the shell: known by the policy or not; what it says of itself is not believed. */
function toolFindings(command: CommandCall, judging: CallJudging, links: Links | undefined): readonly CommandFinding[] {
  const { tool, arguments: given } = command;
  const of = judging.settings.tools.get(tool);
  const call = new Call(tool, wordsOf(command), invocationOf(tool), judging);
  // Some names are those of a phone, too; what is done at a desktop says where.
  const isOfDesktop = isScreenTool(tool) && command.on !== undefined;
  const phone = of === undefined && !isOfDesktop ? phoneFinding(command, judging.settings) : undefined;
  if (of === undefined && phone === undefined && isScreenTool(tool))
    return ruled(screenFindings(command, judging.settings.applications, links), { name: tool, call }, judging.settings);
  if (of === undefined)
    return ruled(
      [
        phone ?? {
          kind: 'program',
          class: 'privileged',
          atLeast: 'approve',
          rule: 'unknown-tool',
          reason: `The policy does not know the tool ${tool}.`,
        },
      ],
      { name: tool, call },
      judging.settings,
    );
  if (typeof of === 'object') {
    // Other systems say `cwd`, and null where nothing is meant.
    const { cwd = null, ...rest } = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
    const directory = cwd === null ? {} : { working_directory: cwd };
    return shellFindings({ ...directory, ...rest }, { tool, shellLine: of.shellLine }, judging);
  }
  const base: CommandFinding = {
    kind: 'program',
    class: of,
    rule: `tool.${tool}`,
    reason: `${tool} is a tool of class ${of}.`,
  };
  return ruled([base, ...pathFindings(of, given['path'], call)], { name: tool, call }, judging.settings);
}

/** What a rule can name beside the tool: the address of a page, as it is opened. */
function wordsOf({ tool, arguments: given }: CommandCall): Word[] {
  const address = tool === 'open_page' ? pageAddressOf(given['url']) : undefined;
  return address !== undefined && 'href' in address ? [literal(address.href)] : [];
}

/** A tool with a `path` reads or writes that file. */
function pathFindings(of: CommandClass, path: Json | undefined, call: Call): readonly CommandFinding[] {
  if (typeof path !== 'string') return [];
  return of === 'read' ? call.read(literal(path)) : call.write(literal(path));
}

const invocationOf = (text: string): Invocation => ({
  words: [],
  assignments: [],
  redirects: [],
  input: { kind: 'none' },
  places: OWN,
  functions: new Set(),
  text,
});
