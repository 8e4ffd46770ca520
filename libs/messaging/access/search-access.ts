import { createHash } from 'node:crypto';
import { RunId, TaskId, type AccessRecord } from '#proto';

/** What is recorded of a search before it is answered; nothing of what is not valid, which is refused. */
export function searchAccess(said: {
  readonly words?: unknown;
  readonly run?: unknown;
  readonly task?: unknown;
}): Pick<AccessRecord, 'what' | 'runId' | 'taskId' | 'asked'> {
  const runId = RunId.safeParse(said.run).data;
  const taskId = TaskId.safeParse(said.task).data;
  const asked = typeof said.words === 'string' ? createHash('sha256').update(said.words).digest('hex') : undefined;
  return {
    what: 'SEARCHED',
    ...(runId === undefined ? {} : { runId }),
    ...(taskId === undefined ? {} : { taskId }),
    ...(asked === undefined ? {} : { asked }),
  };
}
