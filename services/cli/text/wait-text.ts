import { wakerText } from '#libs/constellation';
import type { RunView } from '#proto';
import { cleanLine, momentText } from '../terminal/index.js';

/** So many asks are shown with their commands; `orrery approvals` has the others. */
const ASKS_MAX = 3;

type Waiting = Pick<RunView, 'runId' | 'waitingFor' | 'approvals'>;

/**
 * What a run waits for that nothing of its own brings about, and what a person can type: one line each, without escape sequences.
 * Nothing for a run that is at work, being planned, or over.
 */
export function waitLines(view: Waiting): string[] {
  const { waitingFor } = view;
  if (waitingFor === null || waitingFor.reason === 'running_tasks' || waitingFor.reason === 'planner') return [];
  const what = waitingFor.reason === 'paused' ? 'paused:' : 'waiting for';
  const why = cleanLine(`${what} ${waitingFor.detail}; woken by ${wokenText(waitingFor)}`);
  return [why, ...wordsToGoOn(view).map((words) => `  ${words}`)];
}

/** What wakes it, with the time of the clock where people are. */
export function wokenText(waiting: NonNullable<RunView['waitingFor']>): string {
  const { wakesAt } = waiting;
  return wakerText({ ...waiting, wakesAt: wakesAt === null ? null : momentText(wakesAt) });
}

/** The command lines with which a person makes it go on; none where only time or others do. */
export function wordsToGoOn({ runId, waitingFor, approvals }: Waiting): string[] {
  const goOrDrop = `orrery resume ${runId}   or: orrery cancel ${runId}`;
  switch (waitingFor?.reason) {
    case 'paused':
      return [goOrDrop];
    case 'device':
      return ['orrery devices'];
    case 'approval': {
      const open = approvals.filter(({ state }) => state === 'open');
      if (open.length === 0) return [goOrDrop, `orrery plan ${runId}`];
      const more = open.length > ASKS_MAX ? [`orrery approvals   (${open.length - ASKS_MAX} more)`] : [];
      return [...open.slice(0, ASKS_MAX).map(decidingWords), ...more];
    }
    default:
      return [];
  }
}

/** How one approval is decided, or one question answered. */
export function decidingWords({ approvalId, ask }: RunView['approvals'][number]): string {
  const yes = ask.kind === 'question' ? `orrery answer ${approvalId} "..."` : `orrery approve ${approvalId}`;
  return `${yes}   or: orrery reject ${approvalId}`;
}
