import {
  type ArtifactRef,
  type Ask,
  type AttemptEvent,
  type CommandCall,
  type CommandId,
  type Json,
  LIMITS,
  type ModelCall,
  type Prompt,
} from '#proto';
import type { FactOf } from './book.js';
import { codeOf } from './failures.js';
import type { AgentReply, BoardTold, BoardUse } from './outcomes.js';
import { boardNameOf, statusOf } from './recorded-outcomes.js';
import type { JudgedCall } from './verdict.js';
import { clip, repairedJson } from './shape-result.js';

/** What an attempt's facts may hold of a text; the whole of a long reply lies in ARTIFACTS. */
const CHARS = {
  observation: 20_000,
  thought: 20_000,
  planLine: 2_000,
  comment: 4_000,
  note: 500,
  problem: 1_000,
  error: 2_000,
  askThought: 4_000,
  askPlanLine: 500,
  question: 4_000,
  reason: 500,
  told: 2_000,
  id: 128,
} as const;
const PLAN_LINES = 50;
const NOTES = 20;
const PROBLEMS = 20;
const ASK_PLAN_LINES = 20;
const CALLS = 64;

/** The model's turn as a fact. `calls` in order; the last one's reply is the plan. */
export function stepPlanned(
  { told, ...place }: { step: number; agent: string; told: readonly string[] },
  { templates }: Prompt,
  calls: readonly ModelCall[],
  reply: AgentReply,
): AttemptEvent {
  const recorded = repairedJson(reply as unknown as Json) as unknown as AgentReply;
  return {
    type: 'STEP_PLANNED',
    data: {
      ...place,
      calls: boundedCalls(calls),
      templates: templates.slice(0, 20).map(({ id, hash }) => ({ id: id.slice(0, CHARS.id), hash })),
      reply: recorded as unknown as Json,
      status: clip(statusOf(recorded), 64),
      observation: clip(recorded.observation, CHARS.observation),
      thought: clip(recorded.thought, CHARS.thought),
      plan: recorded.plan.slice(0, PLAN_LINES).map((line) => clip(line, CHARS.planLine)),
      comment: clip(recorded.comment, CHARS.comment),
      notes: usableNotes(recorded.notes, NOTES),
      ...(told.length > 0 && { told: told.slice(0, PROBLEMS).map((problem) => clip(problem, CHARS.told)) }),
    },
  };
}

export function stepFailed(
  place: { step: number; agent: string },
  calls: readonly ModelCall[],
  error: { readonly code: string; readonly message: string },
): AttemptEvent {
  const said = { code: codeOf(error.code), message: clip(error.message, CHARS.error) };
  return { type: 'STEP_FAILED', data: { ...place, calls: boundedCalls(calls), error: said } };
}

export interface JudgedPlace {
  readonly step: number;
  readonly index: number;
  readonly commandId: CommandId;
  readonly command: CommandCall;
}

export function commandJudged(
  { step, index, commandId, command }: JudgedPlace,
  { verdict, wall }: JudgedCall,
  origin: FactOf<'COMMAND_JUDGED'>['origin'],
  policyHash: string,
): AttemptEvent {
  const reasons = verdict.reasons.slice(0, 20).map((reason) => clip(reason, CHARS.reason));
  // Of what runs unasked nobody is shown anything.
  const held = verdict.decision === 'approve' || origin === 'person' ? { wall } : {};
  return {
    type: 'COMMAND_JUDGED',
    data: { step, index, commandId, command, ...verdict, reasons, origin, policyHash, ...held },
  };
}

export interface AskOrigin {
  readonly deviceId: string;
  readonly agent: string;
  readonly step: number;
  readonly thought: string;
  readonly plan: readonly string[];
  readonly expiresAt: string;
}

/** `picture`: of the place where it would act, as its agent has seen it. */
export function askedForApproval(
  origin: AskOrigin,
  judged: FactOf<'COMMAND_JUDGED'>,
  picture?: ArtifactRef,
): AttemptEvent {
  const { commandId, command, class: commandClass, rule, reasons, policyHash, grantable, wall } = judged;
  const ask = {
    command,
    class: commandClass,
    rule,
    reasons,
    policyHash,
    grantable,
    ...(wall && { wall }),
    ...(picture && { picture }),
  };
  return asked({ kind: 'approval', approvalId: commandId, ...askShape(origin), ...ask });
}

export function askedQuestion(origin: AskOrigin, approvalId: CommandId, question: string): AttemptEvent {
  return asked({ kind: 'question', approvalId, ...askShape(origin), question: questionOf(question) });
}

/** What an agent was told of the board as a fact. */
export function boardUsed(
  place: { readonly step: number; readonly index: number },
  { does, name }: BoardUse,
  { done, text }: BoardTold,
): AttemptEvent {
  const told = clip(text, LIMITS.boardToldCharsMax);
  return {
    type: 'BOARD_USED',
    data: { ...place, does, ...(name !== undefined && { name: boardNameOf(name) }), done, text: told },
  };
}

/** A question as it is recorded: what it is compared with when the agent asks it again. */
export const questionOf = (question: string): string => clip(question, CHARS.question) || '?';

function asked(data: Ask): AttemptEvent {
  return { type: 'ATTEMPT_ASKED', data };
}

function askShape({ deviceId, agent, step, thought, plan, expiresAt }: AskOrigin) {
  const lines = plan.slice(0, ASK_PLAN_LINES).map((line) => clip(line, CHARS.askPlanLine));
  return {
    deviceId,
    agent: agent.slice(0, 64),
    step,
    thought: clip(thought, CHARS.askThought),
    plan: lines,
    expiresAt,
  };
}

/** Notes that others of the run may read: never more than an event holds. */
export function usableNotes(notes: readonly string[], max: number): string[] {
  return notes
    .map((note) => clip(note, CHARS.note))
    .filter((note) => note !== '')
    .slice(-max);
}

function boundedCalls(calls: readonly ModelCall[]): ModelCall[] {
  return calls.slice(-CALLS).map((call) => ({
    ...call,
    reply: call.reply === null ? null : call.reply.toWellFormed(),
    problems: call.problems.slice(0, PROBLEMS).map((problem) => clip(problem, CHARS.problem)),
    error: call.error === null ? null : { code: clip(call.error.code, 64), message: clip(call.error.message, 1_000) },
  }));
}
