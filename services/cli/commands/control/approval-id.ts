import { ApprovalId, attemptOfCommand, type RunId } from '#proto';
import { cleanLine, badInput } from '../../terminal/index.js';

/** An approval as it was typed, and the run that its id names. */
export function approvalFrom(text: string): { approvalId: ApprovalId; runId: RunId } {
  const attempt = ApprovalId.safeParse(text).success ? attemptOfCommand(text) : undefined;
  if (attempt !== undefined) return { approvalId: text, runId: attempt.runId };
  throw badInput(
    `"${cleanLine(text)}" is no approval; it looks like <run>.<task>.<attempt>.<step>.<index>: orrery approvals`,
  );
}
