import {
  type AttemptStory,
  counted,
  cutParts,
  cutText,
  droppedPictures,
  droppedText,
  entryEvents,
  exitCodeIn,
} from '#libs/constellation';
import { fileTexts, POLICY_MISMATCH, type RecordedAttemptEvent, type Sha256, type TaskResult } from '#proto';
import { askLine, commandText, decidedText, callsText, problemLines, answerText, stderrOf } from '../../text/index.js';
import {
  cleanLine,
  clipToWidth,
  clockText,
  durationText,
  momentText,
  paintFor,
  paintStatus,
  type Terminal,
} from '../../terminal/index.js';
import { cleanOutput } from '../../live/index.js';

const TEXT_CHARS_MAX = 2_000;
const OUTPUT_LINES_MAX = 12;

type Screen = Pick<Terminal, 'color'>;
type Event<T extends RecordedAttemptEvent['type']> = Extract<RecordedAttemptEvent, { type: T }>['data'];

/** All that is recorded of one attempt, step by step: what was thought, judged, asked, done and answered. */
export function stepsText({ taskId, attempt, entries }: AttemptStory, screen: Screen): string[] {
  const head = paintFor(screen)('bold', `${taskId} attempt ${attempt}`);
  const events = entries.flatMap(entryEvents);
  const dropped = droppedPictures(events);
  return [head, ...events.flatMap((event) => eventLines(event, clockText(event.at), { ...screen, dropped }))];
}

/** An attempt on the screen of who reads of it, and which of its pictures are kept no longer. */
type Told = Screen & { readonly dropped: ReadonlySet<Sha256> };

function eventLines(event: RecordedAttemptEvent, clock: string, screen: Told): string[] {
  const paint = paintFor(screen);
  const said = (text: string, ...more: string[]): string[] => [
    `  ${clock} ${text}`,
    ...more.map((line) => `      ${line}`),
  ];
  switch (event.type) {
    case 'ATTEMPT_RESUMED':
      return said(`taken over by ${cleanLine(event.data.instance)}`);
    case 'ATTEMPT_SIGNALLED':
      return said(signalText(event.data));
    case 'STEP_PLANNED': {
      const { step, agent, status, calls } = event.data;
      return said(
        `${paint('bold', `step ${step}`)} ${cleanLine(agent)} ${paintStatus(paint, cleanLine(status))} (${callsText(calls)})`,
        ...toldLines(event.data),
        ...thoughtLines(event.data),
        ...problemLines(calls),
      );
    }
    case 'STEP_FAILED': {
      const { step, agent, error, calls } = event.data;
      const reason = `${cleanLine(error.code)}: ${cleanLine(error.message)}`;
      return said(
        `${paint('bold', `step ${step}`)} ${cleanLine(agent)} ${paint('red', reason)} (${callsText(calls)})`,
        ...problemLines(calls),
      );
    }
    case 'COMMAND_JUDGED': {
      const { command, decision, rule, reasons } = event.data;
      const judged = `${event.data.class}, ${paintStatus(paint, decision)}: rule ${cleanLine(rule)}`;
      return said(
        commandText(command),
        judged,
        ...reasons.map((reason) => clipToWidth(cleanLine(reason), TEXT_CHARS_MAX)),
      );
    }
    case 'ATTEMPT_ASKED':
      return said(
        `asks a person: ${askLine(event.data)}`,
        `until ${momentText(event.data.expiresAt)}; ${event.data.approvalId}`,
      );
    case 'COMMAND_ISSUED':
      return said(`sent to ${event.data.deviceId}${event.data.approvalId === undefined ? '' : ', approved'}`);
    case 'COMMAND_FINISHED':
      return said(finishedText(event.data, screen), ...outputLines(event.data.result, screen));
    case 'BOARD_USED': {
      const { does, name = '', done, text } = event.data;
      const word = `${does === 'read' ? 'reads' : 'writes'} the board ${name}`.trimEnd();
      return said(done ? word : paint('red', word), clipToWidth(cleanLine(text), TEXT_CHARS_MAX));
    }
    case 'POSTCONDITION_CHECKED': {
      const { satisfied, undecided, reason } = event.data;
      const not =
        undecided === true ? 'nobody can say whether the post-condition holds' : 'post-condition does not hold';
      const word = satisfied ? paint('green', 'post-condition holds') : paint('red', not);
      return said(`${word}: ${clipToWidth(cleanLine(reason), TEXT_CHARS_MAX)}`);
    }
    case 'ATTEMPT_FINISHED':
      return said(
        endText(event.data, screen),
        ...(event.data.status === 'completed' ? outputLines(event.data.result, screen) : []),
      );
    case 'PICTURES_DROPPED':
      return said(droppedText(event.data), ...droppedLines(event.data));
  }
}

function signalText(data: Event<'ATTEMPT_SIGNALLED'>): string {
  if (data.signal === 'stop') return `told to stop: ${data.reason}`;
  return decidedText(data, TEXT_CHARS_MAX);
}

function toldLines({ told = [] }: Event<'STEP_PLANNED'>): string[] {
  return told.map((text) => `was told: ${clipToWidth(cleanLine(text), TEXT_CHARS_MAX)}`);
}

function thoughtLines({ observation, thought, plan, comment, notes }: Event<'STEP_PLANNED'>): string[] {
  const named = { observes: observation, thinks: thought, comments: comment };
  const lines = Object.entries(named).filter(([, text]) => text !== '');
  return [
    ...lines.map(([name, text]) => `${name}: ${clipToWidth(cleanLine(text), TEXT_CHARS_MAX)}`),
    ...(plan.length === 0 ? [] : [`plan: ${clipToWidth(cleanLine(plan.join(' / ')), TEXT_CHARS_MAX)}`]),
    ...notes.map((note) => `notes: ${cleanLine(note)}`),
  ];
}

function finishedText({ state, error, durationMs, result }: Event<'COMMAND_FINISHED'>, { color }: Screen): string {
  const paint = paintFor({ color });
  const exitCode = result === null ? undefined : exitCodeIn(result.value);
  const code = exitCode === undefined ? '' : `, exit code ${exitCode}`;
  const took = durationMs === null ? '' : `, ${durationText(durationMs)}`;
  const event = error?.code === POLICY_MISMATCH ? ` ${paint('red', `security event ${POLICY_MISMATCH}`)}:` : '';
  const why = error === null ? '' : `:${event} ${cleanLine(error.message)}`;
  return `${paintStatus(paint, state)}${code}${took}${why}`;
}

/** The beginning of what was answered, line by line behind a bar. */
function outputLines(result: TaskResult | null, { dropped }: Told): string[] {
  if (result === null) return [];
  const said = [answerText(result.value, 2), stderrOf(result.value)].filter((text) => text !== '').join('\n');
  const lines = said.split('\n').map(cleanOutput);
  while (lines.at(-1) === '') lines.pop();
  const shown = lines.slice(0, OUTPUT_LINES_MAX).map((line) => `| ${clipToWidth(line, TEXT_CHARS_MAX)}`);
  const more = lines.length - shown.length;
  const cut = cutParts(result).map((part) => {
    const { words, foreign } = cutText(part);
    return [words, ...foreign.map((text) => clipToWidth(cleanLine(text), TEXT_CHARS_MAX))].join(': ');
  });
  const left = cut.length === 0 ? counted(more, 'more line') : `${counted(more, 'more line')} of what is recorded`;
  const isDropped = (index: number): boolean => dropped.has(result.files?.[index]?.artifact?.sha256 ?? '');
  const files = fileTexts(result).map(
    (text, index) => `file ${clipToWidth(cleanLine(text), TEXT_CHARS_MAX)}${isDropped(index) ? ', dropped since' : ''}`,
  );
  return [...shown, ...(more > 0 ? [`| ... ${left}`] : []), ...cut, ...files];
}

function droppedLines({ pictures }: Event<'PICTURES_DROPPED'>): string[] {
  const shown = pictures.slice(0, OUTPUT_LINES_MAX).map(({ sha256, bytes }) => `${sha256}, ${counted(bytes, 'byte')}`);
  const more = pictures.length - shown.length;
  return [...shown, ...(more > 0 ? [`... ${counted(more, 'more picture')}; --json has all`] : [])];
}

function endText(end: Event<'ATTEMPT_FINISHED'>, screen: Screen): string {
  const paint = paintFor(screen);
  const { used } = end;
  const spent =
    used === undefined
      ? ''
      : ` (${counted(used.llmCalls, 'model call')}, ${used.tokens.toLocaleString('en-US')} tokens, ${counted(used.commands, 'command')})`;
  if (end.status === 'completed') return `${paint('green', 'completed')}${spent}`;
  const { code, message } = end.error;
  return `${paint('red', 'failed')} ${cleanLine(code)}: ${clipToWidth(cleanLine(message), TEXT_CHARS_MAX)}${spent}`;
}
