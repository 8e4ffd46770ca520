import type { Evaluation, RunView } from '#proto';
import { cell, cut, fence, span, table } from './report-text.js';
import { completeText, subtasksText } from '../views/index.js';

const ANSWER_CHARS_MAX = 16_000;
const RESULT_CHARS_MAX = 8_000;

/** The one reply to the requester, what it rests on, and what was not done; and what the evaluation found. */
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
