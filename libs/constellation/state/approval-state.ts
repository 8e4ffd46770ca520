import {
  type Actor,
  type ApprovalDecision,
  type ApprovalId,
  type Ask,
  type CommandCall,
  type CommandWall,
  type DeviceId,
  type Instant,
  type RunEventData,
  type TaskId,
  wallOnly,
} from '#proto';
import { canonicalJson } from '../values/index.js';

/** One person's word for a command. */
export interface GivenWord {
  readonly by: Actor;
  readonly givenAt: Instant;
  /** What may run instead; null: what was asked about. */
  readonly command: CommandCall | null;
  /** What it is given; absent: what was shown. */
  readonly wall?: CommandWall | undefined;
  /** For how long it may run unasked, as far as this person is concerned. */
  readonly grantMs: number | null;
}

/** Something that an attempt asked a person, and nobody has decided yet. */
export interface OpenApproval {
  readonly taskId: TaskId;
  readonly attempt: number;
  readonly ask: Ask;
  readonly requestedAt: Instant;
  /** Counts what was asked in the run. */
  readonly order: number;
  /** What persons have said for it so far, one after the other. */
  readonly given: readonly GivenWord[];
  /** How many persons could approve it when it was asked, where they were too few; null otherwise. */
  readonly approvers: number | null;
}

export interface DecidedApproval extends OpenApproval {
  /** `withdrawn`: its attempt ended before anybody spoke. */
  readonly state: ApprovalDecision | 'withdrawn';
  readonly by: Actor | null;
  readonly note: string | null;
  readonly decidedAt: Instant | null;
  readonly grantUntil: Instant | null;
  /** Whose words it took, where it took more than that of `by`. */
  readonly approvedBy: readonly Actor[] | null;
  readonly selfApproved: boolean;
  /** What it is given; absent: what was shown. */
  readonly wall?: CommandWall | undefined;
}

/** The same command on the same device needs no other word until then. */
export interface Grant {
  readonly approvalId: ApprovalId;
  readonly until: Instant;
  readonly by: Actor;
  readonly approvedBy: readonly Actor[] | null;
  readonly selfApproved: boolean;
  /** What the command was given, and is given again; absent: nobody was shown that. */
  readonly wall?: CommandWall | undefined;
}

/** What the attempts of a run asked, and what was said to it. Each of its parts is bounded. */
export interface Approvals {
  readonly open: ReadonlyMap<ApprovalId, OpenApproval>;
  /** The last ones, oldest first. */
  readonly decided: readonly DecidedApproval[];
  /** By device and command. */
  readonly grants: ReadonlyMap<string, Grant>;
  /** How many were ever asked. */
  readonly asked: number;
}

export const NO_APPROVALS: Approvals = { open: new Map(), decided: [], grants: new Map(), asked: 0 };

/** Decided ones that are kept; the log has them all. */
const DECIDED_MAX = 100;
/** A person who gives more than this at a time is asked again, which is never less safe. */
const GRANTS_MAX = 200;

export function grantKey(deviceId: DeviceId, { tool, arguments: given }: CommandCall): string {
  return canonicalJson([deviceId, tool, given]);
}

export function withRequested(
  approvals: Approvals,
  { taskId, attempt, ask, requestedAt, approvers }: RunEventData<'APPROVAL_REQUESTED'>,
): Approvals {
  const { asked } = approvals;
  const request: OpenApproval = {
    taskId,
    attempt,
    ask,
    requestedAt,
    order: asked,
    given: [],
    approvers: approvers ?? null,
  };
  return { ...approvals, open: new Map(approvals.open).set(ask.approvalId, request), asked: asked + 1 };
}

export function withGiven(approvals: Approvals, data: RunEventData<'APPROVAL_GIVEN'>): Approvals {
  const { approvalId, by, givenAt, command = null, wall, grantMs = null } = data;
  const request = approvals.open.get(approvalId);
  if (request === undefined) throw new Error(`approval ${approvalId} was given and is not open`);
  const given = [...request.given, { by, givenAt, command, grantMs, ...(wall && { wall }) }];
  return { ...approvals, open: new Map(approvals.open).set(approvalId, { ...request, given }) };
}

/** `deviceId`: where the attempt runs that asked; null when nobody knows any more. */
export function withDecided(
  approvals: Approvals,
  data: RunEventData<'APPROVAL_DECIDED'>,
  deviceId: DeviceId | null,
): Approvals {
  const { approvalId, decision, by, note = null, decidedAt, grant, approvedBy = null, selfApproved = false } = data;
  const { wall } = data;
  if (decision === 'revoked') return withRevoked(approvals, data);
  const request = approvals.open.get(approvalId);
  if (request === undefined) throw new Error(`approval ${approvalId} was decided and is not open`);
  const grantUntil = grant?.until ?? null;
  const whose = { by, approvedBy, selfApproved };
  const decided = { ...request, state: decision, ...whose, note, decidedAt, grantUntil, ...(wall && { wall }) };
  const after = {
    ...approvals,
    open: without(approvals.open, [approvalId]),
    decided: kept(approvals.decided, [decided]),
  };
  if (grantUntil === null || deviceId === null || request.ask.kind !== 'approval') return after;
  const live = [...approvals.grants].filter(([, { until }]) => until > decidedAt).slice(1 - GRANTS_MAX);
  const key = grantKey(deviceId, request.ask.command);
  const given = wall ?? request.ask.wall;
  const held = given === undefined ? {} : { wall: wallOnly(given) };
  return { ...after, grants: new Map(live).set(key, { approvalId, until: grantUntil, ...whose, ...held }) };
}

function withRevoked(approvals: Approvals, data: RunEventData<'APPROVAL_DECIDED'>): Approvals {
  const { approvalId, by, note = null, decidedAt } = data;
  const decided = approvals.decided.map((one): DecidedApproval =>
    one.ask.approvalId === approvalId ? { ...one, state: 'revoked', by, note, decidedAt, grantUntil: null } : one,
  );
  const grants = new Map([...approvals.grants].filter(([, grant]) => grant.approvalId !== approvalId));
  return { ...approvals, decided, grants };
}

/** The attempt that asked has ended: what nobody decided by then needs no word any more. */
export function withWithdrawn(approvals: Approvals, asks: readonly ApprovalId[]): Approvals {
  const withdrawn = asks.flatMap((id): DecidedApproval[] => {
    const request = approvals.open.get(id);
    if (request === undefined) return [];
    const undecided = { by: null, note: null, decidedAt: null, grantUntil: null, approvedBy: null };
    return [{ ...request, ...undecided, state: 'withdrawn', selfApproved: false }];
  });
  if (withdrawn.length === 0) return approvals;
  return { ...approvals, open: without(approvals.open, asks), decided: kept(approvals.decided, withdrawn) };
}

/** A run that is over gives nothing away. */
export function withoutGrants(approvals: Approvals): Approvals {
  return approvals.grants.size === 0 ? approvals : { ...approvals, grants: new Map() };
}

function kept(decided: readonly DecidedApproval[], added: readonly DecidedApproval[]): DecidedApproval[] {
  return [...decided, ...added].slice(-DECIDED_MAX);
}

function without(open: Approvals['open'], ids: readonly ApprovalId[]): Approvals['open'] {
  const left = new Map(open);
  for (const id of ids) left.delete(id);
  return left;
}
