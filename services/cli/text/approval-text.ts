import { callText, countText, decisionText, type SaidDecision, screenText, wallText } from '#libs/constellation';
import { visibleLine } from '#libs/visible';
import type { ApprovalView, Ask, CommandCall } from '#proto';
import {
  cleanLine,
  cleanText,
  clipToWidth,
  momentText,
  paintFor,
  paintStatus,
  type Paint,
  renderTable,
  type Terminal,
  visibleClip,
  visibleLines,
} from '../terminal/index.js';
import { decidingWords } from './wait-text.js';

const COMMAND_CHARS_MAX = 60;
const INDENT = '    ';

type Screen = Pick<Terminal, 'isTerminal' | 'color'>;

/** Exactly what would run, nothing hidden. */
export const commandText = (call: CommandCall): string => visibleLine(callText(call));

/** What was decided, on one line: the command whole, of what was said with it the first `charsMax` characters. */
export function decidedText(said: SaidDecision, charsMax: number): string {
  const cut = (text: string | undefined) => (text === undefined ? undefined : clipToWidth(cleanLine(text), charsMax));
  return visibleLine(decisionText({ ...said, answer: cut(said.answer), note: cut(said.note) }));
}

/** What is asked, in one line. */
export function askLine(ask: Ask): string {
  return ask.kind === 'approval' ? commandText(ask.command) : `? ${visibleLine(ask.question)}`;
}

/** One row per approval. */
export function approvalsTable(approvals: readonly ApprovalView[], screen: Screen): string {
  return renderTable(
    approvals,
    [
      { title: 'APPROVAL', value: ({ approvalId }) => approvalId },
      { title: 'STATE', value: ({ state }) => state, status: true },
      ...(approvals.some((one) => wordsText(one) !== '') ? [{ title: 'WORDS', value: wordsText }] : []),
      {
        title: 'TASK',
        value: ({ taskId, attempt }) => `${taskId}${attempt > 1 ? ` (attempt ${attempt})` : ''}`,
        spare: true,
      },
      { title: 'DEVICE', value: ({ ask }) => ask.deviceId },
      { title: 'CLASS', value: ({ ask }) => (ask.kind === 'approval' ? ask.class : 'question') },
      { title: 'UNTIL', value: ({ ask }) => ask.expiresAt, time: true, spare: true },
      {
        title: 'WHAT',
        value: ({ ask }) => (screen.isTerminal ? visibleClip(askLine(ask), COMMAND_CHARS_MAX) : askLine(ask)),
      },
    ],
    screen,
  );
}

/** All that a person needs to decide: the exact command, where, why it is asked, and what the agent was about to do. */
export function approvalText(approval: ApprovalView, screen: Screen): string {
  const paint = paintFor(screen);
  const { approvalId, runId, taskId, attempt, ask, requestedAt, state } = approval;
  const facts: [string, string][] = [
    ['approval', approvalId],
    ['state', paintStatus(paint, state)],
    ['run', runId],
    ['task', `${taskId}, attempt ${attempt}, step ${ask.step}`],
    ['asked by', `${cleanLine(ask.agent)} for device ${ask.deviceId}, ${momentText(requestedAt)}`],
    ['until', momentText(ask.expiresAt)],
    ...(ask.kind === 'approval' ? judgedFacts(ask) : []),
    ...decidedFacts(approval),
  ];
  const width = Math.max(...facts.map(([name]) => name.length));
  const lines = facts.map(([name, value]) => `${name.padEnd(width)}  ${value}`);
  return [...lines, ...whatLines(ask, paint), ...contextLines(ask), ...nextLines(approval)].join('\n');
}

function judgedFacts(ask: Extract<Ask, { kind: 'approval' }>): [string, string][] {
  return [
    ['class', `${ask.class} (rule ${cleanLine(ask.rule)})`],
    ...(ask.command.on === undefined ? [] : [['where', visibleLine(screenText(ask.command.on))] as [string, string]]),
    ...(ask.picture === undefined ? [] : [['picture', pictureWords(ask)] as [string, string]]),
    ...ask.reasons.map((reason): [string, string] => ['because', visibleLine(reason)]),
    ...(ask.wall === undefined ? [] : [['sandbox', visibleLine(wallText(ask.wall))] as [string, string]]),
    ...(ask.wall?.reason === undefined ? [] : [['', visibleLine(ask.wall.reason)] as [string, string]]),
  ];
}

/** The control in its window, marked, as the agent saw it: what to type to look at it. */
const pictureWords = ({ approvalId, picture }: Extract<Ask, { kind: 'approval' }>): string =>
  `orrery artifacts get ${picture?.sha256 ?? ''} -o ${approvalId}.png`;

/** `1 of 2, by anna`; of what is decided whose words it took. */
function wordsText({ state, needed = 1, given = [], approvers, approvedBy, selfApproved }: ApprovalView): string {
  if (selfApproved === true) return 'self-approved: one approver only';
  if (state !== 'open') return approvedBy === undefined ? '' : `by ${approvedBy.map(({ id }) => id).join(', ')}`;
  const asked = latest(given).filter(({ command, counts }) => command === null && counts);
  const changed = latest(given).filter(({ command }) => command !== null);
  return [
    ...(needed > 1 || given.length > 0 ? [countText(asked, needed)] : []),
    ...(changed.length > 0 ? [`changed by ${changed.map(({ by }) => by.id).join(', ')}`] : []),
    ...(approvers === undefined ? [] : [`${approvers} may approve`]),
  ].join('; ');
}

/** Of each person the last word. */
function latest(given: NonNullable<ApprovalView['given']>): NonNullable<ApprovalView['given']> {
  return given.filter(({ by }, at) => !given.slice(at + 1).some((later) => later.by.id === by.id));
}

function decidedFacts(approval: ApprovalView): [string, string][] {
  const { by, decidedAt, note, grantUntil, state, wall, given = [] } = approval;
  const words = wordsText(approval);
  return [
    ...(words === '' ? [] : [['words', words] as [string, string]]),
    ...given.map(({ by: who, givenAt, command, wall: held }): [string, string] => [
      'given',
      `by ${cleanLine(who.id)}, ${momentText(givenAt)}${command === null ? '' : `, for ${commandText(command)}`}${held === undefined ? '' : `, with: ${visibleLine(wallText(held))}`}`,
    ]),
    ...(by === null
      ? []
      : [
          [state, `by ${cleanLine(by.id)}${decidedAt === null ? '' : `, ${momentText(decidedAt)}`}`] as [
            string,
            string,
          ],
        ]),
    ...(wall === undefined ? [] : [['given', visibleLine(wallText(wall))] as [string, string]]),
    ...(note === null ? [] : [['note', cleanLine(note)] as [string, string]]),
    ...(grantUntil === null ? [] : [['granted until', momentText(grantUntil)] as [string, string]]),
  ];
}

/** The command or the question, line by line and set apart: nothing in it can look like something that we say. */
function whatLines(ask: Ask, paint: Paint): string[] {
  const bar = (text: string): string => `${INDENT}${paint('bold', '|')} ${text}`;
  if (ask.kind === 'question') return ['', 'question', ...visibleLines(ask.question).map(bar)];
  const { command, ...others } = ask.command.arguments;
  const lines = typeof command === 'string' ? visibleLines(command) : [];
  const rest = Object.entries(typeof command === 'string' ? others : ask.command.arguments);
  const named = rest.map(([name, value]) => `${visibleLine(name)} = ${visibleLine(JSON.stringify(value))}`);
  // Under a word of their own: a line of the command that spells an argument is none.
  const heading = lines.length > 0 && named.length > 0 ? ['with'] : [];
  return ['', ask.command.tool, ...lines.map(bar), ...heading, ...named.map(bar)];
}

function contextLines({ thought, plan }: Ask): string[] {
  const thoughts =
    thought === ''
      ? []
      : [
          '',
          'the agent thinks',
          ...cleanText(thought)
            .split('\n')
            .map((line) => INDENT + line),
        ];
  const steps = plan.map((step, index) => `${INDENT}${index + 1}. ${cleanLine(step)}`);
  return [...thoughts, ...(steps.length === 0 ? [] : ['', 'its plan', ...steps])];
}

function nextLines(approval: ApprovalView): string[] {
  const { ask, state } = approval;
  if (state !== 'open') return [];
  const isHeld = ask.kind === 'approval' && ask.wall !== undefined && ask.wall.kind !== 'none';
  return [
    '',
    `decide with: ${decidingWords(approval)}`,
    ...(isHeld ? ['with more than that sandbox: add --sandbox internet, writable=/some/place or none'] : []),
  ];
}
