import {
  type Budget,
  DEFAULTS,
  type Demonstration,
  type EditTrigger,
  type EditViolation,
  type Experience,
  type Json,
  LIMITS,
  type Target,
  type ToolConstellation,
  type ToolTask,
} from '#proto';
import { type Run, toolConstellationOf, hasPlan, plannedOf } from '#libs/constellation';
import { retrievedDocumentsPrompt } from '#libs/prompter';
import { clipped, fenceTokens, jsonLine, type Lines, linesWithin, type Telling, toldText } from './bounded.js';
import type { CreationView } from './view.js';

/** Tokens for each part that others wrote. The goal is never cut. */
export const PLANNER_TOKENS = {
  profiles: 3_000,
  /** Beside a run that has ended: enough to see what there is nothing of. */
  profilesOfEnded: 1_500,
  plan: DEFAULTS.planTokens,
  /** Of what was said besides the request; what is asked about now comes first. */
  conversation: 6_000,
  /** Of what stands on the board of the run. */
  board: 1_500,
  /** Of the plan that an example is made of, beside what came of it. */
  experience: 4_000,
  outcomes: 4_000,
  scope: 500,
  learnt: 3_000,
  runbooks: 1_000,
  metadata: 500,
  problems: 1_500,
  tried: 2_500,
  answer: 2_000,
  demonstration: 6_000,
} as const;

export function requestText(goal: string | null, { fence }: Telling): string {
  return goal === null ? '[There are no words: the request was a constellation]' : fence.around('request', goal);
}

/** What ended, in our words: ids are letters, digits, "-" and "_". */
export function triggersPart(triggers: readonly EditTrigger[]): string {
  const idsOf = (kind: 'task' | 'device'): string[] =>
    triggers.flatMap((trigger) => (trigger.kind === kind ? [trigger.taskId] : []));
  const said = triggers.flatMap((trigger) => (trigger.kind === 'words' ? [`w${trigger.number}`] : []));
  const [ids, stranded] = [idsOf('task'), idsOf('device')];
  const shown = (all: readonly string[]): string =>
    `${all.slice(0, TRIGGERS_MAX).join(', ')}${all.length > TRIGGERS_MAX ? ` and ${all.length - TRIGGERS_MAX} more` : ''}`;
  return [
    ...(said.length === 0 ? [] : [`- Somebody has said something: ${said.join(', ')} in the conversation.`]),
    ...(triggers.some(({ kind }) => kind === 'goal') ? ['- The request came in.'] : []),
    ...(ids.length === 0
      ? []
      : [`- Ended since you were asked last: ${shown(ids)}. In the lines below they are marked "trigger".`]),
    ...(stranded.length === 0
      ? []
      : [
          `- Ready for a while, and no connected device can take them: ${shown(stranded)}. They are marked "trigger", too. They go on ` +
            'waiting until they are given up; another target lets them run elsewhere.',
        ]),
    ...(triggers.some(({ kind }) => kind === 'end-of-plan')
      ? ['- Nothing is pending and nothing runs: the plan is at its end.']
      : []),
  ].join('\n');
}

const TRIGGERS_MAX = 20;

export function fencedText(
  label: string,
  value: Readonly<Record<string, Json>> | undefined,
  options: Telling & { readonly tokensMax: number },
): string {
  if (value === undefined || Object.keys(value).length === 0) return '';
  return toldText(label, JSON.stringify(value), options).text;
}

export function triedText(tried: Json | undefined, telling: Telling): string {
  if (tried === undefined || tried === null) return '';
  return toldText('your last reply', JSON.stringify(tried), { ...telling, tokensMax: PLANNER_TOKENS.tried }).text;
}

/** Which tasks are to be judged, in our words: ids are letters, digits, "-" and "_". */
export function judgedTasksText(ids: readonly string[]): string {
  if (ids.length === 0) return 'No task was tried: `subtasks` is [].';
  const shown = ids.slice(0, LIMITS.subtasksJudgedMax).join(', ');
  if (ids.length <= LIMITS.subtasksJudgedMax) return shown;
  return `${shown} (${ids.length} were tried; judge these ${LIMITS.subtasksJudgedMax})`;
}

export function violationsPart(violations: readonly EditViolation[], telling: Telling): string {
  const lines = violations.map(({ code, path, message }) => `${code} at ${path}: ${message}`);
  return linesText('violations', lines, { ...telling, tokensMax: PLANNER_TOKENS.problems });
}

/** Each as a JSON string, so that one cannot pretend to be several. */
export function linesText(
  label: string,
  texts: readonly string[],
  telling: Telling & { readonly tokensMax: number },
): string {
  if (texts.length === 0) return '';
  const lines = texts.map((text) => JSON.stringify(text.slice(0, 1_000).toWellFormed()));
  return toldLines(label, linesWithin(lines, telling.tokensMax, telling.countTokens), telling);
}

/** In a fence, and behind it how many were left out. */
function toldLines(label: string, { lines, omitted }: Lines, { fence }: Telling, what = ''): string {
  const more = omitted === 0 ? [] : [`[${omitted} more ${what}are not shown]`];
  return [fence.around(label, lines.join('\n')), ...more].join('\n');
}

export function runbooksText(runbooks: NonNullable<CreationView['runbooks']>, telling: Telling): string {
  if (runbooks.length === 0) return '';
  const lines = runbooks.map(({ name, description, parameters }) =>
    jsonLine({
      runbook: name,
      about: description.slice(0, 300).toWellFormed(),
      parameters: parameters.map((one) => one.name),
    }),
  );
  return toldLines('runbooks', linesWithin(lines, PLANNER_TOKENS.runbooks, telling.countTokens), telling);
}

/** Whole examples, as many as fit: half a constellation teaches nothing. */
export function learntText(
  learnt: readonly Experience[],
  telling: Telling,
): { readonly text: string; readonly shown: readonly string[] } {
  const label = 'learnt example';
  const around = fenceTokens(label, telling);
  let left: number = PLANNER_TOKENS.learnt;
  const shown: string[] = [];
  const texts: string[] = [];
  for (const { id, request, tips, constellation } of learnt) {
    const text = JSON.stringify({ request, tips, constellation: withoutDefaults(constellation) });
    // A text that is far too long is not counted.
    if (text.length > left * CHARS_PER_TOKEN_MAX) continue;
    const { lines, tokens } = linesWithin([text], left - around, telling.countTokens);
    if (lines.length === 0) continue;
    left -= tokens + around;
    shown.push(id);
    texts.push(telling.fence.around(label, text));
  }
  return { text: retrievedDocumentsPrompt('', 'Learnt Example', texts).trim(), shown };
}

/** Longer words than this on average are no JSON of a constellation. */
const CHARS_PER_TOKEN_MAX = 12;

const withoutDefaults = ({ dependencies, ...rest }: ToolConstellation): Json =>
  JSON.parse(JSON.stringify(dependencies.length === 0 ? rest : { ...rest, dependencies })) as Json;

export function budgetText(budget: Budget | undefined): string {
  const { llmCalls, tokens, costUsd, commands } = budget ?? {};
  const parts = [
    llmCalls === undefined ? '' : `${llmCalls} requests to models`,
    tokens === undefined ? '' : `${tokens} tokens`,
    commands === undefined ? '' : `${commands} commands`,
    costUsd === undefined ? '' : `${costUsd} US dollars`,
  ];
  return parts.filter((part) => part !== '').join(', ');
}

export function demonstrationText({ steps }: Demonstration, telling: Telling): string {
  const bounded = (chars: number): string[] =>
    steps.map(({ device, description, command, result }, index) =>
      jsonLine({
        step: index + 1,
        device,
        description: description.slice(0, chars).toWellFormed(),
        command: command?.slice(0, chars).toWellFormed(),
        result: result?.slice(0, chars).toWellFormed(),
      }),
    );
  // Every step in less detail says more than the first ones in full.
  for (const chars of STEP_CHARS) {
    const lines = bounded(chars);
    if (lines.join('').length > PLANNER_TOKENS.demonstration * CHARS_PER_TOKEN_MAX) continue;
    const told = linesWithin(lines, PLANNER_TOKENS.demonstration, telling.countTokens);
    if (told.omitted > 0 && chars !== STEP_CHARS.at(-1)) continue;
    return toldLines('steps', told, telling, 'steps ');
  }
  return '';
}

const STEP_CHARS = [4_000, 1_000, 300, 100, 30] as const;

/**
 * The plan of a run as it was in the end, in the words that an example is made of: a line for every task, then for every
 * dependency. In less detail rather than in part.
 */
export function planText(run: Run, telling: Telling): string {
  if (!hasPlan(run)) return '[There was no plan]';
  const stars = plannedOf(run.tasks);
  const { name, tasks, dependencies } = toolConstellationOf({
    name: run.graph.name,
    tasks: stars,
    lines: [...run.graph.lines],
  });
  for (const chars of PLAN_CHARS) {
    const lines = [
      JSON.stringify({ plan: name }),
      ...tasks.map((task) => planLine(task, chars)),
      ...dependencies.map((one) => JSON.stringify(one)),
    ];
    const isLast = chars === PLAN_CHARS.at(-1);
    if (!isLast && lines.join('').length > PLANNER_TOKENS.experience * CHARS_PER_TOKEN_MAX) continue;
    const told = linesWithin(lines, PLANNER_TOKENS.experience, telling.countTokens);
    if (told.omitted > 0 && !isLast) continue;
    return toldLines('plan', told, telling, 'tasks and dependencies ');
  }
  return '';
}

/** Characters of the longest texts of a task. */
const PLAN_CHARS = [4_000, 600, 150, 0] as const;

function planLine({ description, tips = [], command, verify, ...rest }: ToolTask, chars: number): string {
  const clip = (text: string): string => (chars === 0 ? '' : clipped(text, chars));
  const asText = (value: Json | undefined): Json =>
    value === undefined || JSON.stringify(value).length <= chars ? (value ?? null) : clip(JSON.stringify(value));
  return jsonLine({
    ...(JSON.parse(JSON.stringify(rest)) as Readonly<Record<string, Json>>),
    description: clip(description),
    tips: chars === 0 ? [] : tips.map(clip),
    command: asText(command),
    verify: asText(verify === undefined ? undefined : (JSON.parse(JSON.stringify(verify)) as Json)),
  });
}

/** Where new and changed tasks may run; empty where nothing bounds it. */
export function scopeText(scope: readonly Target[] | null, telling: Telling): string {
  if (scope === null) return '';
  const lines = scope.map((target) => JSON.stringify(target));
  return toldLines('targets', linesWithin(lines, PLANNER_TOKENS.scope, telling.countTokens), telling);
}
