import type { LineView, RunStatus, RunSummary, RunView, TaskView, WaitingFor } from '#proto';
import { isTerminal, type Run } from './run.js';

/** A run as people and programs are shown it; pure, so the log, Postgres and the live state show the same. */
export function viewOf(run: Run): RunView {
  return {
    ...headOf(run),
    reason: run.reason,
    revision: run.revision,
    requestedBy: requestOf(run).requestedBy.id,
    waitingFor: waitingFor(run),
    tasks: [...run.tasks].map(taskView),
    lines: (run.graph?.lines ?? []).map((line, index): LineView => {
      const { satisfied, reason } = run.lines.at(index);
      const { id, from, to, type, condition } = line;
      return { id, from, to, type, condition: condition ?? null, satisfied, reason };
    }),
  };
}

export function summaryOf(run: Run): RunSummary {
  return { ...headOf(run), tasks: run.tasks.length };
}

/** Why a run is not terminal and what wakes it; null when it is terminal. */
export function waitingFor(run: Run): WaitingFor | null {
  if (isTerminal(run) || run.phase === 'NONE') return null;
  if (run.phase === 'PAUSED') return { reason: 'paused', detail: run.reason ?? 'paused', wakesAt: null };
  if (run.running.size > 0) {
    const running = [...run.running].map((index) => run.tasks.at(index));
    const names = running.slice(0, 5).map(({ star, deviceId }) => `${star.id} on ${deviceId ?? '?'}`);
    const more = running.length > 5 ? ` and ${running.length - 5} more` : '';
    const due = running.map(({ stopping, timeoutAt }) => stopping?.graceUntil ?? timeoutAt);
    return { reason: 'running_tasks', detail: `the end of ${names.join(', ')}${more}`, wakesAt: earliest(due) };
  }
  const ready = [...run.ready].map((index) => run.tasks.at(index));
  const ids = ready.slice(0, 5).map(({ star }) => star.id);
  const delayed = ready.filter(({ notBefore }) => notBefore !== null);
  if (ready.length > 0 && delayed.length === ready.length) {
    const wakesAt = earliest(delayed.map(({ notBefore }) => notBefore));
    return { reason: 'backoff', detail: `the next try of ${ids.join(', ')}`, wakesAt };
  }
  return {
    reason: 'device',
    detail: `a connected device with a free slot for ${ids.join(', ')}`,
    wakesAt: run.request?.deadlineAt ?? null,
  };
}

function headOf(run: Run) {
  const request = requestOf(run);
  return {
    runId: run.runId,
    requestId: request.requestId,
    name: run.graph?.name ?? request.goal ?? request.requestId,
    status: statusOf(run),
    outcome: run.outcome,
    sequence: run.sequence,
    requestedAt: request.requestedAt,
    endedAt: run.endedAt,
  };
}

function statusOf(run: Run): RunStatus {
  if (run.phase === 'NONE') return 'PLANNING';
  if (run.phase !== 'RUNNING') return run.phase;
  return run.running.size > 0 ? 'RUNNING' : 'WAITING';
}

function requestOf(run: Run): NonNullable<Run['request']> {
  if (run.request === null) throw new Error(`run ${run.runId} has no RUN_REQUESTED`);
  return run.request;
}

function taskView({
  star,
  status,
  attempt,
  deviceId,
  result,
  error,
  reason,
  startedAt,
  endedAt,
}: Run['tasks'] extends Iterable<infer T> ? T : never): TaskView {
  return {
    id: star.id,
    name: star.name,
    status,
    attempts: attempt,
    device: deviceId,
    result,
    error,
    reason,
    startedAt,
    endedAt,
  };
}

function earliest(instants: readonly (string | null | undefined)[]): string | null {
  // RFC 3339 in UTC with milliseconds sorts as text.
  return instants.reduce<string | null>((least, at) => (at && (least === null || at < least) ? at : least), null);
}
