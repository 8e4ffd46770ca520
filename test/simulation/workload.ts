import type { RunRequest } from '#proto';
import { checkSubmission, type Submission } from '../../services/orchestrator/inputs/submission.js';
import type { Dice } from './random.js';

export const TASKS_MIN = 20;
const TASKS_MAX = 44;
const RUNS_MAX = 5;
const GOAL_SHARE = 0.4;
const SUBMITTED_WITHIN_MS = 8_000;

type Accepted = Extract<Submission, { ok: true }>;

/** A request and when it is sent, milliseconds after the start. */
export interface Submitted {
  readonly submission: Accepted;
  readonly at: number;
}

const AGENTS_SHARE = 0.4;
const AGENT_TASKS_SHARE = 0.4;
const BUDGET_SHARE = 0.4;
const APPROVED_SHARE = 0.4;

/** Random requests with at least TASKS_MIN tasks together: DAGs with all kinds of lines, targets, retries and limits. Agents come into some of the worlds, by dice of their own. */
export function workloadOf(dice: Dice, devices: readonly string[], agents: Dice): Submitted[] {
  const total = dice.int(TASKS_MIN, TASKS_MAX);
  const runs = dice.int(2, RUNS_MAX);
  const requests = Array.from({ length: runs }, (_, index) => {
    const count = Math.floor(((index + 1) * total) / runs) - Math.floor((index * total) / runs);
    return requestOf(dice, `request-${index + 1}`, { count, devices });
  });
  const plan = agents.chance(APPROVED_SHARE) ? ({ plan: 'approve' } as const) : {};
  const goal = { requestId: 'request-goal', goal: 'do what is needed', options: { ...optionsOf(dice), ...plan } };
  const all = dice.chance(GOAL_SHARE) ? [...requests, goal] : requests;
  const isWithAgents = agents.chance(AGENTS_SHARE);
  return all.map((request, index) => {
    const submission = checkSubmission(isWithAgents ? withAgents(request, agents) : request, 'default', 2_000);
    if (!submission.ok) throw new Error(`the workload is not valid: ${submission.refusal.message}`);
    return { submission, at: index === 0 ? 0 : dice.spread(1, SUBMITTED_WITHIN_MS) };
  });
}

type Requested = ReturnType<typeof requestOf> | { readonly options: Partial<RunRequest['options']> };

/** Some tasks are done by agents, and some requests have a budget for them. */
function withAgents(request: Requested, dice: Dice): object {
  const budget = { llmCalls: dice.int(0, 40), ...(dice.chance(0.3) && { commands: dice.int(5, 60) }) };
  const options = { ...request.options, ...(dice.chance(BUDGET_SHARE) && { budget }) };
  if (!('constellation' in request)) return { ...request, options };
  const tasks = request.constellation.tasks.map(({ command, ...task }) =>
    dice.chance(AGENT_TASKS_SHARE) ? task : { ...task, command },
  );
  return { ...request, options, constellation: { ...request.constellation, tasks } };
}

function requestOf(dice: Dice, requestId: string, of: { count: number; devices: readonly string[] }) {
  const shape = dice.pick(['random', 'random', 'chain', 'fan', 'layers'] as const);
  const tasks = Array.from({ length: of.count }, (_, index) => taskOf(dice, index, of.devices));
  const lines = tasks.flatMap((_, to) => sourcesOf(dice, shape, to, of.count).map((from) => lineOf(dice, from, to)));
  return { requestId, constellation: { name: `${shape} of ${of.count}`, tasks, lines }, options: optionsOf(dice) };
}

function optionsOf(dice: Dice): Partial<RunRequest['options']> {
  const editPolicy = dice.pick(['never', 'never', 'when-needed', 'every-result'] as const);
  return {
    ...(dice.chance(0.15) && { deadlineMs: Math.round(dice.spread(5_000, 600_000)) }),
    ...(dice.chance(0.7) && { editPolicy }),
    ...(dice.chance(0.5) && { lockPolicy: dice.pick(['strict', 'scoped'] as const) }),
    ...(dice.chance(0.6) && { editDeadlineMs: Math.round(dice.spread(1_000, 30_000)) }),
    ...(dice.chance(0.2) && { concurrency: dice.int(1, 6) }),
    ...(dice.chance(0.2) && { priority: dice.int(-2, 2) }),
  };
}

export function taskOf(dice: Dice, index: number | string, devices: readonly string[]) {
  const readOnly = dice.chance(0.3);
  const command = readOnly
    ? { tool: 'SYS_INFO', arguments: { info_type: 'disk' } }
    : { tool: 'EXEC_CLI', arguments: { command: 'true' } };
  return {
    id: `t${index}`,
    name: `task ${index}`,
    target: targetOf(dice, devices),
    command,
    ...(dice.chance(0.4) && { retry: { attempts: dice.int(2, 4), backoffMs: Math.round(dice.spread(10, 2_000)) } }),
    ...(dice.chance(0.4) && { timeoutMs: Math.round(dice.spread(500, 60_000)) }),
    ...(dice.chance(0.15) && { priority: dice.int(-2, 2) }),
    ...(dice.chance(0.15) && { idempotent: true }),
    ...(dice.chance(0.1) && { deadlineMs: Math.round(dice.spread(2_000, 120_000)) }),
    ...(dice.chance(0.1) && { review: true }),
  };
}

function targetOf(dice: Dice, devices: readonly string[]) {
  const chance = dice.next();
  if (chance < 0.5) return { device: dice.pick(devices) };
  if (chance < 0.7) return { os: 'linux' };
  if (chance < 0.85) return { tags: [dice.pick(['db', 'web'])] };
  return { capabilities: ['cli'], resources: { cpuCount: 1 } };
}

function sourcesOf(dice: Dice, shape: 'random' | 'chain' | 'fan' | 'layers', to: number, count: number): number[] {
  if (to === 0) return [];
  if (shape === 'chain') return [to - 1];
  if (shape === 'fan') return to === count - 1 ? Array.from({ length: to - 1 }, (_, index) => index + 1) : [0];
  const width = 3;
  if (shape === 'layers') {
    const layer = Math.floor(to / width) * width;
    return layer === 0 ? [] : [layer - 3, layer - 2, layer - 1].filter(() => dice.chance(0.8));
  }
  return Array.from({ length: to }, (_, from) => from).filter((from) => to - from < 6 && dice.chance(0.3));
}

export function lineOf(dice: Dice, from: number | string, to: number | string) {
  const line = { id: `l${from}-${to}`, from: `t${from}`, to: `t${to}` };
  const chance = dice.next();
  if (chance < 0.45) return { ...line, type: 'unconditional' };
  if (chance < 0.7) return { ...line, type: 'success-only' };
  if (chance < 0.8) return { ...line, type: 'failure-only' };
  const condition = dice.pick([
    'dyn(result).exit_code == 0',
    'dyn(result).n > 3',
    'status == "COMPLETED"',
    'dyn(result).ghost == 1',
  ]);
  return { ...line, type: 'conditional', condition };
}
