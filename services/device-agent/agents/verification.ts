import type { AttemptEvent, CommandId, TaskResult, Verification } from '#proto';
import type { ToolCalled } from '#libs/device-agent';
import type { ConditionJudge } from '#libs/judging';
import { type AgentEnding, type FactOf, exitCodeOf, clip } from '#libs/attempt';

const REASON_CHARS = 2_000;

/** Judges conditions over whole results. */
export type Conditions = Pick<ConditionJudge, 'truthOf'>;

/** What the work and, where it has one, the command of its post-condition came to. */
interface Done {
  readonly result: TaskResult;
  readonly checked: { readonly called: ToolCalled; readonly commandId: CommandId } | undefined;
}

type Checked = Pick<FactOf<'POSTCONDITION_CHECKED'>, 'satisfied' | 'reason' | 'undecided'>;

/**
 * Whether the post-condition holds. Where it has a command the condition is about that command's answer, otherwise about the
 * task's. Throws when the infrastructure is away.
 */
export async function postcondition(
  { condition }: Verification,
  { result, checked }: Done,
  conditions: Conditions,
): Promise<AttemptEvent> {
  const trouble = checked === undefined ? null : commandTrouble(checked.called);
  const scope = checked === undefined ? result : answerOf(checked.called);
  const { reason, ...judged } =
    trouble === null ? await judge(condition, scope, conditions) : { satisfied: false, reason: trouble };
  return {
    type: 'POSTCONDITION_CHECKED',
    data: {
      ...judged,
      reason: clip(reason, REASON_CHARS),
      ...(checked !== undefined && { commandId: checked.commandId }),
    },
  };
}

/** An end that says that it is done is none when the post-condition does not hold, or nobody can say; what it answered is kept. */
export function verifiedEnding(
  ending: AgentEnding,
  { satisfied, undecided, reason }: FactOf<'POSTCONDITION_CHECKED'>,
): AgentEnding {
  if (satisfied || ending.kind === 'failed') return ending;
  const { result, ...rest } = ending;
  if (undecided === true) {
    const message = `nobody can say whether the post-condition holds: ${reason}`;
    return { ...rest, kind: 'failed', code: 'CONDITION_UNDECIDABLE', message, output: result };
  }
  const message = `the post-condition does not hold: ${reason}`;
  return { ...rest, kind: 'failed', code: 'POSTCONDITION_FAILED', message, output: result };
}

async function judge(
  condition: string | undefined,
  scope: TaskResult | null,
  conditions: Conditions,
): Promise<Checked> {
  if (condition === undefined) return { satisfied: true, reason: 'its command succeeded' };
  const truth = await conditions.truthOf(condition, 'COMPLETED', scope);
  if (truth.truth === 'satisfied') return { satisfied: true, reason: `the condition ${condition} is true` };
  const { reason } = truth;
  return truth.truth === 'unsatisfied' ? { satisfied: false, reason } : { satisfied: false, undecided: true, reason };
}

function commandTrouble({ ended, command }: ToolCalled): string | null {
  if (ended.kind === 'refused') return `its command did not run: ${ended.message}`;
  if (ended.state !== 'COMPLETED') return `its command ended ${ended.state}: ${ended.message ?? 'nobody says why'}`;
  const exitCode = exitCodeOf(command, ended.result);
  return exitCode === 0 ? null : `its command ended with exit code ${exitCode}`;
}

function answerOf({ ended }: ToolCalled): TaskResult | null {
  return ended.kind === 'finished' ? ended.result : null;
}
