import {
  fieldsOf,
  type Instant,
  type Json,
  type LineId,
  type RunId,
  type RunRequest,
  type Target,
  type TaskConstellation,
  type TaskId,
  type TaskStar,
  type TaskStarLine,
  type TaskStatus,
} from '#proto';
import { LINE_KINDS } from '../plan/index.js';
import { type Kept, keptOfLine, keptOfTask, takeKept, withoutEmptyFields } from './ufo-kept.js';
import {
  DEVICE_TYPES,
  levelOf,
  NOT_EXTRAS_OF_LINES,
  NOT_EXTRAS_OF_TASKS,
  withoutKeys,
  withoutNothing,
} from './ufo-words.js';

/** What has become of a task, as far as UFO has a field for it. */
export interface UfoProgress {
  readonly status: TaskStatus;
  readonly attempt: number;
  readonly result: Json;
  readonly error: string | null;
  readonly startedAt: Instant | null;
  readonly endedAt: Instant | null;
}

/** A constellation, and what has become of it when it belongs to a run that has begun. */
export interface UfoSource {
  readonly constellation: TaskConstellation;
  readonly runId: RunId;
  /** What the run was asked besides: it is asked of the next run, too. */
  readonly asked?: Pick<RunRequest, 'options' | 'metadata' | 'labels'>;
  readonly revision?: number;
  readonly createdAt?: Instant;
  readonly updatedAt?: Instant;
  readonly startedAt?: Instant | null;
  readonly endedAt?: Instant | null;
  readonly tasks?: ReadonlyMap<TaskId, UfoProgress>;
  /** Whether a line is satisfied; null when it is not judged yet. */
  readonly satisfied?: ReadonlyMap<LineId, boolean | null>;
}

/** The constellation in the form that UFO serialises: JSON, tasks and dependencies by id. `importUfo` gives it back. */
export function exportUfo(source: UfoSource): unknown {
  const { constellation, runId, revision = null, createdAt, updatedAt, startedAt = null, endedAt = null } = source;
  const { options, metadata: said, labels = {} } = source.asked ?? { options: {}, metadata: {} };
  const { kept, metadata } = takeKept(said);
  const { constellation_id: id = runId, ...own } = kept.constellation;
  const { name, tasks, lines } = constellation;
  const into = Map.groupBy(lines, ({ to }) => to);
  const from = Map.groupBy(lines, (line) => line.from);
  return {
    ...own,
    constellation_id: id,
    name,
    state: stateOf(tasks.map(({ id }) => source.tasks?.get(id)?.status ?? 'PENDING')),
    tasks: Object.fromEntries(
      tasks.map((star, position) => {
        const dependencies = unique((into.get(star.id) ?? []).map((line) => line.from));
        const dependents = unique((from.get(star.id) ?? []).map(({ to }) => to));
        return [star.id, { ...ufoTask(star, position, source, kept), dependencies, dependents }];
      }),
    ),
    dependencies: Object.fromEntries(lines.map((line, position) => [line.id, ufoLine(line, position, source, kept)])),
    metadata: {
      ...fieldsOf(own['metadata']),
      orrery: { runId, revision, ...withoutEmptyFields({ options, metadata, labels }) },
    },
    created_at: ufoTime(createdAt),
    updated_at: ufoTime(updatedAt),
    execution_start_time: ufoTime(startedAt),
    execution_end_time: ufoTime(endedAt),
    execution_duration: seconds(startedAt, endedAt),
  };
}

function ufoTask(star: TaskStar, position: number, { tasks, createdAt, updatedAt }: UfoSource, all: Kept): object {
  const progress = tasks?.get(star.id);
  const kept = keptOfTask(star, all);
  const { startedAt = null, endedAt = null, attempt = 0 } = progress ?? {};
  return {
    ...kept,
    task_id: star.id,
    name: star.name,
    description: star.description,
    tips: star.tips.length === 0 ? null : star.tips,
    task_description: star.description,
    ...ufoTarget(star.target, kept['device_type']),
    priority: levelOf(star.priority ?? 0),
    status: UFO_STATUS[progress?.status ?? 'PENDING'],
    result: progress?.result ?? null,
    error: progress?.error ?? null,
    timeout: star.timeoutMs === undefined ? null : star.timeoutMs / 1_000,
    retry_count: (star.retry?.attempts ?? 1) - 1,
    current_retry: Math.max(0, attempt - 1),
    task_data: { ...fieldsOf(kept['task_data']), orrery: ufoExtras(star, position) },
    expected_output_type: kept['expected_output_type'] ?? null,
    created_at: ufoTime(createdAt),
    updated_at: ufoTime(endedAt ?? startedAt ?? updatedAt),
    execution_start_time: ufoTime(startedAt),
    execution_end_time: ufoTime(endedAt),
    execution_duration: seconds(startedAt, endedAt),
  };
}

function ufoTarget(target: Target, type: unknown = null): object {
  if ('device' in target) return { target_device_id: target.device, device_type: type };
  return { target_device_id: null, device_type: DEVICE_TYPES.find((type) => type === target.os) ?? null };
}

/** A device stands in a field of UFO; a selector says more than that. */
function ufoExtras(star: TaskStar, position: number): object {
  const { target, ...extras } = withoutKeys(star, NOT_EXTRAS_OF_TASKS);
  return withoutNothing({ position, ...extras, target: 'device' in star.target ? undefined : target });
}

function ufoLine(line: TaskStarLine, position: number, source: UfoSource, all: Kept): object {
  const { id, from, to, condition, description } = line;
  const { tasks, satisfied, createdAt, updatedAt } = source;
  const judged = satisfied?.get(id) ?? null;
  const extras = { position, ...withoutKeys(line, NOT_EXTRAS_OF_LINES) };
  const kept = keptOfLine(line, all);
  const { ufo } = LINE_KINDS[line.type];
  const borrowed = ufo.condition === undefined ? {} : { type: line.type, description };
  const besides = condition === undefined ? borrowed : { condition, description };
  return {
    ...kept,
    line_id: id,
    from_task_id: from,
    to_task_id: to,
    dependency_type: kept['dependency_type'] ?? ufo.type,
    condition_description: condition ?? ufo.condition ?? description ?? null,
    metadata: { ...fieldsOf(kept['metadata']), orrery: withoutNothing({ ...extras, ...besides }) },
    is_satisfied: judged === true,
    last_evaluation_result: judged,
    last_evaluation_time: judged === null ? null : ufoTime(tasks?.get(from)?.endedAt),
    created_at: ufoTime(createdAt),
    updated_at: ufoTime(updatedAt),
  };
}

/** UFO knows no task that was skipped. */
const UFO_STATUS: Readonly<Record<TaskStatus, string>> = {
  PENDING: 'pending',
  RUNNING: 'running',
  COMPLETED: 'completed',
  FAILED: 'failed',
  SKIPPED: 'cancelled',
  CANCELLED: 'cancelled',
};

/** As UFO would say of these tasks. */
function stateOf(statuses: readonly TaskStatus[]): string {
  const some = (...among: TaskStatus[]) => statuses.some((status) => among.includes(status));
  if (statuses.length === 0) return 'created';
  if (some('PENDING', 'RUNNING')) return some('RUNNING', 'COMPLETED') ? 'executing' : 'ready';
  if (!some('FAILED')) return 'completed';
  return some('COMPLETED') ? 'partially_failed' : 'failed';
}

/** With an offset in place of `Z`, which the older ones of UFO's own readers do not know. */
function ufoTime(instant: Instant | null | undefined): string | null {
  return instant?.replace(/Z$/u, '+00:00') ?? null;
}

function seconds(from: Instant | null, until: Instant | null): number | null {
  return from === null || until === null ? null : (Date.parse(until) - Date.parse(from)) / 1_000;
}

function unique<T>(items: readonly T[]): T[] {
  return [...new Set(items)];
}
