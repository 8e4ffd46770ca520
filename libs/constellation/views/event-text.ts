import type {
  Actor,
  Ask,
  Budget,
  CommandCall,
  CommandWall,
  Edit,
  EditTrigger,
  EditViolation,
  Json,
  LineChange,
  RunEventData,
  RunNote,
  ScreenPlace,
  ShownEntry,
  StandingUse,
  StopReason,
  TaskChange,
  WaitingFor,
} from '#proto';
import { wallText } from './wall-text.js';

/** Edits of one batch that are told one by one where there is one line for all of them. */
const LISTED_MAX = 8;

// Everything here holds foreign text as it came: the surface that shows it makes it harmless first.

/** What one primitive does, in words: `adds task disk-2`. */
export function editText(edit: Edit): string {
  switch (edit.tool) {
    case 'add_task':
      return `adds task ${edit.task.id}`;
    case 'remove_task':
      return `removes task ${edit.taskId}`;
    case 'update_task':
      return `changes task ${edit.taskId}: ${changeText(edit.change)}`;
    case 'add_dependency': {
      const { id, from, to, type, condition } = edit.line;
      return `adds line ${id} from ${from} to ${to} (${condition === undefined ? type : `${type}: ${condition}`})`;
    }
    case 'remove_dependency':
      return `removes line ${edit.lineId}`;
    case 'update_dependency':
      return `changes line ${edit.lineId}: ${changeText(edit.change)}`;
    case 'build_constellation': {
      const { name, tasks, lines } = edit.constellation;
      const sizes = `${counted(tasks.length, 'task')}, ${counted(lines.length, 'line')}`;
      return `${edit.clear ? 'builds' : 'adds to the constellation'} ${name}: ${sizes}`;
    }
  }
}

/** `1 task`, `3 tries`. */
export function counted(count: number, noun: string, nouns = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : nouns}`;
}

/** Of what a command answered; undefined when it was none. */
export function exitCodeIn(value: Json): number | undefined {
  const code = typeof value === 'object' && value !== null && 'exit_code' in value ? value['exit_code'] : undefined;
  return typeof code === 'number' ? code : undefined;
}

/** A whole batch on one line. */
export function editsText(edits: readonly Edit[]): string {
  if (edits.length === 0) return 'changes nothing';
  const more = edits.length > LISTED_MAX ? [`${edits.length - LISTED_MAX} more`] : [];
  return [...edits.slice(0, LISTED_MAX).map(editText), ...more].join('; ');
}

/** Who noted what: `by cli about disk: it was full`. */
export function noteText({ by, taskId, text }: RunNote): string {
  return `by ${by.id}${taskId === undefined ? '' : ` about ${taskId}`}: ${text}`;
}

/** Who wrote on the board: `anna`, `anna, through a program`, or `attempt 1 of disk`. */
export function writerText({ by, attempt, delegated }: Pick<ShownEntry, 'by' | 'attempt' | 'delegated'>): string {
  if (attempt !== undefined) return `attempt ${attempt.attempt} of ${attempt.taskId}`;
  if (by === undefined) return 'agents';
  return `${by.id}${delegated === true ? ', through a program' : ''}`;
}

/** Ids say more than numbers: a task is named, the rest is what it is. */
export function triggersText(triggers: readonly EditTrigger[]): string {
  return triggers.map(triggerText).join(', ');
}

export function violationText({ code, path, message }: EditViolation): string {
  return `${code} ${path}: ${message}`;
}

/** The first reason and how many there are besides. */
export function violationsText(violations: readonly EditViolation[]): string {
  const [first] = violations;
  if (first === undefined) return 'no reason given';
  return violations.length === 1 ? violationText(first) : `${violationText(first)}; ${violations.length - 1} more`;
}

const WAITING_LISTED_MAX = 20;

/** `for a device: a, b; no more: c`: who began to wait for one, and who waits no more though it has not started. */
export function waitsText({ began, over, why = [] }: RunEventData<'TASKS_WAITING'>): string {
  const named = (ids: readonly string[]): string => {
    const more = ids.length > WAITING_LISTED_MAX ? ` and ${ids.length - WAITING_LISTED_MAX} more` : '';
    return `${ids.slice(0, WAITING_LISTED_MAX).join(', ')}${more}`;
  };
  return [
    ...(began.length === 0 ? [] : [`for a device: ${named(began)}`]),
    ...why.map(({ tasks, text }) =>
      why.length === 1 && tasks.length === began.length ? text : `${named(tasks)}: ${text}`,
    ),
    ...(over.length === 0 ? [] : [`no more: ${named(over)}`]),
  ].join('; ');
}

interface Stopped {
  readonly reason: StopReason;
  readonly by?: Actor | undefined;
  readonly note?: string | undefined;
}

/** `cancelled by anna: wrong device`. */
export function stopText({ reason, by, note }: Stopped): string {
  return `${reason}${by === undefined ? '' : ` by ${by.id}`}${note === undefined ? '' : `: ${note}`}`;
}

/** `EXEC_CLI systemctl restart nginx {"timeout":30}`: exactly what would run, every argument but the command line as JSON. */
export function callText({ tool, arguments: given }: CommandCall): string {
  const { command, ...others } = given;
  const [line, rest] = typeof command === 'string' ? [` ${unmistakable(command)}`, others] : ['', given];
  return `${tool}${line}${Object.keys(rest).length === 0 ? '' : ` ${JSON.stringify(rest)}`}`;
}

/** A line that could be taken for one with arguments behind it is quoted. */
const unmistakable = (command: string): string =>
  command.startsWith('"') || command.includes(' {"') ? JSON.stringify(command) : command;

/** Where on a screen a call would act: `Button "Send" (3) in the window "Mail" of "thunderbird", listing 4.1`. All names are the device's. */
export function screenText({ application, window, control, snapshot }: ScreenPlace): string {
  const quoted = (name: string): string => JSON.stringify(name);
  const what = control === undefined ? '' : `${control.type || 'control'} ${quoted(control.name)} (${control.id}) in `;
  const listed = snapshot === '' ? 'nothing was listed' : `listing ${snapshot}`;
  return `${what}the window ${quoted(window)} of ${quoted(application)}, ${listed}`;
}

/** `destructive: EXEC_CLI rm -r /srv/old` or the question. */
export function askText(ask: Ask): string {
  return ask.kind === 'question' ? `question: ${ask.question}` : `${ask.class}: ${callText(ask.command)}`;
}

/** What was decided of an ask, and by whom. */
export interface SaidDecision {
  readonly decision: string;
  readonly by: Actor;
  readonly command?: CommandCall | undefined;
  readonly wall?: CommandWall | undefined;
  readonly answer?: string | undefined;
  readonly note?: string | undefined;
  readonly grant?: { readonly until: string } | undefined;
  readonly grantOf?: string | undefined;
  readonly standing?: StandingUse | undefined;
  readonly approvedBy?: readonly Actor[] | undefined;
  readonly selfApproved?: true | undefined;
}

/** ` (approved by anna, bert)`, ` (self-approved: there was one approver only)`: whose words it took, where that is not plain. */
export function wordsText({ approvedBy, selfApproved }: Pick<SaidDecision, 'approvedBy' | 'selfApproved'>): string {
  const parts = [
    ...(approvedBy === undefined ? [] : [`approved by ${approvedBy.map(({ id }) => id).join(', ')}`]),
    ...(selfApproved === true ? ['self-approved: there was one approver only'] : []),
  ];
  return parts.length === 0 ? '' : ` (${parts.join('; ')})`;
}

/** `with the plan 0f3a…, standing approval 01J…`: by which words, of which content, it was approved before. */
export function standingText({ contentHash, ids }: StandingUse): string {
  return `with the plan ${contentHash.slice(0, 16)}, standing approval ${ids.join(', ')}`;
}

/** `approved by anna, the same until 2026-11-20T12:00:00.000Z: looks right`. */
export function decisionText(said: SaidDecision): string {
  const { decision, by, command, wall, answer, note, grant, grantOf, standing } = said;
  const parts = [
    `${decision} by ${by.id}${wordsText(said)}`,
    ...(grantOf === undefined ? [] : [`as ${grantOf} allows`]),
    ...(standing === undefined ? [] : [standingText(standing)]),
    ...(grant === undefined ? [] : [`the same until ${grant.until}`]),
    ...(command === undefined ? [] : [`as ${callText(command)}`]),
    ...(wall === undefined ? [] : [`with: ${wallText(wall)}`]),
  ];
  const words = [answer, note].filter((text) => text !== undefined);
  return `${parts.join(', ')}${words.length === 0 ? '' : `: ${words.join('; ')}`}`;
}

/** `3 calls of a model, 1200 tokens, 2 commands, 0.0312 USD`; of a budget what it bounds. */
export function usageText({ llmCalls, tokens, commands, costUsd }: Budget): string {
  const parts = [
    ...(llmCalls === undefined ? [] : [`${llmCalls} calls of a model`]),
    ...(tokens === undefined ? [] : [`${tokens} tokens`]),
    ...(commands === undefined ? [] : [`${commands} commands`]),
    ...(costUsd === undefined ? [] : [`${Number(costUsd.toFixed(6))} USD`]),
  ];
  return parts.length === 0 ? 'no bound' : parts.join(', ');
}

const WAKERS = {
  attempt: 'the end of an attempt',
  proposal: 'a proposal',
  fleet: 'a change of the fleet',
  timer: 'the clock',
  operator: 'an operator',
} as const satisfies Record<WaitingFor['wokenBy'], string>;

/** `a proposal, at the latest 2026-11-20T10:01:30.000Z`: what makes a waiting run go on. */
export function wakerText({ wokenBy, wakesAt }: WaitingFor): string {
  return `${WAKERS[wokenBy]}${wakesAt === null ? '' : `, at the latest ${wakesAt}`}`;
}

function triggerText(trigger: EditTrigger): string {
  switch (trigger.kind) {
    case 'goal':
      return 'the goal';
    case 'task':
      return `${trigger.taskId} attempt ${trigger.attempt}`;
    case 'device':
      return `no device for ${trigger.taskId}`;
    case 'end-of-plan':
      return 'the end of the plan';
    case 'words':
      return `what was said (${trigger.number})`;
  }
}

/** What a person wants to see of a value; long texts and nested values are named only. */
function changeText(change: TaskChange | LineChange): string {
  const fields = Object.entries(change).filter(([, value]) => value !== undefined);
  return fields.map(([name, value]) => `${name}${shown(value)}`).join(', ');
}

const SHOWN_CHARS_MAX = 80;

function shown(value: unknown): string {
  if (value === null) return ' removed';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > SHOWN_CHARS_MAX ? '' : ` = ${text}`;
}
