import {
  fieldsOf,
  type RecordedAttemptEvent,
  type RunCommit,
  type RunEventData,
  type RunView,
  type TaskResult,
} from '#proto';
import {
  eventOf,
  stepsOf,
  type ActStory,
  type AttemptStory,
  type StepStory,
  callText,
  decisionText,
  droppedText,
} from '../views/index.js';
import { more, REPORT_LIMITS } from './report-limits.js';
import { outputParts, wholeResultText } from './report-output.js';
import { cell, cut, details, duration, fence, list, span, table } from './report-text.js';

type Started = RunEventData<'TASK_STARTED'>;
type Finished = Extract<RecordedAttemptEvent, { type: 'ATTEMPT_FINISHED' }>['data'];

const ANSWER_CHARS_MAX = 16_000;
const THOUGHT_CHARS_MAX = 4_000;
const LINE_CHARS_MAX = 500;
const ROW_CHARS_MAX = 120;
/** Thought, observation, command, output: of what the room is divided among. */
const TEXTS_OF_A_STEP = 4;
const DROPPED_SHOWN = 10;
const NO_STEPS = 'No step of it is recorded.';

interface AttemptsOfRun {
  readonly run: RunView;
  readonly commits: readonly RunCommit[];
  readonly attempts?: readonly AttemptStory[];
  readonly attemptsAreCut?: boolean;
}

/** How much of each thing is shown: less when there is much. */
interface Shares {
  readonly runId: string;
  readonly textCharsMax: number;
  readonly answerCharsMax: number;
}

/**
 * What agents did, attempt by attempt. The answer stands open; below it, folded, a line for every step, and for the first
 * and the last of them what was thought, what the policy said, who decided, what ran and what it printed.
 */
export function attemptsSection({
  run,
  commits,
  attempts: stories = [],
  attemptsAreCut = false,
}: AttemptsOfRun): string {
  const started = commits.flatMap(({ events }) =>
    events.flatMap((event) => (event.type === 'TASK_STARTED' && event.data.command === undefined ? [event.data] : [])),
  );
  if (started.length === 0) return '';
  const told = new Map(stories.map((story) => [`${story.taskId} ${story.attempt}`, story]));
  const { agentsMax, agentsCharsMax, outputCharsMin } = REPORT_LIMITS;
  const shown = started.slice(0, agentsMax);
  const texts = stories.reduce(
    (sum, story) => sum + TEXTS_OF_A_STEP * Math.min(story.entries.length, REPORT_LIMITS.stepsMax),
    1,
  );
  const shareOf = (count: number, max: number) => clamp(Math.floor(agentsCharsMax / count), outputCharsMin, max);
  const shares: Shares = {
    runId: run.runId,
    textCharsMax: shareOf(2 * texts, THOUGHT_CHARS_MAX),
    answerCharsMax: shareOf(4 * shown.length, ANSWER_CHARS_MAX),
  };
  let left: number = agentsCharsMax;
  const blocks = shown.map((each) => {
    const story = told.get(`${each.taskId} ${each.attempt}`);
    const steps = story === undefined || story.entries.length === 0 ? NO_STEPS : stepsText(story, shares);
    const fits = steps.length <= left;
    if (fits) left -= steps.length;
    const where = `Its steps would make this report too long: ${span(stepsCommand(each, shares))} shows them.`;
    return [...attemptText(each, story, run, shares), fits ? steps : where].join('\n\n');
  });
  const cutText = `More is recorded of these attempts than is told here: ${span(`orrery steps ${run.runId}`)} tells it all.`;
  return ['## Agents', ...(attemptsAreCut ? [cutText] : []), ...blocks, ...more(started.length, agentsMax)].join(
    '\n\n',
  );
}

/** Without its steps. */
function attemptText(started: Started, story: AttemptStory | undefined, run: RunView, shares: Shares): string[] {
  const { taskId, attempt, deviceId, agent } = started;
  const end = story?.end ?? null;
  const view = run.tasks.find(({ id }) => id === taskId);
  const last = view?.attempts === attempt ? view : undefined;
  const result = end === null ? (last?.result ?? null) : end.status === 'completed' ? end.result : null;
  const name = agent?.name ?? last?.name;
  return [
    `### Task ${span(taskId)}, attempt ${attempt}`,
    `The agent of ${span(deviceId)}${name === undefined ? '' : ` was to do ${span(name)}`}. ${endText(end, last?.status)}`,
    ...(result === null ? [] : answerText(result, shares)),
    ...(story === undefined ? [] : droppedParts(story, shares)),
    ...(end?.status === 'failed' ? failureText(end, shares) : []),
  ];
}

function endText(end: Finished | null, status: string | undefined): string {
  if (end === null)
    return status === undefined || status === 'RUNNING' ? 'It has not ended.' : `The task is ${status}.`;
  const { used } = end;
  if (used === undefined) return `It ${end.status}.`;
  const { llmCalls, tokens, commands } = used;
  return `It ${end.status} after ${llmCalls} calls of a model (${tokens} tokens) and ${commands} commands.`;
}

function answerText(result: TaskResult, { answerCharsMax }: Shares): string[] {
  const { value } = result;
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  return ['It answered:', fence(cut(text, answerCharsMax), 'text'), ...wholeResultText(result)];
}

/** Pictures that are kept no longer, by hash and size. */
function droppedParts(story: AttemptStory, shares: Shares): string[] {
  return story.entries.flatMap((entry) => {
    if (entry.kind !== 'mark' || entry.event.type !== 'PICTURES_DROPPED') return [];
    const { at, data } = entry.event;
    const { pictures } = data;
    const shown = pictures.slice(0, DROPPED_SHOWN).map(({ sha256, bytes }) => `${span(sha256)}, ${bytes} bytes`);
    const left = pictures.length - shown.length;
    const rest = left > 0 ? [`${left} more: ${span(`${stepsCommand(story, shares)} --json`)}`] : [];
    return [`${at}: ${span(droppedText(data))}.`, list([...shown, ...rest])];
  });
}

function failureText({ error }: Extract<Finished, { status: 'failed' }>, shares: Shares): string[] {
  const output = error.output === undefined ? [] : outputParts(error.output, shares.textCharsMax);
  return [`It failed: ${span(`${error.code}: ${error.message}`, 1_000)}.`, ...output];
}

function stepsText(story: AttemptStory, shares: Shares): string {
  const steps = stepsOf(story);
  const { stepRowsMax } = REPORT_LIMITS;
  const rows = story.entries.flatMap(rowsOf);
  const shown = shownOf(steps);
  const left = steps.length - shown.length;
  const others = story.entries.filter((entry) => entry.kind === 'act');
  return details(summaryOf(story), [
    table(['Step', 'Said', 'What', 'Decision', 'End'], rows.slice(0, stepRowsMax)),
    ...(rows.length > stepRowsMax
      ? [`${rows.length - stepRowsMax} more lines: ${span(stepsCommand(story, shares))}`]
      : []),
    ...shown.map((step) => stepText(step, shares)),
    ...(left > 0
      ? [`${left} more steps, between the first and the last ones shown here: ${span(stepsCommand(story, shares))}`]
      : []),
    ...others.slice(0, REPORT_LIMITS.stepsMax).map((act) => details('Beside the steps', actText(act, shares))),
  ]);
}

const stepsCommand = ({ taskId }: { readonly taskId: string }, { runId }: Shares): string =>
  `orrery steps ${runId} ${taskId}`;

/** The first ones and the last ones: how it began and how it ended. */
function shownOf(steps: readonly StepStory[]): StepStory[] {
  const { stepsMax } = REPORT_LIMITS;
  if (steps.length <= stepsMax) return [...steps];
  const last = Math.floor(stepsMax / 3);
  return [...steps.slice(0, stepsMax - last), ...steps.slice(steps.length - last)];
}

/** Words of ours and numbers only: this stands in HTML. */
function summaryOf(story: AttemptStory): string {
  const acts = story.entries.flatMap((entry) =>
    entry.kind === 'step' ? entry.acts : entry.kind === 'act' ? [entry] : [],
  );
  const decisions = Map.groupBy(
    acts.flatMap((act) => eventOf(act, 'COMMAND_JUDGED')?.data.decision ?? []),
    (decision) => decision,
  );
  const counts = [...decisions].map(([decision, of]) => `${of.length} ${decision}`);
  const judged = counts.length === 0 ? '' : `, judged: ${counts.join(', ')}`;
  return `${stepsOf(story).length} steps, ${acts.length} commands and questions${judged}`;
}

function rowsOf(entry: AttemptStory['entries'][number]): string[][] {
  switch (entry.kind) {
    case 'step': {
      const number = String(entry.step);
      const { said } = entry;
      const word = said.type === 'STEP_PLANNED' ? said.data.status : said.data.error.code;
      const rows = entry.acts.map(actRow);
      return (rows.length === 0 ? [['-', '-', '-']] : rows).map((row, index) =>
        index === 0 ? [number, cell(word, ROW_CHARS_MAX), ...row] : ['', '', ...row],
      );
    }
    case 'act':
      return [['-', '-', ...actRow(entry)]];
    case 'mark':
      return [['-', '-', markCell(entry.event), '-', '-']];
  }
}

function actRow(act: ActStory): string[] {
  const asked = eventOf(act, 'ATTEMPT_ASKED')?.data;
  const what = act.call === null ? (asked?.kind === 'question' ? asked.question : act.id) : callText(act.call);
  const judged = eventOf(act, 'COMMAND_JUDGED')?.data;
  const decided = decisionsOf(act).map((said) => cell(said, ROW_CHARS_MAX));
  const decision = [...(judged === undefined ? [] : [`${judged.decision} (${judged.class})`]), ...decided];
  return [cell(what, ROW_CHARS_MAX), decision.join(', ') || '-', endCell(act)];
}

function endCell(act: ActStory): string {
  const finished = eventOf(act, 'COMMAND_FINISHED')?.data;
  if (finished === undefined) return eventOf(act, 'COMMAND_ISSUED') === undefined ? '-' : 'no end recorded';
  const code = exitCodeOf(finished.result);
  return `${finished.state}${code === null ? '' : `, exit code ${code}`}`;
}

function markCell(event: RecordedAttemptEvent): string {
  switch (event.type) {
    case 'ATTEMPT_RESUMED':
      return 'taken over by another process';
    case 'ATTEMPT_SIGNALLED':
      return event.data.signal === 'stop' ? `told to stop: ${event.data.reason}` : '-';
    case 'BOARD_USED':
      return boardText(event.data);
    case 'POSTCONDITION_CHECKED': {
      const { satisfied, reason } = event.data;
      return `post-condition ${satisfied ? 'holds' : 'does not hold'}: ${cell(reason, ROW_CHARS_MAX)}`;
    }
    case 'ATTEMPT_FINISHED':
      return event.data.status;
    default:
      return '-';
  }
}

function boardText({ does, name, done }: Extract<RecordedAttemptEvent, { type: 'BOARD_USED' }>['data']): string {
  const what = does === 'read' ? 'reads' : 'writes';
  return `${what} ${name === undefined ? 'the board' : `"${name}" of the board`}${done ? '' : ', in vain'}`;
}

function stepText({ step, said, acts }: StepStory, shares: Shares): string {
  const { agent, calls } = said.data;
  const tokens = calls.reduce((sum, call) => sum + call.tokens.prompt + call.tokens.completion, 0);
  const tookMs = calls.reduce((sum, call) => sum + call.durationMs, 0);
  const models = [...new Set(calls.map(({ model }) => span(model)))].join(', ');
  const refused = calls.flatMap(({ problems, error }) => [
    ...problems,
    ...(error === null ? [] : [`${error.code}: ${error.message}`]),
  ]);
  const ends = acts.map(endCell).join('; ');
  return details(`Step ${step}${ends === '' ? '' : `: ${ends}`}`, [
    `${span(agent)} asked ${models === '' ? 'no model' : models}: ${calls.length} calls, ${tokens} tokens, ${duration(tookMs)}.`,
    ...(refused.length === 0
      ? []
      : ['Replies that were refused:', list(refused.map((text) => span(text, LINE_CHARS_MAX)))]),
    ...thoughtText(said, shares),
    ...acts.flatMap((act) => actText(act, shares)),
  ]);
}

function thoughtText(said: StepStory['said'], { textCharsMax }: Shares): string[] {
  if (said.type === 'STEP_FAILED') {
    return [`No reply could be used: ${span(`${said.data.error.code}: ${said.data.error.message}`, 1_000)}.`];
  }
  const { status, observation, thought, plan, comment, notes, told = [] } = said.data;
  const words = Object.entries({ 'It observed': observation, 'It thought': thought, 'It commented': comment });
  return [
    `It said ${span(status)}.`,
    ...words.flatMap(([what, text]) => (text === '' ? [] : [`${what}:`, fence(cut(text, textCharsMax), 'text')])),
    ...(plan.length === 0 ? [] : ['Its plan:', fence(cut(plan.join('\n'), textCharsMax), 'text')]),
    ...(told.length === 0 ? [] : ['It was told:', list(told.map((text) => span(text, LINE_CHARS_MAX)))]),
    ...(notes.length === 0 ? [] : ['It noted:', list(notes.map((note) => span(note, LINE_CHARS_MAX)))]),
  ];
}

/** The exact command or the question, what was said about it, and what came of it. */
function actText(act: ActStory, { textCharsMax }: Shares): string[] {
  const asked = eventOf(act, 'ATTEMPT_ASKED')?.data;
  const judged = eventOf(act, 'COMMAND_JUDGED')?.data;
  const issued = eventOf(act, 'COMMAND_ISSUED')?.data;
  const finished = eventOf(act, 'COMMAND_FINISHED')?.data;
  const exact = act.call === null ? (asked?.kind === 'question' ? asked.question : '') : callText(act.call);
  const { error = null, durationMs = null, result = null } = finished ?? {};
  const rows = [
    ['Command', cell(act.id)],
    ...(judged === undefined
      ? []
      : [
          [
            'Policy',
            `${judged.decision}: class ${judged.class}, by rule ${cell(judged.rule)}; proposed by: ${judged.origin}`,
          ],
          ...judged.reasons
            .slice(0, REPORT_LIMITS.reasonsMax)
            .map((reason) => ['Reason', cell(reason, LINE_CHARS_MAX)]),
        ]),
    ...(asked === undefined
      ? []
      : [['Asked', `${asked.kind === 'question' ? 'an answer' : 'for approval'}, until ${cell(asked.expiresAt)}`]]),
    ...decisionsOf(act).map((said) => ['Decided', cell(said, 1_000)]),
    ...(issued === undefined ? [] : [['Sent to', cell(issued.deviceId)]]),
    ...(finished === undefined
      ? []
      : [['End', `${endCell(act)}${durationMs === null ? '' : `, ${duration(durationMs)}`}`]]),
    ...(error === null ? [] : [['Error', cell(`${error.code}: ${error.message}`, 1_000)]]),
  ];
  return [
    fence(cut(exact, REPORT_LIMITS.commandLineCharsMax), 'text'),
    table(['', ''], rows),
    ...(result === null ? [] : outputParts(result, textCharsMax)),
  ];
}

function decisionsOf({ events }: ActStory): string[] {
  return events.flatMap((event) =>
    event.type === 'ATTEMPT_SIGNALLED' && event.data.signal === 'decision' ? [decisionText(event.data)] : [],
  );
}

function exitCodeOf(result: TaskResult | null): number | null {
  const { exit_code: code } = fieldsOf(result?.value);
  return typeof code === 'number' ? code : null;
}

function clamp(value: number, min: number, max: number): number {
  return Math.max(min, Math.min(max, value));
}
