import { isDeepStrictEqual } from 'node:util';
import { takeKept, withoutUfo } from '#libs/constellation';
import { hashCommit } from '#libs/event-log';
import {
  ActorId,
  AttentionCommit,
  isObject,
  PlanCommit,
  RunCommit,
  RunRequest,
  subjects,
  type Actor,
  type Cause,
  type Instant,
  type Json,
  type RecordedRunEvent,
  type RunEventData,
  type RunId,
  type StandingUse,
} from '#proto';
import { wordsAbout, type ExportRecord } from './export-file.js';

/** What is recorded because somebody ordered it, and in whose name. */
export interface SignedFact {
  /** The verbs that can have led to it. */
  readonly verbs: readonly string[];
  readonly by: Actor;
  /** It is recorded in the commit of the verb itself, never as what follows later. */
  readonly atOnce: boolean;
  /** Fields of the command and what is recorded of them, where it is said. */
  readonly said: Readonly<Record<string, unknown>>;
}

interface Told extends Partial<Omit<SignedFact, 'by' | 'verbs'>> {
  readonly by: Actor | undefined;
}

const fact = ({ by, atOnce = true, said = {} }: Told, ...verbs: string[]): SignedFact | undefined =>
  by === undefined || by.id === 'orchestrator' ? undefined : { verbs, by, atOnce, said };

/** Undefined for what follows from something else. */
export function factOf({ type, data }: RecordedRunEvent): SignedFact | undefined {
  switch (type) {
    case 'RUN_REQUESTED':
      return fact({ by: data.requestedBy, said: { requestId: data.requestId } }, 'SUBMIT');
    case 'RUN_FORKED':
      return fact({ by: data.requestedBy, said: { id: data.requestId, at: data.parent.sequence } }, 'FORK');
    case 'RUN_PAUSED':
      return fact({ by: data.actor }, 'PAUSE');
    case 'RUN_RESUMED':
      // Who approved the plan before has signed that, and nothing here.
      return data.standing === undefined ? fact({ by: data.by }, 'RESUME', 'APPROVE') : undefined;
    case 'PLAN_ACCEPTED':
      return fact({ by: data.by }, 'RESUME', 'APPROVE');
    case 'RUN_ANNOTATED':
      return data.kind === 'note' ? fact({ by: data.by, said: { text: data.text } }, 'ANNOTATE') : undefined;
    case 'WORDS_SAID':
      return fact({ by: data.by, said: { text: data.text } }, 'SAY');
    case 'BOARD_WRITTEN':
      return fact({ by: data.by, said: { name: data.name, value: data.value } }, 'BOARD_SET', 'BOARD_DELETE');
    case 'WORKSPACE_DISCARDED':
      return fact({ by: data.by, said: { deviceId: data.deviceId } }, 'DISCARD');
    case 'APPROVAL_GIVEN':
      return fact({ by: data.by, said: { approvalId: data.approvalId, wall: data.wall } }, 'APPROVE');
    case 'APPROVAL_DECIDED':
      if (data.grantOf !== undefined || data.standing !== undefined || data.decision === 'expired') return undefined;
      return fact({ by: data.by, said: { approvalId: data.approvalId, ...wallSaid(data) } }, ...wordsOf(data));
    case 'CONSTELLATION_MODIFIED':
    case 'EDIT_REJECTED':
      return data.proposedBy?.kind === 'system' ? undefined : fact({ by: data.proposedBy }, 'PROPOSE');
    case 'RUN_CANCELLED':
    case 'TASK_CANCELLED':
    case 'TASK_STOP_REQUESTED':
    case 'TASK_REOPENED':
    case 'RUN_REOPENED':
      return fact({ by: data.by, atOnce: false }, 'CANCEL', 'RETRY', 'SAY');
    default:
      return undefined;
  }
}

/** What was decided by words that were given before for the whole plan, whose they were, and when; undefined for everything else. */
export function standingOf({
  type,
  data,
}: RecordedRunEvent):
  { readonly standing: StandingUse; readonly words: readonly Actor[]; readonly at: Instant } | undefined {
  if (type !== 'APPROVAL_DECIDED' && type !== 'RUN_RESUMED') return undefined;
  const { standing, by, approvedBy = [by] } = data;
  if (standing === undefined) return undefined;
  return { standing, words: approvedBy, at: 'decidedAt' in data ? data.decidedAt : data.resumedAt };
}

/** Of several words it is what all of them allow, and not what the last one says. */
const wallSaid = ({ wall, approvedBy = [] }: RunEventData<'APPROVAL_DECIDED'>) =>
  approvedBy.length > 1 ? {} : { wall };

function wordsOf({ decision }: RunEventData<'APPROVAL_DECIDED'>): string[] {
  if (decision === 'answered') return ['ANSWER'];
  return decision === 'rejected' || decision === 'revoked' ? ['REJECT'] : ['APPROVE'];
}

/** In what a command differs from what is recorded of it; undefined when it is the same. */
export function differs(command: Readonly<Record<string, Json>>, { said }: SignedFact): string | undefined {
  const [field] = Object.entries(said).find(([name, value]) => !isDeepStrictEqual(command[name], value)) ?? [];
  return field;
}

/** In what a request differs from the first fact of its run. What a request leaves out the orchestrator fills in. */
export function differsFrom(request: unknown, requested: RunEventData<'RUN_REQUESTED'>): string | undefined {
  const imported = withoutUfo(request);
  const parsed = imported.ok ? RunRequest.safeParse(imported.request) : undefined;
  if (parsed?.success !== true) return 'form';
  const { goal, constellation, options, metadata } = parsed.data;
  if (hashCommit({ ...parsed.data, metadata: takeKept(metadata).metadata }) !== requested.contentHash) return 'content';
  if (goal !== requested.goal) return 'goal';
  if (!isDeepStrictEqual(plain(constellation), plain(requested.constellation))) return 'constellation';
  if (!isDeepStrictEqual(plain(metadata), plain(requested.metadata))) return 'metadata';
  const recorded = requested.options as Readonly<Record<string, unknown>>;
  const changed = Object.entries(options).find(
    ([name, value]) =>
      !isStricter(name, recorded[name], value) && !isDeepStrictEqual(plain(recorded[name]), plain(value)),
  );
  return changed === undefined ? undefined : `options.${changed[0]}`;
}

/** Who runs the system may want more of every run than its request does. */
function isStricter(name: string, recorded: unknown, asked: unknown): boolean {
  if (name === 'approvals') return Number(recorded) >= Number(asked);
  return name === 'plan' || (name === 'judge' && recorded === 'all');
}

/** As JSON: what is undefined is not there. */
const plain = (value: unknown): unknown => (isObject(value) ? (JSON.parse(JSON.stringify(value)) as unknown) : value);

/** What somebody ordered of the planner, and his name. */
export interface Orderer {
  readonly query: 'learn' | 'evaluate';
  readonly actorId: string;
}

/** Undefined for what follows from the run. */
export function ordererOf({ kind, id }: Pick<Cause, 'kind' | 'id'>): Orderer | undefined {
  const { query, actorId } = /^(?<query>learn|evaluate)\.(?<actorId>.+)$/u.exec(id)?.groups ?? {};
  if (kind !== 'verb' || actorId === undefined) return undefined;
  return { query: query === 'learn' ? 'learn' : 'evaluate', actorId };
}

/** The services that sign for others. */
const CONSOLE = 'console';
const SPEAKERS = [CONSOLE, 'aip-gateway'];
/** The service that signs what somebody changes with a grant; it is recorded in the name of who gave the grant. */
const SERVES_GRANTS = 'planner';

/** Whether somebody approved what he had a part in, because there was nobody else. */
export const isSelfApproved = ({ data }: RecordedRunEvent): boolean =>
  'selfApproved' in data && data.selfApproved === true;

/**
 * Ids of those whose logs are needed to check who did what is recorded in a run and its plans, in alphabetical order. That there was one
 * approver only, the logs of everybody show.
 */
export function actorsInvolved(records: readonly { readonly commit: unknown }[]): string[] | 'everybody' {
  const commits = records.flatMap(({ commit }) => RunCommit.safeParse(commit).data ?? []);
  if (commits.some(({ events }) => events.some(isSelfApproved))) return 'everybody';
  const plans = records.flatMap(({ commit }) => PlanCommit.safeParse(commit).data ?? []);
  const planned = plans.flatMap(({ causes }) => causes.flatMap((cause) => ordererOf(cause)?.actorId ?? []));
  const named = commits.flatMap(({ events }) => events.flatMap((event) => factOf(event)?.by.id ?? []));
  const stood = commits.flatMap(({ events }) => events.flatMap((event) => standingOf(event)?.words ?? []));
  const before = stood.length === 0 ? [] : [...stood.map(({ id }) => id), CONSOLE];
  const words = records.flatMap(({ commit }) => AttentionCommit.safeParse(commit).data ?? []);
  const said = words.flatMap(({ events }) => events.map(({ data }) => data.by.id));
  const proofs = [...commits, ...plans, ...words].flatMap(({ causes }) => causes.flatMap(({ proof }) => proof ?? []));
  const spoken = proofs.flatMap(({ vouched }) => (vouched === undefined ? [] : [vouched.actor, ...SPEAKERS]));
  // Of what came with a grant only the hash is kept.
  const granted = proofs.some(({ body }) => body === undefined) ? [SERVES_GRANTS] : [];
  return [...new Set([...named, ...said, ...planned, ...before, ...spoken, ...granted])]
    .filter((id) => ActorId.safeParse(id).success)
    .toSorted();
}

/** What is stored on these subjects of a stream by now, in order, unchecked. */
export type ReadRecords = (stream: ExportRecord['stream'], subject: string) => AsyncIterable<ExportRecord>;

/**
 * All records of a run as they are stored: first its commits, then those of its attempts and of its planner, what people have said to entries
 * of the inbox that are about it, and those of its actors. Attempts, the most of them, are passed on and not held. `inbox`: all of ATTENTION,
 * where somebody has read it for several runs. Nothing of a run that is not there.
 */
export async function* storedRecords(
  runId: RunId,
  read: ReadRecords,
  inbox?: readonly ExportRecord[],
): AsyncGenerator<ExportRecord, void, undefined> {
  const own = await allOf(read('RUNS', subjects.run(runId)));
  if (own.length === 0) return;
  yield* own;
  yield* read('ATTEMPTS', subjects.attemptsOfRun(runId));
  const plans = await allOf(read('PLANS', subjects.plan(runId)));
  const words = wordsAbout(runId, inbox ?? (await allOf(read('ATTENTION', subjects.anyAttention))));
  yield* plans;
  yield* words;
  yield* await actorsOf([...own, ...plans, ...words], read);
}

/** Of everybody in whose name something is recorded, and of who signs for others. */
async function actorsOf(own: readonly ExportRecord[], read: ReadRecords): Promise<ExportRecord[]> {
  const involved = actorsInvolved(own);
  if (involved === 'everybody') return allOf(read('ACTORS', subjects.anyActor));
  const logs: ExportRecord[][] = [];
  for (const id of involved) logs.push(await allOf(read('ACTORS', subjects.actor(id))));
  return logs.flat().toSorted((one, other) => one.sequence - other.sequence);
}

async function allOf(records: AsyncIterable<ExportRecord>): Promise<ExportRecord[]> {
  const all: ExportRecord[] = [];
  for await (const record of records) all.push(record);
  return all;
}
