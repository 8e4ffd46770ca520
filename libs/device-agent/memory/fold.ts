import type { AttemptEvent, CommandId } from '#proto';
import type { MemoryItem } from './memory.js';

type Call = MemoryItem['calls'][number];
type Data<T extends AttemptEvent['type']> = Extract<AttemptEvent, { type: T }>['data'];

interface Step {
  readonly item: Omit<MemoryItem, 'calls' | 'answers' | 'problems'>;
  readonly calls: Map<number, Call>;
  readonly answers: MemoryItem['answers'][number][];
  readonly problems: string[];
}

/** What is known before the outcome: what was asked of whom, and which command stands at a place. */
interface Open {
  readonly steps: Map<number, Step>;
  readonly asks: Map<CommandId, Data<'ATTEMPT_ASKED'>>;
}

/** Folds the events of one attempt into what its agent remembers, by step. */
export function foldAttempt(events: readonly AttemptEvent[]): MemoryItem[] {
  const open: Open = { steps: new Map(), asks: new Map() };
  for (const event of events) apply(open, event);
  return [...open.steps.values()]
    .sort((one, other) => one.item.step - other.item.step)
    .map(({ item, calls, answers, problems }) => ({
      ...item,
      calls: [...calls.values()].sort((one, other) => one.index - other.index),
      answers,
      problems,
    }));
}

function apply(open: Open, event: AttemptEvent): void {
  switch (event.type) {
    case 'STEP_PLANNED':
      open.steps.set(event.data.step, planned(event.data));
      return;
    case 'STEP_FAILED':
      open.steps.set(event.data.step, failed(event.data));
      return;
    case 'COMMAND_JUDGED':
      if (event.data.decision === 'deny') denied(open, event.data);
      return;
    case 'ATTEMPT_ASKED':
      open.asks.set(event.data.approvalId, event.data);
      return;
    case 'ATTEMPT_SIGNALLED':
      if (event.data.signal === 'decision') decided(open, event.data);
      return;
    case 'COMMAND_FINISHED':
      finished(open, event.data);
      return;
    case 'ATTEMPT_RESUMED':
    case 'COMMAND_ISSUED':
    case 'POSTCONDITION_CHECKED':
    case 'ATTEMPT_FINISHED':
      return;
  }
}

function planned({
  step,
  agent,
  reply,
  status,
  observation,
  thought,
  plan,
  comment,
  notes,
}: Data<'STEP_PLANNED'>): Step {
  const subtask = textIn(reply, 'subtask');
  const said = { step, agent, observation, thought, plan, comment, status, notes, reads: [] };
  return { item: subtask === undefined ? said : { ...said, subtask }, calls: new Map(), answers: [], problems: [] };
}

function failed({ step, agent, error }: Data<'STEP_FAILED'>): Step {
  const silent = { observation: '', thought: '', plan: [], comment: '', status: '', notes: [], reads: [] };
  const problems = [`${error.code}: ${error.message}`];
  return { item: { step, agent, ...silent }, calls: new Map(), answers: [], problems };
}

function denied(open: Open, { step, index, command, reasons, rule }: Data<'COMMAND_JUDGED'>): void {
  const code = rule === NO_SUCH_TOOL ? 'UNKNOWN_TOOL' : 'POLICY_DENIED';
  put(open, step, { index, command, ended: { kind: 'refused', by: 'policy', code, message: reasons.join('; ') } });
}

/** Rule with which a command of a tool that the device does not have is denied. */
const NO_SUCH_TOOL = 'no-such-tool';

/** A yes changes nothing here: the outcome of the command follows. */
function decided(open: Open, { approvalId, decision, answer, note }: Decision): void {
  const ask = open.asks.get(approvalId);
  const place = placeOf(approvalId);
  if (ask === undefined || place === undefined) return;
  const isLate = decision === 'expired';
  if (ask.kind === 'question') {
    const isAnswered = decision === 'answered' && answer !== undefined;
    const why = isLate ? 'nobody answered in time' : 'a person refused to answer';
    const told = isAnswered ? { text: answer, note: note ?? '' } : { text: null, note: note ?? why };
    open.steps.get(place.step)?.answers.push({ question: ask.question, ...told });
    return;
  }
  if (decision === 'approved' || decision === 'edited') return;
  const code = isLate ? 'APPROVAL_EXPIRED' : 'APPROVAL_REJECTED';
  const why = isLate ? 'nobody decided in time, which is a no' : 'a person said no';
  const ended = { kind: 'refused', by: 'person', code, message: note ?? why } as const;
  put(open, place.step, { index: place.index, command: ask.command, ended });
}

type Decision = Extract<Data<'ATTEMPT_SIGNALLED'>, { signal: 'decision' }>;

function finished(open: Open, { commandId, command, state, result, error, refused }: Data<'COMMAND_FINISHED'>): void {
  const place = placeOf(commandId);
  if (place === undefined) return;
  const message = error?.message ?? null;
  const ended: Call['ended'] =
    refused === true
      ? { kind: 'refused', by: 'device', code: error?.code ?? 'REFUSED', message: message ?? '' }
      : { kind: 'finished', state, result, message };
  put(open, place.step, { index: place.index, command, ended });
}

/** Commands of steps that no model planned (the exact command, the post-condition) are not the agent's. */
function put({ steps }: Open, step: number, call: Call): void {
  steps.get(step)?.calls.set(call.index, call);
}

/** Step and index stand at the end of a command's id. */
function placeOf(commandId: CommandId): { step: number; index: number } | undefined {
  const [, step, index] = /\.(\d+)\.(\d+)$/u.exec(commandId) ?? [];
  return step === undefined || index === undefined ? undefined : { step: Number(step), index: Number(index) };
}

function textIn(reply: unknown, key: string): string | undefined {
  if (typeof reply !== 'object' || reply === null || !Object.hasOwn(reply, key)) return undefined;
  const value: unknown = (reply as Record<string, unknown>)[key];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
