import { z } from 'zod';

/** What may stand in a subject, a key or a file name: user text never does. 1 to 64 letters, digits, `_` or `-`. */
export const ID_PATTERN = /^[A-Za-z0-9_-]{1,64}$/;

export const idSchema = (what: string) =>
  z.string().regex(ID_PATTERN, `${what} must be 1 to 64 characters out of A-Z, a-z, 0-9, "_" and "-"`);

export const RequestId = idSchema('a request id');
export type RequestId = z.infer<typeof RequestId>;

/** Derived from namespace and request id by a fixed hash, so the same request is the same run for ever. */
export const RunId = idSchema('a run id');
export type RunId = z.infer<typeof RunId>;

export const TaskId = idSchema('a task id');
export type TaskId = z.infer<typeof TaskId>;

export const LineId = idSchema('a line id');
export type LineId = z.infer<typeof LineId>;

export const DeviceId = idSchema('a device id');
export type DeviceId = z.infer<typeof DeviceId>;

export const SessionId = idSchema('a session id');
export type SessionId = z.infer<typeof SessionId>;

/** Names one edit round inside of its run: `e1`, `e2`, ... */
export const EditId = idSchema('an edit id');
export type EditId = z.infer<typeof EditId>;

/** Random id of a device's command journal: a device with another journal has forgotten what it was sent. */
export const JournalId = idSchema('a journal id');
export type JournalId = z.infer<typeof JournalId>;

/** `<runId>.<taskId>.<attempt>.<step>.<index>` with the dots of the ids' own alphabet excluded: readable and unique. */
export const CommandId = z.string().regex(/^[A-Za-z0-9_.-]{1,256}$/, 'a command id must be 1 to 256 safe characters');
export type CommandId = z.infer<typeof CommandId>;

export function commandIdOf(
  attempt: { runId: RunId; taskId: TaskId; attempt: number },
  step = 0,
  index = 0,
): CommandId {
  return `${attempt.runId}.${attempt.taskId}.${attempt.attempt}.${step}.${index}`;
}

/** The attempt whose command this is; undefined for an id that `commandIdOf` never gives. */
export function attemptOfCommand(commandId: CommandId): { runId: RunId; taskId: TaskId; attempt: number } | undefined {
  const [, runId, taskId, attempt] = OF_ATTEMPT.exec(commandId) ?? [];
  if (runId === undefined || taskId === undefined || attempt === undefined) return undefined;
  return { runId, taskId, attempt: Number(attempt) };
}

/** Where in its attempt a command stands: step 0 is the exact command of a task, an agent's steps count from 1. */
export function placeOfCommand(commandId: CommandId): { step: number; index: number } | undefined {
  const [, , , , step, index] = OF_ATTEMPT.exec(commandId) ?? [];
  return step === undefined || index === undefined ? undefined : { step: Number(step), index: Number(index) };
}

const OF_ATTEMPT =
  /^([A-Za-z0-9_-]{1,64})\.([A-Za-z0-9_-]{1,64})\.([1-9][0-9]{0,8})\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)$/;

/** Point in time, RFC 3339 in UTC with milliseconds, e.g. `2026-11-20T15:40:40.489Z`. */
export const Instant = z.iso.datetime({ error: 'must be an RFC 3339 time in UTC, e.g. 2026-11-20T15:40:40.489Z' });
export type Instant = z.infer<typeof Instant>;
/** The instant that is `ms` milliseconds after the epoch, as it is written in messages and events. */
export function instantOf(ms: number): Instant {
  if (ms === last.ms) return last.text;
  [last, older] = [older.ms === ms ? older : { ms, text: new Date(ms).toISOString() }, last];
  return last.text;
}

/** A decision asks for the same instants again and again: that of now, and when what starts has to end. */
let last = { ms: NaN, text: '' };
let older = last;

export const Sha256 = z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in lower-case hex');
export type Sha256 = z.infer<typeof Sha256>;

/** Far more than anybody needs, far less than a stack holds. */
const JSON_DEPTH_MAX = 1_000;

/** Any JSON value. */
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };
export const Json: z.ZodType<Json> = z
  .unknown()
  .refine((value) => isJson(value, 0), {
    error: `must be JSON, nested no deeper than ${JSON_DEPTH_MAX} levels`,
    abort: true,
  })
  .overwrite((value) => withoutPrototypes(value)) as z.ZodType<Json>;

/** By hand: the library's own takes seconds for what a device can put into one frame, in which nobody else is served. */
function isJson(value: unknown, depth: number): boolean {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true;
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || depth === JSON_DEPTH_MAX || !isPlain(value)) return false;
  const items: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  for (const item of items) if (!isJson(item, depth + 1)) return false;
  return true;
}

function isPlain(value: object): boolean {
  if (Array.isArray(value)) return true;
  // Not compared with this realm's own: a structured clone may come from another one.
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** A key `__proto__` is left out: a copy key by key would change what it copies to. */
function withoutPrototypes(value: unknown): unknown {
  if (!namesPrototype(value)) return value;
  if (Array.isArray(value)) return value.map(withoutPrototypes);
  const kept = Object.entries(value ?? {}).filter(([key]) => key !== PROTOTYPE);
  return Object.fromEntries(kept.map(([key, item]) => [key, withoutPrototypes(item)]));
}

const PROTOTYPE = '__proto__';

function namesPrototype(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (!Array.isArray(value) && Object.hasOwn(value, PROTOTYPE)) return true;
  const items: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  for (const item of items) if (typeof item === 'object' && namesPrototype(item)) return true;
  return false;
}
