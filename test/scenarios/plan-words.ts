import type { Budget, RunEventData, RunOptions, TaskConstellation, TaskStar, TaskStarLine } from '#proto';
import { constellation } from '../../libs/constellation/testing/given.js';

const HASH = 'a'.repeat(64);
const DAY_MS = 24 * 60 * 60 * 1000;

/** `plan edit=when-needed lock=strict wait=600000 ask=60000: A@web-1 B@os:linux(retry=2,review); A->B, A=>C, A?status == "FAILED">D`. */
export function planOf(text: string, now: number): RunEventData<'RUN_REQUESTED'> {
  const [options = '', body = ''] = split(text.slice('plan'.length), ':');
  return requested(optionsOf(options), { constellation: constellationOf(body), goal: null }, now);
}

/** `goal edit=every-result: collect the figures`. */
export function goalOf(text: string, now: number): RunEventData<'RUN_REQUESTED'> {
  const [options = '', goal = ''] = split(text.slice('goal'.length), ':');
  return requested(optionsOf(options), { constellation: null, goal: goal.trim() }, now);
}

/** `A@web-1 B@db-1; A->B`. */
export function constellationOf(text: string): TaskConstellation {
  const [tasks = '', lines = ''] = split(text, ';');
  return constellation(words(tasks).map(taskOf), lines === '' ? [] : lines.split(',').map((line) => line.trim()));
}

/** `A@web-1`, `A@os:linux`, `A@tags:db(retry=2,backoff=1000,timeout=5000,deadline=60000,idempotent,review,priority=3,agent,replaces=B+C,check=0)`: `agent` has no command. */
export function taskOf(text: string): TaskStar {
  const match = /^(?<id>[^@]+)@(?<target>[^(]+)(?:\((?<options>.*)\))?$/u.exec(text)?.groups;
  if (match === undefined) throw new Error(`"${text}" is no task; write A@device(options)`);
  const { id = '', target = '', options = '' } = match;
  const [selector = '', value] = target.split(':');
  const [task] = constellation([
    { id, target: value === undefined ? { device: target } : selectorOf(selector, value) },
  ]).tasks;
  if (task === undefined) throw new Error('a constellation of one task has one task');
  return { ...task, ...taskOptions(options) };
}

function selectorOf(selector: string, value: string): TaskStar['target'] {
  return selector === 'os' ? { os: value } : { tags: value.split('+') };
}

function taskOptions(text: string): Partial<TaskStar> {
  const { retry, backoff, timeout, deadline, priority, idempotent, review, agent, replaces, check } = pairs(
    text.split(',').join(' '),
  );
  return {
    ...(retry === undefined ? {} : { retry: { attempts: Number(retry), backoffMs: Number(backoff ?? 0) } }),
    ...(timeout === undefined ? {} : { timeoutMs: Number(timeout) }),
    ...(deadline === undefined ? {} : { deadlineMs: Number(deadline) }),
    ...(priority === undefined ? {} : { priority: Number(priority) }),
    ...(idempotent === undefined ? {} : { idempotent: true }),
    ...(review === undefined ? {} : { review: true }),
    ...(replaces === undefined ? {} : { replaces: replaces.split('+') }),
    ...(check === undefined ? {} : { verify: { condition: `result.exit_code == ${check}` } }),
    ...(agent === undefined ? {} : NO_COMMAND),
  };
}

/** Said, because a task of a story has a command unless it says otherwise. */
const NO_COMMAND = { command: undefined } as object;

export function lineOf(text: string): TaskStarLine {
  const ends = /^(?<from>[\w-]+?)(?:->|=>|\?.*>)(?<to>[\w-]+)$/u.exec(text)?.groups;
  const [line] = constellation([ends?.['from'] ?? '', ends?.['to'] ?? ''], [text]).lines;
  if (ends === undefined || line === undefined)
    throw new Error(`"${text}" is no line; write A->B, A=>B or A?condition>B`);
  return line;
}

function optionsOf(text: string): RunOptions & { deadlineMs?: number } {
  const { edit, lock, deadline, round, concurrency, budget, approval, plan, ask, wait } = pairs(text);
  return {
    ...(edit === undefined ? {} : { editPolicy: edit as RunOptions['editPolicy'] }),
    ...(lock === undefined ? {} : { lockPolicy: lock as RunOptions['lockPolicy'] }),
    ...(deadline === undefined ? {} : { deadlineMs: Number(deadline) }),
    ...(ask === undefined ? {} : { deviceAskMs: Number(ask) }),
    ...(wait === undefined ? {} : { deviceWaitMs: Number(wait) }),
    ...(round === undefined ? {} : { editDeadlineMs: Number(round) }),
    ...(concurrency === undefined ? {} : { concurrency: Number(concurrency) }),
    ...(budget === undefined ? {} : { budget: amountsOf(budget) }),
    ...(plan === undefined ? {} : { plan: plan as NonNullable<RunOptions['plan']> }),
    ...(approval === undefined ? {} : { approval: approval as NonNullable<RunOptions['approval']> }),
  };
}

/** `llmCalls/3+tokens/500`. */
export function amountsOf(text: string): Budget {
  return Object.fromEntries(text.split('+').map((amount) => [amount.split('/')[0], Number(amount.split('/')[1])]));
}

function requested(
  options: RunOptions,
  asked: Pick<RunEventData<'RUN_REQUESTED'>, 'constellation' | 'goal'>,
  now: number,
): RunEventData<'RUN_REQUESTED'> {
  return {
    requestId: 'request-1',
    namespace: 'default',
    contentHash: HASH,
    ...asked,
    options,
    metadata: {},
    requestedBy: { kind: 'external', id: 'default' },
    requestedAt: new Date(now).toISOString(),
    deadlineAt: new Date(now + (options.deadlineMs ?? DAY_MS)).toISOString(),
  };
}

function pairs(text: string): Record<string, string | undefined> {
  return Object.fromEntries(words(text).map((word) => [word.split('=')[0] ?? '', word.split('=')[1] ?? '']));
}

export function words(text: string): string[] {
  return text.split(' ').filter((word) => word !== '');
}

function split(text: string, separator: string): string[] {
  const at = text.indexOf(separator);
  return at === -1 ? [text.trim()] : [text.slice(0, at).trim(), text.slice(at + 1).trim()];
}
