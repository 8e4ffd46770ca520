import { type ExplainedCommand, defaultPolicy, type PolicyFile } from '#libs/command-policy';
import { wallText } from '#libs/constellation';
import { visibleLine } from '#libs/visible';
import type { AskedWall, CommandCall, PolicyDecision, PolicyVerdict } from '#proto';
import { cleanLine, type Colour, type Paint, visibleClip, visibleLines } from '../../terminal/index.js';

/** What is known of one command line. */
export interface ExplainedLine {
  readonly command: string;
  readonly verdict: PolicyVerdict;
}

const COLOURS: Readonly<Record<PolicyDecision, Colour>> = {
  allow: 'green',
  log: 'cyan',
  approve: 'yellow',
  deny: 'red',
};
const MEANINGS: Readonly<Record<PolicyDecision, string>> = {
  allow: 'it runs',
  log: 'it runs and is pointed out',
  approve: 'a person is asked first',
  deny: 'it never runs',
};
const DECISION_WIDTH = 7;
const CLASS_WIDTH = 11;
const LINE_WIDTH = 60;

/** A command line as a tool call. */
export const shellCall = (command: string): CommandCall => ({ tool: 'EXEC_CLI', arguments: { command } });

/** One line for a program: nothing but these fields, in this order. */
export function explainedJson({ command, verdict }: ExplainedLine) {
  const { class: of, decision, rule, reasons } = verdict;
  return { command, class: of, decision, rule, reasons };
}

/** One command line on one line, for a list. */
export function explainedRow({ command, verdict }: ExplainedLine, paint: Paint): string {
  const { decision, class: of, rule } = verdict;
  return `${painted(paint, decision, DECISION_WIDTH)} ${of.padEnd(CLASS_WIDTH)} ${visibleLine(command)}  ${paint('dim', cleanLine(rule))}`;
}

/** One command line with everything there is to say. */
export function explainedText(
  { command, verdict }: ExplainedLine,
  details: {
    readonly wall: AskedWall | undefined;
    readonly commands: readonly ExplainedCommand[];
    readonly policy: string;
    readonly paint: Paint;
  },
): string[] {
  const { wall, commands, policy, paint } = details;
  const { decision, class: of, rule, reasons, grantable } = verdict;
  return [
    ...visibleLines(command).map((text) => `  ${text}`),
    '',
    `decision  ${painted(paint, decision)}: ${MEANINGS[decision]}`,
    `class     ${of}`,
    `rule      ${cleanLine(rule)}`,
    ...reasons.map((reason, index) => `${index === 0 ? 'because   ' : '          '}${visibleLine(reason)}`),
    ...(decision === 'approve' && !grantable ? ['          each time: one approval never stands for the next'] : []),
    ...(wall === undefined || decision === 'deny' ? [] : wallLines(wall)),
    ...(commands.length === 0 ? [] : ['', 'what was found', ...commands.flatMap((found) => foundLines(found, paint))]),
    '',
    paint('dim', `by ${cleanLine(policy)}`),
  ];
}

function wallLines(wall: AskedWall): string[] {
  const { reason } = wall;
  return [
    `wall      ${visibleLine(wallText(wall))}`,
    ...(reason === undefined ? [] : [`          ${visibleLine(reason)}`]),
    ...(wall.onlyTells === true
      ? ['          It only tells how the machine is: where no wall can show that, it has none.']
      : []),
  ];
}

function foundLines({ text, class: of, decision, rule, reason, findings }: ExplainedCommand, paint: Paint): string[] {
  const what = visibleClip(text, LINE_WIDTH);
  return [
    `  ${painted(paint, decision, DECISION_WIDTH)} ${of.padEnd(CLASS_WIDTH)} ${what}`,
    ...(findings ?? [{ rule, reason }]).map((found) =>
      paint('dim', `          ${cleanLine(found.rule)}: ${visibleLine(found.reason)}`),
    ),
  ];
}

const painted = (paint: Paint, decision: PolicyDecision, width = 0): string =>
  paint(COLOURS[decision], decision.padEnd(width));

/** The sentences that say why a text is no policy. */
export function refusedPolicy(name: string, errors: readonly string[]): string {
  const [only = 'it is no policy'] = errors;
  if (errors.length <= 1) return `${name}: ${only}`;
  return [`${name} has ${errors.length} mistakes:`, ...errors.map((error) => `  ${error}`)].join('\n');
}

/** The built-in policy with a file over it, as a file. */
export function effectivePolicy(file: PolicyFile | undefined): PolicyFile {
  const { defaults, tools, ...rest } = file ?? {};
  return {
    ...defaultPolicy,
    ...rest,
    version: 1,
    defaults: { ...defaultPolicy.defaults, ...defaults },
    tools: { ...defaultPolicy.tools, ...tools },
  };
}
