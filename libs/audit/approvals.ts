import { hashCommit } from '#libs/event-log';
import {
  authorOf,
  contentOfRun,
  editorOf,
  findTask,
  grantKey,
  isInPlan,
  neededOf,
  type OpenApproval,
  authorText,
  planTally,
  type Run,
  sameActor,
  sameJson,
} from '#libs/constellation';
import {
  type Actor,
  attemptOfCommand,
  type CommandCall,
  isWallWithin,
  UNHELD,
  type RecordedRunEvent,
  type StandingUse,
} from '#proto';

export type ApprovalEvent = Extract<RecordedRunEvent, { type: `APPROVAL_${string}` }>;
type DecidedData = Extract<ApprovalEvent, { type: 'APPROVAL_DECIDED' }>['data'];

/** Whether something may be asked, or decided, in the state it meets; undefined when all is well. */
export function illegalForApprovals(run: Run, event: ApprovalEvent): string | undefined {
  const { taskId, attempt } = event.data;
  const problem = illegalWord(run, event);
  return problem === undefined ? undefined : `${event.type} of ${taskId}, attempt ${attempt}: ${problem}`;
}

function illegalWord(run: Run, event: ApprovalEvent): string | undefined {
  switch (event.type) {
    case 'APPROVAL_REQUESTED':
      return illegalRequest(run, event.data);
    case 'APPROVAL_GIVEN':
      return illegalGiven(run, event.data);
    case 'APPROVAL_DECIDED':
      return illegalDecision(run, event.data);
  }
}

/** One word of several. */
function illegalGiven(
  run: Run,
  { approvalId, taskId, attempt, by, givenAt }: Extract<ApprovalEvent, { type: 'APPROVAL_GIVEN' }>['data'],
): string | undefined {
  const open = run.approvals.open.get(approvalId);
  if (open === undefined) return `${approvalId} is not open`;
  if (open.taskId !== taskId || open.attempt !== attempt) return `${approvalId} belongs to another attempt`;
  if (open.ask.kind !== 'approval') return 'a question is answered, not approved';
  if (givenAt >= open.ask.expiresAt) return `it expired at ${open.ask.expiresAt}`;
  return by.kind === 'person' ? undefined : `approved by ${by.id}, who is no person`;
}

function illegalRequest(
  run: Run,
  { taskId, attempt, ask }: Extract<ApprovalEvent, { type: 'APPROVAL_REQUESTED' }>['data'],
): string | undefined {
  const task = findTask(run, taskId);
  if (task === undefined) return 'there is no such task';
  if (task.status !== 'RUNNING' || task.attempt !== attempt) return 'the attempt is not running';
  if (task.deviceId !== ask.deviceId)
    return `the attempt runs on ${task.deviceId ?? 'no device'}, not on ${ask.deviceId}`;
  const of = attemptOfCommand(ask.approvalId);
  if (of?.runId !== run.runId || of.taskId !== taskId || of.attempt !== attempt) {
    return `${ask.approvalId} is no id of this attempt`;
  }
  return run.approvals.open.has(ask.approvalId) ? `${ask.approvalId} is open already` : undefined;
}

function illegalDecision(run: Run, data: DecidedData): string | undefined {
  const { approvalId, decision } = data;
  if (decision === 'revoked') {
    const isGiven = [...run.approvals.grants.values()].some((grant) => grant.approvalId === approvalId);
    return isGiven ? notAPerson(data) : `${approvalId} gives no grant that could be revoked`;
  }
  const open = run.approvals.open.get(approvalId);
  if (open === undefined) return `${approvalId} is not open`;
  if (open.taskId !== data.taskId || open.attempt !== data.attempt) return `${approvalId} belongs to another attempt`;
  const { ask } = open;
  if (decision === 'expired') {
    return data.decidedAt < ask.expiresAt ? `it expires at ${ask.expiresAt}, not before` : undefined;
  }
  if (data.grantOf !== undefined) return illegalGrant(run, data, ask);
  if (data.standing !== undefined) return illegalStanding(run, data, ask);
  if (data.wall !== undefined && decision !== 'approved' && decision !== 'edited')
    return 'only what may run is given anything';
  if (decision === 'rejected') return notAPerson(data);
  if ((decision === 'answered') !== (ask.kind === 'question')) return `a ${ask.kind} cannot be ${decision}`;
  if ((decision === 'edited') !== (data.command !== undefined))
    return 'a command is edited if and only if there is another one';
  if (data.grant !== undefined && (ask.kind !== 'approval' || !ask.grantable))
    return 'it may not be granted for a while';
  return notAPerson(data) ?? (decision === 'answered' ? undefined : illegalWords(run, data, open));
}

function illegalGrant(run: Run, data: DecidedData, ask: OpenAsk): string | undefined {
  const { grantOf, decidedAt, by, approvedBy = null } = data;
  const grant = ask.kind === 'approval' ? run.approvals.grants.get(grantKey(ask.deviceId, ask.command)) : undefined;
  if (grant?.approvalId !== grantOf || grant?.by.id !== by.id) return `${grantOf} grants nothing of the kind`;
  if (decidedAt >= grant.until) return `the grant of ${grantOf} was over by then`;
  const given = data.wall ?? (ask.kind === 'approval' ? ask.wall : undefined) ?? UNHELD;
  if (grant.wall === undefined ? data.wall !== undefined : !isWallWithin(given, grant.wall))
    return `${grantOf} does not give that much`;
  const isSame = sameJson(approvedBy, grant.approvedBy) && (data.selfApproved === true) === grant.selfApproved;
  return isSame ? ownWord(run, data, approvedBy ?? [by]) : `${grantOf} was given by others`;
}

/** Only a command of the plan, and only where the plan is what was approved, by as many as it takes. */
function illegalStanding(run: Run, data: DecidedData, ask: OpenAsk): string | undefined {
  const { decision, by, approvedBy = [by], selfApproved = false, decidedAt, command, grant } = data;
  if (
    decision !== 'approved' ||
    ask.kind !== 'approval' ||
    command !== undefined ||
    grant !== undefined ||
    data.wall !== undefined
  )
    return 'a standing approval lets a command of the plan run as it is, and nothing else';
  if (decidedAt >= ask.expiresAt) return `it expired at ${ask.expiresAt}`;
  if (run.request?.options.approval === 'always') return 'every command of this run is asked about';
  if (!isInPlan(run, data.taskId, ask)) return 'the command does not stand in the plan';
  const words = { by, words: approvedBy, selfApproved };
  return otherContent(run, data.standing) ?? tooFew(run, words) ?? ownWord(run, data, approvedBy);
}

/** Whether the plan is, to the letter, what the standing approval names. */
function otherContent(run: Run, standing: StandingUse | undefined): string | undefined {
  const content = contentOfRun(run);
  if (content === undefined) return 'the plan was changed, or is that of a fork: no standing approval is about it';
  const hash = hashCommit(content);
  return hash === standing?.contentHash ? undefined : `the plan is ${hash}, not the approved ${standing?.contentHash}`;
}

type OpenAsk = OpenApproval['ask'];

function notAPerson({ by, decision }: Pick<DecidedData, 'by' | 'decision'>): string | undefined {
  return by.kind === 'person' ? undefined : `${decision} by ${by.id}, who is no person`;
}

/**
 * How many persons a run takes is recorded in it, and then nobody who had a part in it is among them. A run that says nothing of it
 * began before: only who had requested it was kept from approving then.
 */
const isStrict = ({ request }: Run): boolean => request?.options.approvals !== undefined;

/** As many different persons as it takes, each with a word for this very command, and none for his own but the only approver. */
function illegalWords(run: Run, data: DecidedData, open: OpenApproval): string | undefined {
  const { by, approvedBy, command = null } = data;
  const selfApproved = data.selfApproved === true;
  const words = approvedBy ?? [by];
  const few = tooFew(run, { by, words, selfApproved });
  if (few !== undefined) return few;
  const unsaid = words.find((one) => !sameActor(one, by) && !hasSaid(open, one, command));
  if (unsaid !== undefined) return `${unsaid.id} has not approved that command`;
  const narrower = words.find((one) => !sameActor(one, by) && givesLess(open, one, data));
  if (narrower !== undefined) return `${narrower.id} has not given that much`;
  const editor = editorOf(open.given, command);
  if (editor !== undefined && !selfApproved && words.some((one) => sameActor(one, editor)))
    return `${editor.id} wrote the command, and may not approve it`;
  return ownWord(run, data, words);
}

interface Words {
  readonly by: Actor;
  readonly words: readonly Actor[];
  readonly selfApproved: boolean;
}

function tooFew(run: Run, { by, words, selfApproved }: Words): string | undefined {
  const stranger = words.find(({ kind }) => kind !== 'person');
  if (stranger !== undefined) return `approved by ${stranger.id}, who is no person`;
  const persons = new Set(words.map(({ id }) => id));
  if (persons.size !== words.length) return 'somebody is counted twice';
  if (!words.some((one) => sameActor(one, by))) return `${by.id} decided it, and is not among those who approved it`;
  const needed = neededOf(run);
  if (persons.size < needed) return `it takes ${needed} persons, and has ${persons.size}`;
  return selfApproved && words.length > 1 ? 'whoever approves for himself is the only approver' : undefined;
}

/** The last word of somebody before. */
function hasSaid({ given }: OpenApproval, who: Actor, command: CommandCall | null): boolean {
  const said = given.findLast(({ by }) => sameActor(by, who));
  return said !== undefined && sameJson(said.command, command);
}

/** Whether somebody's last word gives less than was given. */
function givesLess({ given, ask }: OpenApproval, who: Actor, { wall }: DecidedData): boolean {
  const shown = (ask.kind === 'approval' ? ask.wall : undefined) ?? UNHELD;
  return !isWallWithin(wall ?? shown, given.findLast(({ by }) => sameActor(by, who))?.wall ?? shown);
}

/** What somebody had a part in is not for the same somebody to allow. */
function ownWord(
  run: Run,
  { decision, selfApproved }: Pick<DecidedData, 'decision' | 'selfApproved'>,
  words: readonly Actor[],
): string | undefined {
  if (decision === 'answered' || selfApproved === true) return undefined;
  const authors = words.flatMap((by) => authorOf(run, by) ?? []);
  const author = authors.find(({ part }) => isStrict(run) || part === 'requested' || part === 'forked');
  return author === undefined ? undefined : `${authorText(author)}, and may not approve in it`;
}

/** Who accepted a plan that waited; undefined when all is well. */
export function illegalAcceptance(
  run: Run,
  { by, approvedBy, selfApproved, standing }: Extract<RecordedRunEvent, { type: 'RUN_RESUMED' }>['data'],
): string | undefined {
  if (by.kind !== 'person') return `${by.id} accepted the plan and is no person`;
  const words = approvedBy ?? [by];
  if (standing !== undefined) {
    const few = tooFew(run, { by, words, selfApproved: selfApproved === true });
    return otherContent(run, standing) ?? few ?? ownWord(run, { decision: 'approved', selfApproved }, words);
  }
  if (!isStrict(run)) return undefined;
  const said = planTally(run, undefined);
  const unsaid = words.find((one) => !sameActor(one, by) && !said.some((other) => sameActor(other, one)));
  if (unsaid !== undefined) return `${unsaid.id} has not accepted this revision of the plan`;
  const few = tooFew(run, { by, words, selfApproved: selfApproved === true });
  return few ?? ownWord(run, { decision: 'approved', selfApproved }, words);
}
