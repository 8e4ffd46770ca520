import { createHash } from 'node:crypto';
import { CLIENT_WAITS_MS, type ClientTask } from '#libs/aip';
import { findTask, isTerminal, type Run } from '#libs/constellation';
import { LIMITS, sentenceOf, type DeviceId, type Refusal, type RequestId, type RunRequest } from '#proto';
import type { RunEnd } from './whole-end.js';

/* A task of a constellation client as a run of one task, and back (docs/adr/0020). */

/** Who gives the task, over which connection. */
export interface ClientName {
  readonly id: DeviceId;
  /** Of the connection: a client uses its session ids again after a restart, and means something else. */
  readonly connectionId: string;
  /** Submissions that were refused on this connection so far. */
  readonly refusals: number;
  /** What the client calls itself. */
  readonly label: string | null;
}

const TASK_ID = 'task';
/** The run is over, whatever its device does, before its client stops to wait. */
const RUN_MS = CLIENT_WAITS_MS - LIMITS.stopGraceMs - 5_000;
const DIGEST_CHARS = 24;

/**
 * The same task over the same connection is the same run, however often it is submitted; until one is refused (`refusals`
 * counts them), because what was refused may have become a run all the same, and is being cancelled.
 */
export function requestIdOf(
  { connectionId, refusals }: Pick<ClientName, 'connectionId' | 'refusals'>,
  sessionId: string,
): RequestId {
  const digest = createHash('sha256').update(`${refusals}:${sessionId}`).digest('hex').slice(0, DIGEST_CHARS);
  return `aip-${connectionId.toLowerCase()}-${digest}`;
}

export function requestOf(task: ClientTask, client: ClientName): RunRequest {
  const { sessionId, deviceId, name, request, command } = task;
  const star = { id: TASK_ID, name, description: request, tips: [], target: { device: deviceId }, timeoutMs: RUN_MS };
  return {
    requestId: requestIdOf(client, sessionId),
    goal: null,
    constellation: { name, tasks: [command === null ? star : { ...star, command }], lines: [] },
    options: { deadlineMs: RUN_MS },
    metadata: { aip: { client: client.id, label: client.label, sessionId } },
  };
}

/** How the task ended, as the log holds it; null while it has not. */
export function runEndOf(run: Run): RunEnd | null {
  if (!isTerminal(run)) return null;
  const task = findTask(run, TASK_ID);
  const result = task?.result ?? null;
  const value = result?.value ?? null;
  if (task?.status === 'COMPLETED') return { end: { status: 'completed', result: value, error: null }, result };
  const error = task?.error?.message ?? run.reason ?? 'the run ended without the task';
  return { end: { status: 'failed', result: value, error }, result };
}

/** Where the fields of a run's request come from in a TASK. */
const FIELDS: readonly (readonly [RegExp, string])[] = [
  [/^constellation\.tasks\[0\]\.command/u, 'metadata.orrery.command'],
  [/^constellation\.tasks\[0\]\.description/u, 'request'],
  [/^constellation\.tasks\[0\]\.target(?:\.device)?/u, 'target_id'],
  [/^constellation\.(?:tasks\[0\]\.)?name/u, 'task_name'],
];

/** Why it became no run, in one sentence that names the fields of the client's own message. */
export function sentenceOfRefusal({ message, issues }: Refusal): string {
  const own = issues.map(({ path, message: what }) => {
    const [pattern, field] = FIELDS.find(([known]) => known.test(path)) ?? [];
    return sentenceOf({ path: pattern === undefined ? path : path.replace(pattern, field ?? ''), message: what });
  });
  return own.length === 0 ? message : own.join('; ');
}
