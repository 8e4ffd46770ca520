import type { z } from 'zod';
import { issueWords, LIMITS, type ChatMessage, type ModelCall } from '#proto';
import { type ChatModel, type ModelAnswer, type ModelErrorCode, shownMessages } from '../models/index.js';
import { readReplyJson } from './reply-json.js';
import { strictSchema, type StrictSchema } from './strict-schema.js';

export interface CallRefusal {
  readonly code: string;
  readonly message: string;
}

export interface StructuredAsk<T> {
  readonly agent: string;
  readonly messages: readonly ChatMessage[];
  readonly schema: z.ZodType<T>;
  /** What is wrong with a reply that the schema lets through; it goes back to the model like everything else that is wrong. */
  readonly check?: (value: T) => readonly string[];
  /** 1 to 64 of `A-Z a-z 0-9 _ -`: endpoints want one. */
  readonly schemaName: string;
  /** Tries after the first; `LIMITS.replyRepairsMax` when absent. */
  readonly repairsMax?: number;
  readonly signal: AbortSignal;
  /** Milliseconds from now for all tries together. */
  readonly deadlineMs: number;
  readonly turn: string;
  readonly onText?: (soFar: string) => void;
  /** Asked before every request, also before a repair, with what was called so far; a refusal ends it with that code. */
  readonly mayCall?: (calls: readonly ModelCall[]) => CallRefusal | null;
  /** Milliseconds since any fixed point; the system's clock when absent. */
  readonly now?: () => number;
}

export type StructuredReply<T> =
  | { readonly kind: 'reply'; readonly value: T; readonly calls: ModelCall[] }
  /** `code`: MODEL_UNAVAILABLE, MODEL_REPLY_INVALID, ABORTED, or what `mayCall` said. */
  | { readonly kind: 'failed'; readonly code: string; readonly message: string; readonly calls: ModelCall[] };

const PROBLEMS_MAX = 20;
const PROBLEM_CHARS_MAX = 1_000;
/** Of a reply that could not be used the model is shown no more than this again. */
const SHOWN_CHARS_MAX = 8_000;

/**
 * Asks until the reply is what the schema says, or says why there is none. A reply that cannot be used goes back to the model
 * with what is wrong with it, by path; only the last one does, so that a repair costs one reply more and not all of them.
 */
export async function askStructured<T>(model: ChatModel, ask: StructuredAsk<T>): Promise<StructuredReply<T>> {
  const { repairsMax = LIMITS.replyRepairsMax, now = Date.now } = ask;
  const endsAt = now() + ask.deadlineMs;
  const strict = strictSchema(ask.schema);
  const calls: ModelCall[] = [];
  let messages = ask.messages;
  for (let repairs = 0; ; repairs++) {
    const refusal = ask.mayCall?.(calls) ?? null;
    if (refusal !== null) return { kind: 'failed', ...refusal, calls };
    if (repairs > 0) ask.onText?.('');
    const answers = await model.ask({
      agent: ask.agent,
      messages: shownMessages(messages),
      schema: { name: ask.schemaName, json: strict.json },
      signal: ask.signal,
      deadlineMs: Math.max(0, endsAt - now()),
      turn: ask.turn,
      ...(ask.onText !== undefined && { onText: ask.onText }),
    });
    const answer = answers.at(-1);
    const judged = judge(answer, strict, ask);
    calls.push(...answers.map((each) => ({ ...each, problems: each === answer ? problemsOf(judged) : [] })));
    if (judged.kind === 'value') return { kind: 'reply', value: judged.value, calls };
    if (judged.kind === 'failed') return { ...judged, calls };
    if (repairs >= repairsMax) return { kind: 'failed', ...givenUp(judged.problems, repairs + 1), calls };
    messages = [...ask.messages, ...correction(answer?.reply ?? null, judged.problems)];
  }
}

type Judged<T> =
  | { readonly kind: 'value'; readonly value: T }
  | { readonly kind: 'invalid'; readonly problems: readonly string[] }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string };

/** What the model can do something about when it is told. Everything else is the endpoint's, and retried where it is known. */
const REPAIRABLE: Partial<Record<string, string>> = {
  EMPTY_REPLY: 'the reply was empty',
  REFUSED: 'there was no reply but a refusal; a task that must not be done is ended with a status that says so',
  REPLY_CUT: 'the reply was cut off at the limit of tokens; be much shorter',
  REPLY_TOO_LARGE: `the reply was longer than ${LIMITS.replyBytesMax} bytes; be much shorter`,
} satisfies Partial<Record<ModelErrorCode, string>>;

function judge<T>(
  answer: ModelAnswer | undefined,
  strict: StrictSchema,
  { schema, check }: StructuredAsk<T>,
): Judged<T> {
  if (answer === undefined) return { kind: 'failed', code: 'MODEL_UNAVAILABLE', message: 'No model was asked.' };
  const { error, reply } = answer;
  if (error !== null) {
    const problem = REPAIRABLE[error.code];
    if (problem !== undefined) return { kind: 'invalid', problems: [problem] };
    const code = error.code === 'ABORTED' ? 'ABORTED' : 'MODEL_UNAVAILABLE';
    return { kind: 'failed', code, message: `${answer.model}: ${error.message}`.slice(0, PROBLEM_CHARS_MAX) };
  }
  const read = readReplyJson(reply ?? '');
  if (read.kind === 'problem') return { kind: 'invalid', problems: [read.problem] };
  const parsed = schema.safeParse(strict.toInput(read.value), { error: issueWords });
  if (!parsed.success) return { kind: 'invalid', problems: parsed.error.issues.map(sentence) };
  const problems = check?.(parsed.data) ?? [];
  return problems.length === 0 ? { kind: 'value', value: parsed.data } : { kind: 'invalid', problems };
}

function sentence({ path, message }: z.core.$ZodIssue): string {
  const where = path.length === 0 ? 'the reply' : path.map(String).join('.');
  return `${where}: ${message}`.toWellFormed();
}

function problemsOf(judged: Judged<unknown>): string[] {
  if (judged.kind !== 'invalid') return [];
  return judged.problems.slice(0, PROBLEMS_MAX).map((text) => text.slice(0, PROBLEM_CHARS_MAX).toWellFormed());
}

function correction(reply: string | null, problems: readonly string[]): ChatMessage[] {
  const said = (reply ?? '').trim().slice(0, SHOWN_CHARS_MAX).toWellFormed();
  const list = problems.slice(0, PROBLEMS_MAX).map((text) => `- ${text.slice(0, PROBLEM_CHARS_MAX)}`);
  const content = [
    'Your reply could not be used:',
    ...list,
    'Answer the same question again with one JSON object that matches the schema, and with nothing before or after it.',
  ].join('\n');
  return [...(said === '' ? [] : [{ role: 'assistant', content: said } as const]), { role: 'user', content }];
}

function givenUp(problems: readonly string[], tries: number): CallRefusal {
  const last = problems.slice(0, 3).join('; ');
  const message = `No usable reply in ${tries} ${tries === 1 ? 'try' : 'tries'}; the last one: ${last}`;
  return { code: 'MODEL_REPLY_INVALID', message: message.slice(0, PROBLEM_CHARS_MAX).toWellFormed() };
}
