import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import type { NatsConnection } from '@nats-io/transport-node';
import { ulid } from 'ulid';
import { proveActor } from '#libs/keys';
import { LIMITS, parseWith, subjects, VERB_FIELDS, VerbAnswer } from '#proto';
import type { Parsed, RefusalCode, RunId, RunVerb, VerbFields, VerbId } from '#proto';
import { ask } from './ask.client.js';
import { HALF_A_CHARACTER, hasCanonicalForm, type CommandSigner } from './signing.js';

/** The answer comes within the limit or never; the rest is for the way. */
const ANSWER_MS_MAX = LIMITS.verbAnswerMs + 1_000;
/** A try that could not be answered at all would only hide why the others were not. */
const TRY_MS_MIN = 1_000;
/** Between an answer that is none and the next try: a partition finds its next owner within 2 s. */
const REPEAT_MS = 250;
/** How long a verb is repeated before its outcome counts as unknown; the last try may take a second longer. */
const VERB_DEADLINE_MS = 30_000;

const INTERRUPTED = 'It was interrupted before the answer came.';

export interface VerbRequest<V extends RunVerb> extends CommandSigner {
  readonly runId: RunId;
  readonly verb: V;
  readonly fields: VerbFields<V>;
  /** One per intent: a sender of the same id means the same thing, and it is decided once. A new one when absent. */
  readonly id?: VerbId | undefined;
  readonly deadlineMs?: number;
  /** What the deadline is counted by; the clock of the machine when absent. */
  readonly monotonicMs?: () => number;
  readonly signal?: AbortSignal;
  /** Told why it is not answered yet, before each repetition. */
  readonly onRepeat?: (why: string) => void;
}

/** The final answer, or the news that nobody knows what became of it: the same id may be sent again. */
export type VerbOutcome = VerbAnswer | UnknownOutcome;
export interface UnknownOutcome {
  readonly answer: 'unknown';
  readonly id: VerbId;
  /** One sentence: why there is no answer. */
  readonly why: string;
}

/** Checks what was said with a verb; the issues name the fields. */
export function parseVerbFields<V extends RunVerb>(verb: V, input: unknown): Parsed<VerbFields<V>> {
  const parsed = parseWith<unknown>(VERB_FIELDS[verb], input);
  if (!parsed.ok) return parsed;
  if (!hasCanonicalForm(parsed.value)) {
    return { ok: false, issues: [{ path: '', message: HALF_A_CHARACTER }] };
  }
  return { ok: true, value: parsed.value as VerbFields<V> };
}

/**
 * Sends a verb to the orchestrator that serves the run, and repeats it with the same id until there is a final answer: a repetition of
 * what was decided gets the answer that was given. Throws for a seed that is none, never for what the bus does.
 */
export async function sendVerb<V extends RunVerb>(nc: NatsConnection, request: VerbRequest<V>): Promise<VerbOutcome> {
  const { runId, verb, fields, seed, now, vouched, deadlineMs = VERB_DEADLINE_MS, signal } = request;
  const { monotonicMs = () => performance.now() } = request;
  const id = request.id ?? ulid(now());
  const subject = subjects.verb(runId, verb);
  // As it will arrive: what is signed has no fields without a value.
  const body = JSON.parse(JSON.stringify({ ...fields, id })) as object;
  const end = monotonicMs() + deadlineMs;
  const left = (): number => end - monotonicMs();
  for (;;) {
    if (signal?.aborted === true) return { answer: 'unknown', id, why: INTERRUPTED };
    const actor = proveActor(seed, { subject, at: new Date(now()).toISOString(), body, vouched });
    const command = JSON.stringify({ ...body, actor });
    const timeoutMs = Math.min(ANSWER_MS_MAX, Math.max(TRY_MS_MIN, left()));
    const reply = await orAborted(askOwner(nc, { subject, command, timeoutMs }), signal);
    if (reply.kind === 'final') return reply.answer;
    if (reply.kind === 'over' || left() <= REPEAT_MS) return { answer: 'unknown', id, why: reply.why };
    request.onRepeat?.(reply.why);
    await wait(REPEAT_MS, undefined, { signal }).catch(() => undefined); // aborted: the next round says so
  }
}

type Reply =
  | { readonly kind: 'final'; readonly answer: VerbAnswer }
  | { readonly kind: 'again'; readonly why: string }
  /** There will be no answer on this connection. */
  | { readonly kind: 'over'; readonly why: string };

interface Question {
  readonly subject: string;
  readonly command: string;
  readonly timeoutMs: number;
}

async function askOwner(nc: NatsConnection, { subject, command, timeoutMs }: Question): Promise<Reply> {
  const bytesMax = nc.info?.max_payload ?? Number.POSITIVE_INFINITY;
  const bytes = Buffer.byteLength(command);
  if (bytes > bytesMax) return refused('TOO_LARGE', `The command has ${bytes} bytes; the bus takes ${bytesMax}.`);
  const asked = await ask(nc, subject, command, timeoutMs);
  switch (asked.kind) {
    case 'answered':
      return readAnswer(asked.json);
    case 'closed':
      return { kind: 'over', why: 'The connection to the bus was closed.' };
    case 'denied':
      return refused('UNAUTHORIZED', 'This user of the bus may not send this command.');
    case 'silent':
      return { kind: 'again', why: 'Whoever serves the run did not answer in time.' };
    case 'nobody':
      return { kind: 'again', why: 'Nobody serves the run at the moment.' };
    case 'broken':
      return { kind: 'again', why: 'The connection to the bus was interrupted.' };
  }
}

function readAnswer(json: unknown): Reply {
  const parsed = parseWith(VerbAnswer, json);
  if (!parsed.ok) return { kind: 'again', why: 'Whoever serves the run gave no valid answer.' };
  const { answer, reason } = parsed.value;
  if (answer === 'rejected' && reason?.code === 'TRY_AGAIN') return { kind: 'again', why: reason.message };
  return { kind: 'final', answer: parsed.value };
}

/** Refused before it reached anybody: it is certain that nothing happened. */
function refused(code: RefusalCode, message: string): Reply {
  return { kind: 'final', answer: { answer: 'rejected', reason: { code, message, issues: [] }, sequence: 0 } };
}

/** What is under way goes on without us: nobody can call a request back. */
async function orAborted(reply: Promise<Reply>, signal: AbortSignal | undefined): Promise<Reply> {
  if (signal === undefined) return reply;
  const { promise: aborted, resolve } = Promise.withResolvers<Reply>();
  const stop = (): void => resolve({ kind: 'over', why: INTERRUPTED });
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([aborted, reply]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
