import { type AttemptCommit, type AttemptKey, attemptOfCommand, type AttemptSubjectKind } from '#proto';
import type { Input, Run } from '#libs/constellation';
import type { AttemptLog } from '#libs/event-log';
import type { StoredEnd } from './served-run.js';

/** More are left to their redelivery. */
const ENDS_MAX = 500;

/**
 * The ends that are stored already of the attempts a run believes to be running. A replica that takes a run over needs not
 * wait until the server gives it the messages that the one before it was working on; they are ignored when they come.
 */
export async function storedEnds(attempts: AttemptLog, run: Run): Promise<StoredEnd[]> {
  const running = [...run.running].slice(0, ENDS_MAX).map((index) => run.tasks.at(index));
  const ends = await Promise.all(
    running.map(async ({ star, attempt }) => {
      const stored = await attempts.load({ runId: run.runId, taskId: star.id, attempt });
      return stored.flatMap(({ commit }) => endOf(commit) ?? []);
    }),
  );
  return ends.flat();
}

function endOf(commit: AttemptCommit): StoredEnd | undefined {
  const input = attemptEnded(commit);
  if (input === undefined) return undefined;
  return { input, cause: causeOf(commit, 'end'), bytes: JSON.stringify(commit).length };
}

/** The input that an attempt's last commit is; undefined for a commit that does not end it. */
export function attemptEnded(commit: AttemptCommit): Input | undefined {
  const finished = commit.events.find((event) => event.type === 'ATTEMPT_FINISHED');
  if (finished === undefined) return undefined;
  const { taskId, attempt, hash } = commit;
  return { kind: 'attempt-ended', taskId, attempt, attemptHash: hash, finished: finished.data };
}

/** The input that a commit is with which an attempt waits for a person; undefined for another one. */
export function attemptAsked(commit: AttemptCommit): Input | undefined {
  const asked = commit.events.find((event) => event.type === 'ATTEMPT_ASKED');
  if (asked === undefined) return undefined;
  const { runId, taskId, attempt, hash } = commit;
  const of = attemptOfCommand(asked.data.approvalId);
  if (of?.runId !== runId || of.taskId !== taskId || of.attempt !== attempt) {
    throw new Error(`the approval ${asked.data.approvalId} is not of this attempt`);
  }
  return { kind: 'asked', taskId, attempt, ask: asked.data, attemptHash: hash };
}

/** An attempt has one end, and may ask often. */
export function causeOf(
  { taskId, attempt, number = 0 }: AttemptKey & { readonly number?: number },
  kind: AttemptSubjectKind,
): StoredEnd['cause'] {
  return { kind: 'attempt', id: `${taskId}.${attempt}.${kind}${kind === 'ask' ? `.${number}` : ''}` };
}
