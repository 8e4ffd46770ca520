import {
  instantOf,
  LIMITS,
  type Actor,
  type ApprovalId,
  type Ask,
  attemptOfCommand,
  type CommandCall,
  type CommandWall,
  isSameWall,
  narrowerWall,
  UNHELD,
  type RunEventData,
  type TaskId,
} from '#proto';
import { ACCEPTED, type Answer, refuse, sameJson } from '../values/index.js';
import {
  type Approvers,
  authorOf,
  countText,
  type DecidedApproval,
  editorOf,
  eligible,
  findTask,
  type GivenWord,
  type Grant,
  isCurrentAttempt,
  isSole,
  isTerminal,
  neededOf,
  notForAuthors,
  type OpenApproval,
  type Run,
  sameActor,
  SELF_APPROVED,
  tally,
  whomToAsk,
  wordsBefore,
} from '../state/index.js';
import type { Circumstances } from '../schedule/index.js';
import type { RunDraft } from '../fold/index.js';
import { listOfIds } from '../plan/index.js';

/** An attempt waits for a person, as ATTEMPTS has it. */
export interface Asked {
  readonly taskId: TaskId;
  readonly attempt: number;
  readonly ask: Ask;
  readonly attemptHash: string;
}

/** What a person says to what an attempt asked. */
export type PersonsWord =
  | {
      readonly verb: 'APPROVE';
      readonly approvalId: ApprovalId;
      readonly command?: CommandCall | undefined;
      readonly wall?: CommandWall | undefined;
      readonly grantMs?: number | undefined;
      readonly note?: string | undefined;
    }
  | { readonly verb: 'REJECT'; readonly approvalId: ApprovalId; readonly note?: string | undefined }
  | { readonly verb: 'ANSWER'; readonly approvalId: ApprovalId; readonly text: string };

const ORCHESTRATOR: Actor = { kind: 'system', id: 'orchestrator' };

/** Recorded once, and only while the attempt runs; what a living grant, or who approved the plan before, covers is decided in the same commit. */
export function recordAsk(draft: RunDraft, asked: Asked, { now, approvers, standing }: Circumstances): Answer {
  const { taskId, attempt, ask, attemptHash } = asked;
  const { run } = draft;
  const task = findTask(run, taskId);
  if (task === undefined) return { kind: 'ignored', reason: 'UNKNOWN_TASK' };
  if (!isCurrentAttempt(task, attempt)) return { kind: 'ignored', reason: 'STALE_ATTEMPT' };
  if (task.asks.includes(ask.approvalId)) return { kind: 'ignored', reason: 'ASKED_BEFORE' };
  if (task.stopping !== null) return { kind: 'ignored', reason: 'STOPPING' };
  const at = instantOf(now);
  const mayApprove = ask.kind === 'approval' ? eligible(run, approvers)?.length : undefined;
  const few = mayApprove !== undefined && mayApprove < neededOf(run) ? { approvers: mayApprove } : {};
  draft.add({ type: 'APPROVAL_REQUESTED', data: { taskId, attempt, ask, requestedAt: at, attemptHash, ...few } });
  // What comes here after its time is a no by now, whatever was granted.
  if (ask.kind !== 'approval' || at >= ask.expiresAt) return ACCEPTED;
  const words = wordsBefore(run, { taskId, ask, at }, { approvers, standing });
  if (words === undefined) return ACCEPTED;
  const { approvalId } = ask;
  draft.add({
    type: 'APPROVAL_DECIDED',
    data: { taskId, attempt, approvalId, decision: 'approved', ...words, decidedAt: at },
  });
  return ACCEPTED;
}

function wordsOf({ approvedBy, selfApproved }: Pick<Grant, 'approvedBy' | 'selfApproved'>): Words {
  return { ...(approvedBy !== null && { approvedBy: [...approvedBy] }), ...(selfApproved && { selfApproved }) };
}

type Words = Pick<RunEventData<'APPROVAL_DECIDED'>, 'approvedBy' | 'selfApproved'>;

/** Nobody spoke in time, which is a no. */
export function enforceApprovals(draft: RunDraft, { now }: Circumstances): void {
  if (draft.run.approvals.open.size === 0) return;
  const at = instantOf(now);
  for (const [approvalId, { taskId, attempt, ask }] of draft.run.approvals.open) {
    if (at < ask.expiresAt) continue;
    const decided = { approvalId, decision: 'expired', by: ORCHESTRATOR, decidedAt: at } as const;
    draft.add({ type: 'APPROVAL_DECIDED', data: { taskId, attempt, ...decided } });
  }
}

/** A person's word counts once. Only persons have one, and nobody lets run what he had a part in. */
export function decideApproval(draft: RunDraft, word: PersonsWord, by: Actor, circumstances: Circumstances): Answer {
  const { run } = draft;
  if (by.kind !== 'person') {
    const message = `only a person may decide what an agent asks, and ${by.id} is of kind ${by.kind}`;
    return refuse('UNAUTHORIZED', message);
  }
  const { approvalId } = word;
  const at = instantOf(circumstances.now);
  const request = run.approvals.open.get(approvalId);
  if (request === undefined) return decidedBefore(draft, word, by, at);
  if (at >= request.ask.expiresAt) {
    const detail = `nobody had spoken by ${request.ask.expiresAt}, which is a no`;
    return { kind: 'ignored', reason: 'ALREADY_DECIDED', detail };
  }
  const problem = whyNot(run, word, by, { ...circumstances, request });
  if (problem !== undefined) return problem;
  if (word.verb === 'APPROVE') return approve(draft, word, by, { ...circumstances, request });
  const { taskId, attempt } = request;
  const head = { taskId, attempt, approvalId, by, decidedAt: at };
  const said =
    word.verb === 'ANSWER'
      ? ({ decision: 'answered', answer: word.text } as const)
      : ({ decision: 'rejected', ...noted(word) } as const);
  draft.add({ type: 'APPROVAL_DECIDED', data: { ...head, ...said } });
  return ACCEPTED;
}

interface Occasion extends Circumstances {
  readonly request: OpenApproval;
}

function whyNot(run: Run, word: PersonsWord, by: Actor, { request, approvers }: Occasion): Answer | undefined {
  const { taskId, ask } = request;
  if (word.verb === 'REJECT') return undefined;
  if (word.verb === 'ANSWER') {
    if (ask.kind === 'question') return undefined;
    return refuse('INVALID_STATE', 'approvalId: it is a command that waits for approval; APPROVE or REJECT it');
  }
  if (ask.kind === 'question') {
    return refuse('INVALID_STATE', 'approvalId: it is a question; ANSWER it, or REJECT it to give no answer');
  }
  const own = notForAuthors(run, by, { approvers, what: 'its commands' });
  if (own !== undefined) return own;
  const task = run.tasks.at(run.graph.taskIndex.get(taskId) ?? -1);
  if (task.stopping !== null) {
    return refuse('INVALID_STATE', `approvalId: task "${taskId}" is being stopped; nothing new runs for it`);
  }
  if (word.grantMs === undefined) return undefined;
  if (!ask.grantable) {
    const message = `grantMs: a command that the rule ${ask.rule} asks about is approved once only; leave grantMs out`;
    return refuse('INVALID_STATE', message);
  }
  if (word.command !== undefined && !sameJson(word.command, ask.command)) {
    return refuse('INVALID_REQUEST', 'grantMs: a changed command is judged anew and approved once; leave grantMs out');
  }
  return undefined;
}

type Yes = Extract<PersonsWord, { verb: 'APPROVE' }>;

/** One word of those that it takes: the last one decides. A command that somebody changed is his, and others have to approve it. */
function approve(draft: RunDraft, word: Yes, by: Actor, { request, approvers, now }: Occasion): Answer {
  const { run } = draft;
  const { taskId, attempt, ask } = request;
  const { approvalId, grantMs } = word;
  const at = instantOf(now);
  const isEdited = word.command !== undefined && ask.kind === 'approval' && !sameJson(word.command, ask.command);
  const command = isEdited ? (word.command ?? null) : null;
  const own = word.wall === undefined ? {} : { wall: word.wall };
  const said: GivenWord = { by, givenAt: at, command, grantMs: grantMs ?? null, ...own };
  const given = [...request.given, said];
  const needed = neededOf(run);
  const editor = editorOf(given, command);
  // Where nobody knows who else could be asked, one word is enough for a changed command, too.
  const isUnknown = approvers === undefined && needed === 1;
  const counted = isUnknown ? [said] : tally(run, given, { command, approvers }).slice(-needed);
  const head = { taskId, attempt, approvalId, by };
  const words = { ...(isEdited && { command: word.command }), ...noted(word) };
  if (counted.length < needed) {
    const before = request.given.findLast((one) => sameActor(one.by, by));
    const detail = progress(run, given, { command, approvers });
    if (before !== undefined && isSame(before, said)) return { kind: 'ignored', reason: 'ALREADY_GIVEN', detail };
    if (given.length > LIMITS.approvalWordsMax) {
      return refuse('INVALID_STATE', `approvalId: it has had ${LIMITS.approvalWordsMax} words; REJECT it`);
    }
    draft.add({
      type: 'APPROVAL_GIVEN',
      data: { ...head, ...words, ...own, ...(grantMs && { grantMs }), givenAt: at },
    });
    return { kind: 'accepted', detail, waits: true };
  }
  const isOwn = ({ by: who }: GivenWord): boolean =>
    isSole(who, approvers) && (authorOf(run, who) !== undefined || (editor !== undefined && sameActor(editor, who)));
  const selfApproved = counted.some(isOwn);
  const alone = counted.length === 1 && (editor === undefined || sameActor(editor, by));
  const whose = { approvedBy: alone ? null : counted.map((one) => one.by), selfApproved };
  const granted = grantFor(counted);
  draft.add({
    type: 'APPROVAL_DECIDED',
    data: {
      ...head,
      decidedAt: at,
      decision: isEdited ? 'edited' : 'approved',
      ...words,
      ...wallFor(counted, ask),
      ...wordsOf(whose),
      ...(granted === undefined ? {} : { grant: { until: instantOf(now + granted) } }),
    },
  });
  return selfApproved ? { kind: 'accepted', detail: SELF_APPROVED } : ACCEPTED;
}

/** `1 of 2, by anna; another person has to approve it: ask bert`. */
function progress(run: Run, given: readonly GivenWord[], about: Parameters<typeof tally>[2]): string {
  const counted = tally(run, given, about);
  const editor = editorOf(given, about.command);
  const whom = whomToAsk(run, { approvers: about.approvers, editor, given: counted });
  return `${countText(counted, neededOf(run))}; ${whom}`;
}

export type WordBefore = Pick<Extract<Answer, { kind: 'accepted' }>, 'detail' | 'waits'>;

/** What there is to say of a word that was accepted before, as it stands now. */
export function saidBefore(
  run: Run,
  approvalId: ApprovalId,
  by: Actor,
  approvers: Approvers,
): Pick<Extract<Answer, { kind: 'accepted' }>, 'detail' | 'waits'> {
  const request = run.approvals.open.get(approvalId);
  const said = request?.given.findLast((one) => sameActor(one.by, by));
  if (request !== undefined && said !== undefined) {
    return { detail: progress(run, request.given, { command: said.command, approvers }), waits: true };
  }
  const decided = run.approvals.decided.findLast(({ ask }) => ask.approvalId === approvalId);
  return decided?.selfApproved === true ? { detail: SELF_APPROVED } : {};
}

/** Everybody who approves has to agree to a grant, and it lasts as long as the shortest of them. */
function grantFor(counted: readonly GivenWord[]): number | undefined {
  const lengths = counted.map(({ grantMs }) => grantMs ?? 0);
  const least = Math.min(...lengths);
  return least === 0 ? undefined : least;
}

/** Nobody is given more than each of them says: who says nothing of it takes what was shown. */
function wallFor(counted: readonly GivenWord[], ask: Ask): { wall?: CommandWall } {
  if (counted.every(({ wall }) => wall === undefined)) return {};
  const shown = (ask.kind === 'approval' ? ask.wall : undefined) ?? UNHELD;
  return { wall: counted.map(({ wall }) => wall ?? shown).reduce(narrowerWall) };
}

function isSame(one: GivenWord, other: GivenWord): boolean {
  const same = one.command === null ? other.command === null : sameJson(one.command, other.command);
  const [wall, others] = [one.wall, other.wall];
  const isHeld = wall === undefined || others === undefined ? wall === others : isSameWall(wall, others);
  return same && isHeld && one.grantMs === other.grantMs;
}

const noted = ({ note }: { readonly note?: string | undefined }) => (note === undefined ? {} : { note });

/** A no to what gave a grant takes the grant back; everything else that was decided stays as it is. */
function decidedBefore(draft: RunDraft, word: PersonsWord, by: Actor, at: string): Answer {
  const { run } = draft;
  const { approvalId } = word;
  const grant = [...run.approvals.grants.values()].find((one) => one.approvalId === approvalId && at < one.until);
  const decided = run.approvals.decided.findLast(({ ask }) => ask.approvalId === approvalId);
  const whose = decided ?? attemptOfCommand(approvalId);
  if (word.verb === 'REJECT' && grant !== undefined && whose !== undefined && !isTerminal(run)) {
    const { taskId, attempt } = whose;
    const note = word.note === undefined ? {} : { note: word.note };
    draft.add({
      type: 'APPROVAL_DECIDED',
      data: { taskId, attempt, approvalId, decision: 'revoked', by, ...note, decidedAt: at },
    });
    return ACCEPTED;
  }
  if (decided !== undefined) return answerTo(decided);
  if (wasAsked(run, approvalId)) return { kind: 'ignored', reason: 'ALREADY_DECIDED' };
  const open = listOfIds([...run.approvals.open.keys()]);
  return refuse('NOT_FOUND', `approvalId: there is no approval "${approvalId}" in this run; open are ${open}`);
}

function answerTo({ state, by, decidedAt, taskId }: DecidedApproval): Answer {
  if (state === 'withdrawn') {
    return refuse(
      'INVALID_STATE',
      `approvalId: the attempt of task "${taskId}" that asked has ended; nothing waits for it`,
    );
  }
  if (state === 'expired') {
    return { kind: 'ignored', reason: 'ALREADY_DECIDED', detail: `nobody had spoken by ${decidedAt}, which is a no` };
  }
  const who = by === null ? '' : ` by ${by.id}`;
  return { kind: 'ignored', reason: 'ALREADY_DECIDED', detail: `it was ${state}${who} at ${decidedAt ?? 'some time'}` };
}

/** Decided so long ago that only the attempt still knows of it. */
function wasAsked(run: Run, approvalId: ApprovalId): boolean {
  return findTask(run, attemptOfCommand(approvalId)?.taskId ?? '')?.asks.includes(approvalId) === true;
}
