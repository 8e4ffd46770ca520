import type { Demonstration, Experience, Issue } from '#proto';
import { Demonstration as DemonstrationSchema, parseWith } from '#proto';
import { cleanLine, cleanText, clipToWidth, renderTable, type Terminal } from '../../terminal/index.js';
import { parseText, sentencesOf } from '../../files/index.js';

const REQUEST_CHARS_MAX = 80;

/** One row per example. */
export function experiencesTable(
  experiences: readonly Experience[],
  screen: Pick<Terminal, 'isTerminal' | 'color'>,
): string {
  const short = (text: string): string => (screen.isTerminal ? clipToWidth(cleanLine(text), REQUEST_CHARS_MAX) : text);
  return renderTable(
    experiences,
    [
      { title: 'EXAMPLE', value: ({ id }) => id },
      { title: 'KIND', value: ({ kind }) => kind },
      { title: 'LEARNT', value: ({ learntAt }) => learntAt, time: true, spare: true },
      { title: 'BY', value: ({ learntBy }) => learntBy },
      { title: 'TASKS', value: ({ constellation }) => String(constellation.tasks.length) },
      { title: 'REQUEST', value: ({ request }) => short(request) },
    ],
    screen,
  );
}

/** What the planner will be shown: for a person to judge whether it should be. */
export function experienceText({ id, kind, source, request, tips, constellation }: Experience): string {
  const tasks = constellation.tasks.map(({ task_id: taskId, name, target_device_id: device, target, command }) => {
    const where = device ?? `any ${JSON.stringify(target ?? {})}`;
    const what = command === undefined ? 'an agent' : `${command.tool} ${JSON.stringify(command.arguments)}`;
    return `  ${taskId}: ${name}, ${what} on ${where}`;
  });
  const lines = constellation.dependencies.map(
    ({ from_task_id: from, to_task_id: to, type, condition }) =>
      `  ${from} -> ${to} (${type ?? (condition === undefined ? 'success-only' : 'conditional')}${condition === undefined ? '' : `: ${condition}`})`,
  );
  return [
    `${id}: ${kind} of ${source}`,
    `request: ${request}`,
    ...(tips.length === 0 ? [] : ['tips:', ...tips.map((tip) => `  - ${tip}`)]),
    'plan:',
    ...tasks,
    ...lines,
  ]
    .map(cleanIndented)
    .join('\n');
}

/** No line of an example can look like another one of ours. */
function cleanIndented(line: string): string {
  const [indent = ''] = /^ */u.exec(line) ?? [];
  return cleanText(`${indent}${cleanLine(line)}`);
}

export type DemonstrationFile =
  | { readonly ok: true; readonly demonstration: Demonstration }
  | { readonly ok: false; readonly message: string; readonly issues: readonly Issue[] };

/** Reads what a person wrote down, JSON or YAML. */
export function parseDemonstrationText(text: string): DemonstrationFile {
  const document = parseText(text, 'demonstration');
  if (!document.ok) return { ok: false, message: document.message, issues: [] };
  const parsed = parseWith(DemonstrationSchema, document.value);
  if (parsed.ok) return { ok: true, demonstration: parsed.value };
  return { ok: false, message: sentencesOf(parsed.issues), issues: parsed.issues };
}
