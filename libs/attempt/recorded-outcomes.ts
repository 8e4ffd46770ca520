import type { z } from 'zod';
import { type CommandCall, type CommandWall, narrowerWall, UNHELD, sameJson, wallOnly } from '#proto';
import type { Book, CommandRecord } from './book.js';
import type {
  AgentReply,
  BoardUse,
  BoardUsed,
  ModelFailed,
  ModelReplied,
  PersonAnswered,
  ToolCalled,
} from './outcomes.js';

/** Rule of a verdict that the service itself gives: the device has no such tool. */
export const NO_SUCH_TOOL = 'no-such-tool';

/**
 * The program, run again, wants something else than what is recorded at the same place: nothing that follows could be
 * trusted. `where` says which place.
 */
export interface Diverged {
  readonly kind: 'diverged';
  readonly message: string;
}

export const diverged = (message: string): Diverged => ({ kind: 'diverged', message });

/** What the model answered in this step, as it is recorded; undefined when it has not been asked yet. */
export function modelOutcome(
  book: Book,
  step: number,
  { agent, schema }: { readonly agent: string; readonly schema: z.ZodType<AgentReply> },
): ModelReplied | ModelFailed | Diverged | undefined {
  const record = book.steps.get(step);
  if (record === undefined) return undefined;
  if (record.agent !== agentName(agent))
    return diverged(`step ${step} was asked by ${record.agent}, now ${agent} asks`);
  if (record.kind === 'failed') return { kind: 'model-failed', step, ...record.error };
  const parsed = schema.safeParse(record.reply);
  if (!parsed.success) return diverged(`the reply of step ${step} is none for the agent that asks now`);
  return { kind: 'replied', step, reply: parsed.data, used: record.used };
}

/** What was told of the board at this place; undefined when nobody has looked yet. */
export function boardOutcome(
  book: Book,
  { step, index }: Pick<BoardUsed, 'step' | 'index'>,
  { does, name }: BoardUse,
): BoardUsed | Diverged | undefined {
  const record = book.board.find((one) => one.step === step && one.index === index);
  if (record === undefined) return undefined;
  if (record.does !== does || record.name !== (name && boardNameOf(name)))
    return diverged(`a ${record.does} of the board is recorded in step ${step}, now another one is wanted`);
  return { kind: 'used-board', step, index, done: record.done, text: record.text };
}

/** The name of an agent as it is recorded. */
export const agentName = (agent: string): string => agent.slice(0, 64).toWellFormed() || '?';

/** A name on the board as it is recorded, also one that the board would not take. */
export const boardNameOf = (name: string): string => name.slice(0, 64).toWellFormed();

/** What has to happen next with a command before anybody can say what became of it. */
export type NextMove = 'judge' | 'ask' | 'wait' | 'judge-edited' | 'issue' | 'run';

/** What became of the call, or what comes next. */
export function callOutcome(record: CommandRecord): ToolCalled | NextMove {
  return ended(record) ?? nextMove(record);
}

/** Whether the record at this place is one of the same call. */
export function isCallOf(record: CommandRecord, { command }: Pick<ToolCalled, 'command'>): boolean {
  const [first] = record.judged;
  if (record.ask?.kind === 'question') return false;
  return first === undefined ? record.issued === null : sameJson(first.command, command);
}

/** The command as a person or the agent left it: what runs, if it runs. */
export function commandOf(record: CommandRecord): CommandCall | undefined {
  return record.finished?.command ?? record.issued?.command ?? record.judged.at(-1)?.command;
}

/**
 * What an approved command is given: what the approval says, otherwise what was shown; of one that a person changed no more than fits it.
 * Undefined: nobody was shown anything when it was asked about.
 */
export function grantedWall({ ask, decided, judged }: CommandRecord): CommandWall | undefined {
  if (decided?.wall !== undefined) return decided.wall;
  const shown = ask?.kind === 'approval' ? ask.wall : undefined;
  if (decided === null || shown === undefined) return undefined;
  return decided.command === undefined ? wallOnly(shown) : narrowerWall(shown, judged.at(-1)?.wall ?? UNHELD);
}

/** What a person said to a question; undefined while nobody has. */
export function answerOutcome(record: CommandRecord): PersonAnswered | undefined {
  const { step, decided } = record;
  if (decided === null) return undefined;
  if (decided.decision === 'answered' && decided.answer !== undefined) {
    return { kind: 'answered', step, text: decided.answer, note: decided.note ?? '' };
  }
  const why = decided.decision === 'expired' ? 'nobody answered in time' : 'a person refused to answer';
  return { kind: 'answered', step, text: null, note: decided.note ?? why };
}

/** What a reply says of its state, for the record: agents have states of their own. */
export function statusOf(reply: AgentReply): string {
  type Acting = { readonly status?: unknown };
  const { status, action } = reply as AgentReply & { status?: unknown; action?: Acting | readonly Acting[] };
  // Of several actions the last one says where its agent goes.
  const said =
    (Array.isArray(action) ? (action as readonly Acting[]).at(-1) : (action as Acting | undefined))?.status ?? status;
  return typeof said === 'string' ? said : '';
}

function ended(record: CommandRecord): ToolCalled | undefined {
  const { step, index, finished, decided } = record;
  const last = record.judged.at(-1);
  const command = commandOf(record);
  if (command === undefined) return undefined;
  const called = { kind: 'called' as const, step, index, command };
  const refused = (by: 'policy' | 'person' | 'device', code: string, message: string): ToolCalled => ({
    ...called,
    ended: { kind: 'refused', by, code, message },
  });
  if (finished !== null) {
    const { state, result, error } = finished;
    if (finished.refused === true) return refused('device', error?.code ?? 'REFUSED', error?.message ?? '');
    return { ...called, ended: { kind: 'finished', state, result, message: error?.message ?? null } };
  }
  if (last?.decision === 'deny') {
    const code = last.rule === NO_SUCH_TOOL ? 'UNKNOWN_TOOL' : 'POLICY_DENIED';
    return refused('policy', code, last.reasons.join('; '));
  }
  if (decided === null || decided.decision === 'approved') return undefined;
  // Changed into nothing is no word for the command that was asked about.
  if (decided.decision === 'edited' && decided.command !== undefined) return undefined;
  if (decided.decision === 'expired') {
    return refused('person', 'APPROVAL_EXPIRED', decided.note ?? 'nobody decided in time, which is a no');
  }
  return refused('person', 'APPROVAL_REJECTED', decided.note ?? 'a person said no');
}

function nextMove({ judged, ask, decided, issued }: CommandRecord): NextMove {
  const last = judged.at(-1);
  if (issued !== null) return 'run';
  if (last === undefined) return 'judge';
  if (last.origin === 'person') return 'issue';
  if (decided !== null)
    return decided.decision === 'edited' && decided.command !== undefined ? 'judge-edited' : 'issue';
  if (last.decision === 'approve') return ask === null ? 'ask' : 'wait';
  return 'issue';
}
