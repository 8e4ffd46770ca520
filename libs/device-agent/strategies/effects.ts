import type { z } from 'zod';
import type { CommandCall, Prompt, Usage } from '#proto';
import type {
  AgentReply,
  BoardUse,
  BoardUsed,
  EffectOutcome,
  OutputRead,
  PersonAnswered,
  ReadInput,
  ReadOutput,
  ShownPlace,
  ToolCalled,
} from '../effects/index.js';
import { AgentFailure, CODES, type Work } from '../agent/index.js';

/** One turn of the model: what it said, as the schema reads it. */
export interface Turn<R extends AgentReply> {
  readonly step: number;
  readonly reply: R;
  readonly used?: Usage;
}

/** Effects as calls: each gives its own outcome, or throws what the attempt is to end with. */

export function* askModel<R extends AgentReply>(ask: {
  readonly agent: string;
  readonly prompt: (boundary: string) => Prompt;
  readonly schema: z.ZodType<R>;
  readonly told?: readonly string[];
}): Work<Turn<R>> {
  const outcome = yield { kind: 'ask-model', ...ask };
  if (outcome.kind === 'model-failed') throw new AgentFailure(outcome);
  if (outcome.kind !== 'replied') throw misplaced('ask-model', outcome);
  // It may have been recorded by an earlier version of the agent.
  const { success, data, error } = ask.schema.safeParse(outcome.reply);
  const { step, used } = outcome;
  if (success) return { step, reply: data, ...(used === undefined ? {} : { used }) };
  const { path, message } = error.issues[0] ?? { path: [], message: 'it cannot be read' };
  const where = path.length === 0 ? '' : ` at ${path.join('.')}`;
  throw new AgentFailure({
    code: CODES.replyInvalid,
    message: `the reply of the model is not usable${where}: ${message}`,
  });
}

export function* callTool(
  command: CommandCall,
  { confirm = false, shows }: { readonly confirm?: boolean; readonly shows?: ShownPlace | undefined } = {},
): Work<ToolCalled> {
  const outcome = yield {
    kind: 'call-tool',
    command,
    ...(confirm && { confirm: true as const }),
    ...(shows !== undefined && { shows }),
  };
  if (outcome.kind !== 'called') throw misplaced('call-tool', outcome);
  return outcome;
}

export function* askPerson(question: string): Work<PersonAnswered> {
  const outcome = yield { kind: 'ask-person', question };
  if (outcome.kind !== 'answered') throw misplaced('ask-person', outcome);
  return outcome;
}

export function* readOutput(read: Omit<ReadOutput, 'kind'>): Work<OutputRead> {
  const outcome = yield { kind: 'read-output', ...read };
  if (outcome.kind !== 'read') throw misplaced('read-output', outcome);
  return outcome;
}

export function* readInput(read: Omit<ReadInput, 'kind'>): Work<OutputRead> {
  const outcome = yield { kind: 'read-input', ...read };
  if (outcome.kind !== 'read') throw misplaced('read-input', outcome);
  return outcome;
}

export function* useBoard(use: BoardUse): Work<BoardUsed> {
  const outcome = yield { kind: 'use-board', use };
  if (outcome.kind !== 'used-board') throw misplaced('use-board', outcome);
  return outcome;
}

/** A value for which nothing has to be done: what a strategy gives that only thinks. */
export function* noEffects<T>(value: T): Work<T> {
  yield* [];
  return value;
}

const misplaced = (effect: string, { kind }: EffectOutcome): Error =>
  new Error(`${effect} was answered with an outcome of the kind "${kind}"`);
