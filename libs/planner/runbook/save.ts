import { listOfIds, plannedOf, type Run, toolConstellationOf } from '#libs/constellation';
import type { Json, RunbookName, TaskConstellation, ToolConstellation } from '#proto';
import { mapTexts } from './places.js';
import { escaped } from './placeholders.js';

export type RunbookOfRun =
  | {
      readonly ok: true;
      /** What a runbook file holds, in the order in which people read it. */
      readonly file: Readonly<Record<string, Json>>;
      /** What somebody has to look at before it is used; one sentence each. */
      readonly review: readonly string[];
    }
  | { readonly ok: false; readonly message: string };

const TITLE_CHARS_MAX = 200;
const DESCRIPTION_CHARS_MAX = 2_000;

/**
 * The constellation of a run that has ended, as a runbook: a draft without parameters. Every text stands for itself; braces
 * that would be placeholders are escaped.
 */
export function runbookOf(run: Run, { name }: { readonly name: RunbookName }): RunbookOfRun {
  if (run.tasks.length === 0) {
    return { ok: false, message: 'it has no constellation, so there is nothing to save' };
  }
  if (run.phase !== 'COMPLETED' && run.phase !== 'FAILED' && run.phase !== 'CANCELLED') {
    return { ok: false, message: 'it has not ended yet; a plan is saved when it is known what became of it' };
  }
  const stars = plannedOf(run.tasks);
  const plan: TaskConstellation = { name: run.graph.name, tasks: stars, lines: [...run.graph.lines] };
  const goal = run.request?.goal ?? null;
  const file = {
    name,
    title: cut(firstLine(goal ?? run.graph.name), TITLE_CHARS_MAX),
    description: cut(goal ?? `The constellation "${run.graph.name}" of run ${run.runId}.`, DESCRIPTION_CHARS_MAX),
    matches: [],
    parameters: [],
    constellation: constellationFrom(toolConstellationOf(plan)),
  };
  return { ok: true, file, review: reviewOf(run, plan) };
}

function constellationFrom({ tasks, dependencies }: ToolConstellation): Json {
  return mapTexts({ tasks, dependencies }, escaped) ?? {};
}

function reviewOf(run: Run, { tasks }: TaskConstellation): string[] {
  const states = [...run.tasks];
  const idsWhere = (holds: (task: TaskConstellation['tasks'][number]) => boolean) =>
    tasks.filter(holds).map(({ id }) => id);
  const said: readonly (readonly [string, readonly string[]])[] = [
    [
      'These did not complete in that run, mend or remove them',
      states.filter(({ status }) => status !== 'COMPLETED').map(({ star }) => star.id),
    ],
    [
      'A model may have written these; in a runbook nobody judges their commands any more',
      states.filter(({ judged }) => judged).map(({ star }) => star.id),
    ],
    [
      'Read every command, it runs exactly as it stands here; move what changes into parameters',
      idsWhere(({ command }) => command !== undefined),
    ],
    [
      'Of one device each: is a selector (target), for_each, or a parameter of the type device meant',
      idsWhere(({ target }) => 'device' in target),
    ],
    [
      'Done by an agent, which needs a model; write what it did as a command when it is always the same',
      idsWhere(({ command }) => command === undefined),
    ],
    [
      'Deadlines and waits between tries of these are not kept',
      idsWhere(({ deadlineMs, retry }) => deadlineMs !== undefined || retry !== undefined),
    ],
  ];
  return [
    ...said.flatMap(([what, ids]) => (ids.length === 0 ? [] : [`${what}: ${listOfIds(ids)}.`])),
    'Nothing secret belongs into a runbook: read names, paths and texts of that one run.',
    'Add parameters and matches (goals in words), then: orrery runbooks check <this file>',
  ];
}

const firstLine = (text: string): string => text.split('\n', 1)[0]?.trim() || 'Saved plan';

function cut(text: string, charsMax: number): string {
  return text.length > charsMax ? `${text.slice(0, charsMax - 3)}...` : text;
}
