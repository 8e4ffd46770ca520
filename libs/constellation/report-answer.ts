import type { Evaluation, RunCommit, RunView, TaskView } from '#proto';
import { more, REPORT_LIMITS } from './report-limits.js';
import { cell, cut, fence, span, table } from './report-text.js';
import { completeText, subtasksText } from './subtask-text.js';

const ANSWER_CHARS_MAX = 16_000;
const RESULT_CHARS_MAX = 8_000;

/** The one reply to whoever asked, what it rests on, and what was not done; and what the evaluation found. */
export function answerSection({ answer, evaluation, goal }: RunView): string {
  const parts: string[] = [];
  if (answer !== null && answer !== undefined) {
    const by = answer.by === 'model' ? 'Written by the model of the planner' : 'Collected from the results';
    const rows = answer.evidence.map(({ taskId, attempt, deviceId, command }) => [
      cell(taskId),
      String(attempt),
      deviceId === null ? '-' : cell(deviceId),
      command === undefined ? 'see its steps' : cell(`${command.tool} ${JSON.stringify(command.arguments)}`),
    ]);
    const failures = answer.failures.map(
      ({ taskId, status, message, recoveredBy }) =>
        `- ${span(taskId)}: ${status}, ${span(message, 500)}${recoveredBy === undefined ? '' : `; recovered, ${span(recoveredBy)} did it instead`}`,
    );
    parts.push(
      '## Answer',
      ...(goal === null || goal === undefined ? [] : ['The request:', fence(cut(goal, ANSWER_CHARS_MAX), 'text')]),
      `${by}:`,
      fence(cut(answer.text, ANSWER_CHARS_MAX), 'text'),
      ...(failures.length === 0 ? [] : ['Not done:', failures.join('\n')]),
      ...(rows.length === 0 ? [] : ['It rests on:', table(['Task', 'Attempt', 'Device', 'Command'], rows)]),
    );
  }
  if (evaluation !== null && evaluation !== undefined) {
    parts.push(evaluationText(evaluation));
  }
  return parts.join('\n\n');
}

/** What a model found of the whole, of the parts of the request, and of each task that was tried. */
function evaluationText(evaluation: Evaluation): string {
  const { reason, sub_scores: scores, subtasks = [] } = evaluation;
  const parts = scores.map(({ name, evaluation: verdict }) => [cell(name), verdict]);
  const rows = subtasks.map(({ task_id: id, evaluation: verdict, reason: why = '' }) => [
    cell(id),
    verdict,
    why === '' ? '-' : cell(why),
  ]);
  const rate = subtasksText(evaluation);
  return [
    '## Evaluation',
    `Complete: ${completeText(evaluation)}. A model judged it by its events:`,
    fence(cut(reason, RESULT_CHARS_MAX), 'text'),
    table(['Part', 'Done'], parts),
    ...(rate === undefined ? [] : [`${rate}:`, table(['Task', 'Done', 'Why'], rows)]),
  ].join('\n\n');
}

/** What agents answered: the outputs of exact commands stand with the commands. */
export function resultsSection(run: RunView, commits: readonly RunCommit[]): string {
  const agents = new Set(
    commits.flatMap(({ events }) =>
      events.flatMap((event) =>
        event.type === 'TASK_STARTED' && event.data.command === undefined ? [event.data.taskId] : [],
      ),
    ),
  );
  const answered = run.tasks.filter(({ id, result }) => agents.has(id) && result !== null);
  if (answered.length === 0) return '';
  const { outputsCharsMax, outputCharsMin, rowsMax } = REPORT_LIMITS;
  const share = Math.floor(outputsCharsMax / (2 * answered.length));
  const charsMax = Math.max(outputCharsMin, Math.min(RESULT_CHARS_MAX, share));
  const blocks = answered.slice(0, rowsMax).map((task) => resultText(task, charsMax));
  return ['## Results of agents', ...blocks, ...more(answered.length)].join('\n\n');
}

function resultText({ id, attempts, device, result }: TaskView, charsMax: number): string {
  const value = result?.value ?? null;
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  const where = device === null ? '' : ` on ${span(device)}`;
  const whole = result?.artifact === undefined ? [] : [`The whole is artifact ${span(result.artifact.sha256)}.`];
  return [`### Task ${span(id)}, attempt ${attempts}${where}`, fence(cut(text, charsMax), 'text'), ...whole].join(
    '\n\n',
  );
}
