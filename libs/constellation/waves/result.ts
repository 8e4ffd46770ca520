import { type Json, LIMITS, type TaskError, type TaskResult } from '#proto';
import type { TaskState } from '../state/index.js';
import { jsonBytes } from '../values/index.js';
import type { Progress } from './progress.js';

/** What the commit has around it. */
const ENVELOPE_BYTES = 256;
const VALUE_BYTES_MAX = LIMITS.resultBytesMax - ENVELOPE_BYTES;

/**
 * What a task on several devices answers: counts, and a line for each device with its value, as far as there is room. What is left out is
 * counted; the whole of it stands at the task of its device, and is given to whoever takes it from here.
 */
export function fanOutResult(progress: Progress): TaskResult {
  const { fanOut, begun, completed, failed, cancelled, notStarted } = progress;
  const counts = {
    devices: fanOut.parts.length,
    waves: fanOut.wave,
    completed,
    failed,
    cancelled,
    not_started: notStarted,
  };
  const answered = (rows: readonly Json[]): TaskResult => ({
    value: { ...counts, results: [...rows], left_out: begun.length - rows.length },
  });
  const whole = answered(begun.map((part, at) => rowOf(part, deviceAt(progress, at), true)));
  if (jsonBytes(whole) <= VALUE_BYTES_MAX) return whole;
  const rows = begun.map((part, at) => ({ part, row: rowOf(part, deviceAt(progress, at), false) }));
  // Which ones did not succeed is asked first.
  const isBad = ({ part }: (typeof rows)[number]): boolean => part.status !== 'COMPLETED';
  const ordered = [...rows.filter(isBad), ...rows.filter((one) => !isBad(one))].map(({ row }) => row);
  let bytes = jsonBytes(answered([]));
  const fitting: Json[] = [];
  for (const row of ordered) {
    bytes += jsonBytes(row) + 1;
    if (bytes > VALUE_BYTES_MAX) break;
    fitting.push(row);
  }
  return answered(fitting);
}

function deviceAt({ fanOut }: Progress, at: number): string {
  return fanOut.parts[at]?.deviceId ?? '';
}

function rowOf({ star, status, attempt, result, error }: TaskState, device: string, withValue: boolean): Json {
  return {
    device,
    task: star.id,
    status,
    attempts: attempt,
    ...(error === null ? {} : { error: error.code }),
    ...(withValue && result !== null ? { value: result.value } : {}),
  };
}

const NAMED_MAX = 5;

/** Why a task on several devices has failed, with what became of each of them. */
export function fanOutError(progress: Progress, { code, why }: NonNullable<Progress['stopped']>): TaskError {
  const failed = progress.begun.flatMap((part, at) =>
    part.status === 'FAILED' ? [`${deviceAt(progress, at)} (${part.error.code})`] : [],
  );
  const more = failed.length > NAMED_MAX ? ` and ${failed.length - NAMED_MAX} more` : '';
  const named = failed.length === 0 ? '' : `: ${failed.slice(0, NAMED_MAX).join(', ')}${more}`;
  const { cancelled, notStarted } = progress;
  const left = cancelled + notStarted;
  const others = left === 0 ? '' : `; ${left} of them did not begin`;
  const outcome = code === 'DEADLINE' ? 'timed_out' : 'failed';
  return { code, message: `${why}${named}${others}`, outcome, output: fanOutResult(progress) };
}
