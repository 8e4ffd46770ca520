import type { ActionResult, CommandOutcome, CommandState, TaskError } from '#proto';

/**
 * What became of a command of a foreign client, which knows nothing of outcomes: one action is sent per command, so its
 * first result is the result.
 */
export function commandOutcomeOf(result: ActionResult | undefined): CommandOutcome {
  if (result === undefined || result.status === 'none') {
    return ended('OUTCOME_UNKNOWN', 'NO_RESULT', 'the device answered without a result', result);
  }
  if (result.status !== 'success') return ended('FAILED', 'TOOL_ERROR', result.error ?? 'the tool failed', result);
  // Foreign tools report a failed or refused command as success of the call with `success: false` inside.
  const inner = result.result;
  if (inner !== null && typeof inner === 'object' && !Array.isArray(inner) && inner['success'] === false) {
    const message = typeof inner['error'] === 'string' ? inner['error'] : exitOf(inner['exit_code']);
    return ended('FAILED', 'TOOL_ERROR', message, result);
  }
  return { state: 'COMPLETED', result: result.result ?? null, error: null, startedAt: null, durationMs: null };
}

const exitOf = (code: unknown): string =>
  typeof code === 'number' ? `the command ended with exit code ${code}` : 'the tool reports no success';

function ended(state: CommandState, code: string, message: string, from: ActionResult | undefined): CommandOutcome {
  return { ...withoutResult(state, code, message), result: from?.result ?? null };
}

const OUTCOMES = {
  COMPLETED: 'failed',
  FAILED: 'failed',
  TIMED_OUT: 'timed_out',
  CANCELLED: 'cancelled',
  OUTCOME_UNKNOWN: 'unknown',
} as const satisfies Record<CommandState, TaskError['outcome']>;

/** The end of a command that gave no result. */
export function withoutResult(state: CommandState, code: string, message: string): CommandOutcome {
  return { state, result: null, error: { code, message, outcome: OUTCOMES[state] }, startedAt: null, durationMs: null };
}
