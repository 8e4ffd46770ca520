import { callText, listOfIds, type StrandedTask } from '#libs/constellation';
import type { ApprovalView, AttentionKind, RunView, TaskView } from '#proto';
import { attention, type Attention } from './attention.js';

/** What the facts of a run alone decide: what is over of it leaves by itself. */
export const KINDS_OF_RUNS: readonly AttentionKind[] = ['failed', 'partial', 'unknown', 'approval', 'no-device'];

/** What of a run needs somebody, as it stands: nothing else is looked at, so the same facts give the same entries however they were read. */
export function attentionOfRun(view: RunView, stranded: readonly StrandedTask[]): Attention[] {
  return [
    ...view.approvals.flatMap((approval) => (approval.state === 'open' ? [ofApproval(approval)] : [])),
    ...ofPlan(view),
    ...view.tasks.flatMap((task) => ofTask(view, task)),
    ...stranded.map((task) => ofStranded(view, task)),
    ...ofEnd(view),
  ];
}

function ofApproval({ approvalId, runId, taskId, ask, requestedAt }: ApprovalView): Attention {
  const { deviceId } = ask;
  const [what, next] =
    ask.kind === 'approval'
      ? [`may this run on ${deviceId}? ${callText(ask.command)}`, `orrery approve ${approvalId}`]
      : [`${taskId} asks: ${ask.question}`, `orrery answer ${approvalId} "..."`];
  const key = `approval ${approvalId}`;
  return attention({ kind: 'approval', key, runId, taskId, deviceId, what, next, since: requestedAt });
}

/** A plan that waits for a person; another plan of the same run is another entry. */
function ofPlan({ runId, revision, name, requestedAt, waitingFor, approvals }: RunView): Attention[] {
  if (waitingFor?.reason !== 'approval' || approvals.some(({ state }) => state === 'open')) return [];
  const what = `"${name}" waits for ${waitingFor.detail}`;
  const next = `orrery resume ${runId}`;
  return [attention({ kind: 'approval', key: `plan ${runId} ${revision}`, runId, what, next, since: requestedAt })];
}

function ofTask({ runId, requestedAt }: RunView, task: TaskView): Attention[] {
  const { id: taskId, attempts, device, error, status, recoveredBy, endedAt } = task;
  if (status !== 'FAILED' || error?.outcome !== 'unknown' || recoveredBy !== null) return [];
  const where = device === null ? {} : { deviceId: device };
  const what = `nobody can say what ${taskId} did on ${device ?? 'its device'}: ${error.message}`;
  const next = `orrery steps ${runId} ${taskId}`;
  const key = `unknown ${runId} ${taskId} ${attempts}`;
  return [attention({ kind: 'unknown', key, runId, taskId, ...where, what, next, since: endedAt ?? requestedAt })];
}

function ofStranded({ runId }: RunView, { taskId, since, text }: StrandedTask): Attention {
  const what = `no connected device can take ${text}`;
  const key = `no-device ${runId} ${taskId} ${since}`;
  return attention({ kind: 'no-device', key, runId, taskId, what, next: 'orrery devices', since });
}

/** A run that is tried again and ends anew has another end. */
function ofEnd({ runId, name, status, outcome, reason, tasks, endedAt }: RunView): Attention[] {
  if (endedAt === null) return [];
  const next = `orrery show ${runId}`;
  const common = { runId, next, since: endedAt };
  if (status === 'FAILED') {
    const what = `"${name}" failed${reason === null ? '' : `: ${reason}`}`;
    return [attention({ kind: 'failed', key: `failed ${runId} ${endedAt}`, what, ...common })];
  }
  if (outcome !== 'partially_failed') return [];
  const failed = tasks.filter((task) => task.status === 'FAILED' && task.recoveredBy === null).map(({ id }) => id);
  const what = `"${name}" did a part only: ${listOfIds(failed)} of ${tasks.length} tasks failed`;
  return [attention({ kind: 'partial', key: `partial ${runId} ${endedAt}`, what, ...common })];
}
