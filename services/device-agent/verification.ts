import type { AttemptEvent, CommandId, Json, Verification } from '#proto';
import { evaluateCondition } from '#libs/constellation';
import type { ToolCalled } from '#libs/device-agent';
import type { AgentEnding } from './agent-ending.js';
import type { FactOf } from './book.js';
import { exitCodeOf } from './ending.js';
import { clip } from './step-events.js';

const REASON_CHARS = 2_000;

/**
 * Whether the post-condition holds. `checked`: what became of its command, where it has one; then the condition is about that
 * command's answer, otherwise about the task's.
 */
export function postcondition(
  { condition }: Verification,
  result: Json,
  checked?: { readonly called: ToolCalled; readonly commandId: CommandId },
): AttemptEvent {
  const trouble = checked === undefined ? null : commandTrouble(checked.called);
  const scope = checked === undefined ? result : answerOf(checked.called);
  const judged = judge(condition, scope, trouble);
  return {
    type: 'POSTCONDITION_CHECKED',
    data: {
      satisfied: judged.satisfied,
      reason: clip(judged.reason, REASON_CHARS),
      ...(checked !== undefined && { commandId: checked.commandId }),
    },
  };
}

/** An end that says that it is done is none when the post-condition does not hold; what it answered is kept. */
export function verifiedEnding(
  ending: AgentEnding,
  { satisfied, reason }: FactOf<'POSTCONDITION_CHECKED'>,
): AgentEnding {
  if (satisfied || ending.kind === 'failed') return ending;
  const { result, ...rest } = ending;
  const message = `the post-condition does not hold: ${reason}`;
  return { ...rest, kind: 'failed', code: 'POSTCONDITION_FAILED', message, output: result };
}

function judge(
  condition: string | undefined,
  scope: Json,
  trouble: string | null,
): { readonly satisfied: boolean; readonly reason: string } {
  if (trouble !== null) return { satisfied: false, reason: trouble };
  if (condition === undefined) return { satisfied: true, reason: 'its command succeeded' };
  const value = evaluateCondition(condition, { status: 'COMPLETED', result: scope });
  return value.satisfied ? { satisfied: true, reason: `the condition ${condition} is true` } : value;
}

function commandTrouble({ ended, command }: ToolCalled): string | null {
  if (ended.kind === 'refused') return `its command did not run: ${ended.message}`;
  if (ended.state !== 'COMPLETED') return `its command ended ${ended.state}: ${ended.message ?? 'nobody says why'}`;
  const exitCode = exitCodeOf(command, ended.result);
  return exitCode === 0 ? null : `its command ended with exit code ${exitCode}`;
}

function answerOf({ ended }: ToolCalled): Json {
  return ended.kind === 'finished' ? (ended.result?.value ?? null) : null;
}
