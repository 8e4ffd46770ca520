import { type FinalAnswer, LIMITS, type RunEvent } from '#proto';
import { jsonBytes } from '../values/index.js';

/** What an event has in its commit besides what it says, and what the commit has besides its events. */
const ENVELOPE_BYTES = 160;
const HEAD_BYTES = 64 * 1024;
/** Failures that are named where there is no room for all of them. */
const FAILURES_FEW = 20;

/** Of what the planner proposes as the answer: its end says it again, and both may have to fit into one commit. */
const PROPOSED_BYTES_MAX = 256 * 1024;

/** An answer as it is proposed, without what stands in the history anyway where it would be too large. */
export function boundedAnswer(answer: FinalAnswer): FinalAnswer {
  return shortened(answer, PROPOSED_BYTES_MAX) ?? { ...answer, evidence: [], failures: [] };
}

/**
 * The answer as it fits into the commit that ends its run, next to what that commit says already: thousands of tasks may be cancelled in
 * it. Undefined: not even the text fits.
 */
export function fittingAnswer(answer: FinalAnswer, before: readonly RunEvent[]): FinalAnswer | undefined {
  const taken = HEAD_BYTES + jsonBytes(before) + (before.length + 1) * ENVELOPE_BYTES;
  return shortened(answer, LIMITS.commitBytesMax - taken);
}

/** Commands go first, then most of the failures and the evidence. */
function shortened(answer: FinalAnswer, bytesMax: number): FinalAnswer | undefined {
  const evidence = answer.evidence.map(({ taskId, attempt, deviceId }) => ({ taskId, attempt, deviceId }));
  const shorter: FinalAnswer[] = [
    answer,
    { ...answer, evidence },
    { ...answer, evidence: [], failures: answer.failures.slice(0, FAILURES_FEW) },
    { ...answer, evidence: [], failures: [] },
  ];
  return shorter.find((one) => jsonBytes(one) <= bytesMax);
}
