import { isDeepStrictEqual } from 'node:util';
import { checkKeptProof, PROOF_MS_MAX } from '#libs/keys';
import { PlanCommit, subjects, type KeptProof } from '#proto';
import type { EditId, PlanEvent, RecordedRunEvent, RunId, Sha256 } from '#proto';
import type { ExportRecord } from './export-file.js';
import { type Finding, verified } from './findings.js';
import { UPGRADE_MS, whoSpoke, type KnownActors } from './known-keys.js';
import { ordererOf, type Orderer } from './signed-facts.js';

/** What a run says of the steps of its planner. */
export interface PlanClaim {
  /** Of the commit that says it. */
  readonly number: number;
  readonly event: Extract<
    RecordedRunEvent,
    { type: 'CONSTELLATION_MODIFIED' | 'EDIT_REJECTED' | 'EDIT_ABANDONED' | 'RUN_ANNOTATED' }
  >;
  readonly planHash: Sha256;
}

/** The claim of an event that names steps of the planner; undefined for one that names none. */
export function planClaimOf(number: number, event: RecordedRunEvent): PlanClaim | undefined {
  switch (event.type) {
    case 'CONSTELLATION_MODIFIED':
    case 'EDIT_REJECTED':
    case 'EDIT_ABANDONED': {
      const { planHash } = event.data;
      return planHash === null || planHash === undefined ? undefined : { number, event, planHash };
    }
    case 'RUN_ANNOTATED':
      return event.data.kind === 'evaluation' ? { number, event, planHash: event.data.planHash } : undefined;
    default:
      return undefined;
  }
}

export interface PlanTold {
  readonly claims: readonly PlanClaim[];
  /** In how many rounds a model may be asked; absent in runs of earlier days, of which nobody knows it. */
  readonly rounds: number | undefined;
}

/** The planner's steps are one chain per run; the run's hashes tie what was done to what was thought. */
export function auditPlans(
  runId: RunId,
  records: readonly ExportRecord[],
  { claims, rounds }: PlanTold,
): { findings: Finding[]; plans: number } {
  const findings: Finding[] = [];
  const say = (number: number | null, message: string): void =>
    void findings.push({ runId, stream: 'PLANS', number, message });
  const commits = new Map<string, PlanCommit>();
  for (const { record, value } of verified(PlanCommit, records, say)) {
    if (value.runId !== runId || record.subject !== subjects.plan(runId)) {
      say(value.number, `it belongs to ${value.runId}, and stands on the subject ${record.subject}`);
    }
    commits.set(value.hash, value);
  }
  for (const { number, message } of unfounded([...commits.values()])) say(number, message);
  for (const { number, message } of beyond([...commits.values()], rounds)) say(number, message);
  for (const claim of claims) {
    const message = broken(claim, commits.get(claim.planHash));
    if (message !== undefined) findings.push({ runId, stream: 'RUNS', number: claim.number, message });
  }
  return { findings, plans: commits.size };
}

interface OrderedFact {
  readonly number: number;
  /** What is wrong with it. */
  readonly message?: string;
  readonly proof?: KeptProof;
}

/** What somebody has let the planner learn or judge, held against what he has signed. */
export function* planProofs(
  runId: RunId,
  records: readonly ExportRecord[],
  actors: KnownActors | undefined,
): Generator<OrderedFact> {
  const plans = records.filter(({ stream }) => stream === 'PLANS');
  for (const plan of plans.flatMap(({ commit }) => PlanCommit.safeParse(commit).data ?? [])) {
    for (const { proof, ...cause } of plan.causes) {
      const ordered = ordererOf(cause);
      if (ordered === undefined) continue;
      const { number } = plan;
      if (proof === undefined) {
        const message = unsigned(plan, { ...ordered, id: cause.id }, actors);
        if (message !== undefined) yield { number, message };
        continue;
      }
      yield { number, proof };
      for (const problem of unproven({ runId, plan, ...ordered, proof }, actors)) {
        yield { number, message: `the proof of ${cause.id}: ${problem}` };
      }
    }
  }
}

/** Planners of before have kept no proofs. */
function unsigned(
  { at }: PlanCommit,
  { id, actorId }: { readonly id: string; readonly actorId: string },
  actors: KnownActors | undefined,
): string | undefined {
  const known = actors?.byId.get(actorId);
  if (known === undefined || Date.parse(at) < Date.parse(known.addedAt) + UPGRADE_MS) return undefined;
  return `${id} has no proof, and ${actorId} has signed what he does since ${known.addedAt}`;
}

interface Ordered extends Orderer {
  readonly runId: RunId;
  readonly plan: PlanCommit;
  readonly proof: KeptProof;
}

function unproven({ runId, plan, query, actorId, proof }: Ordered, actors: KnownActors | undefined): string[] {
  const faults: string[] = [];
  if (proof.subject !== subjects.query('planner', query)) faults.push(`it was signed for ${proof.subject}`);
  if (checkKeptProof(proof) !== 'good') faults.push('its signature does not fit what was signed and the key');
  if (proof.body?.['runId'] !== runId) faults.push('it was signed for another run');
  const type = query === 'learn' ? 'RUN_SUMMARISED' : 'RUN_EVALUATED';
  if (!plan.events.some((event) => event.type === type)) faults.push('nothing of it is recorded in this commit');
  // How long a model takes nobody knows.
  if (Date.parse(proof.at) > Date.parse(plan.at) + PROOF_MS_MAX) {
    faults.push(`it was signed at ${proof.at}, and the commit is of ${plan.at}`);
  }
  const spoke = actors === undefined ? undefined : whoSpoke(actors, proof);
  if (spoke === undefined) return faults;
  if ('problem' in spoke) return [...faults, spoke.problem];
  return spoke.actor.id === actorId
    ? faults
    : [...faults, `${spoke.actor.id} signed it, and it is recorded in the name of ${actorId}`];
}

/** Nothing is proposed that was not thought before, and nothing is thought twice for one try. */
function* unfounded(commits: readonly PlanCommit[]): Generator<{ number: number; message: string }> {
  const planned = new Set<string>();
  const rounds = new Set<EditId>();
  const asked = new Set<EditId>();
  const proposed = new Set<string>();
  for (const { number, events } of commits.toSorted((a, b) => a.number - b.number)) {
    for (const event of events) {
      if (event.type === 'ROUND_PLANNED') {
        const { editId, try: count, source, calls } = event.data;
        const name = `${editId} try ${count}`;
        if (planned.has(name)) yield { number, message: `${name} was planned before` };
        if (calls.length > 0) asked.add(editId);
        // A reply that was paid for is used again in later tries of its round.
        if (source === 'model' ? !asked.has(editId) : calls.length > 0) {
          yield { number, message: `${name} comes from a ${source}, with ${calls.length} calls of a model` };
        }
        planned.add(name);
        rounds.add(editId);
      }
      if (event.type === 'PLAN_PROPOSED') {
        const { editId, try: count } = event.data.proposal;
        const name = `${editId ?? 'no round'} try ${count}`;
        if (editId === null || !rounds.has(editId)) yield { number, message: `${name} was proposed and never planned` };
        if (proposed.has(name)) yield { number, message: `${name} was proposed before` };
        proposed.add(name);
      }
    }
  }
}

/** No model is asked in more rounds than the run allows, and nobody gives up for that before. */
function* beyond(
  commits: readonly PlanCommit[],
  rounds: number | undefined,
): Generator<{ number: number; message: string }> {
  if (rounds === undefined) return;
  const asked = new Set<EditId>();
  for (const { number, events } of commits.toSorted((a, b) => a.number - b.number)) {
    for (const event of events) {
      if (event.type !== 'ROUND_PLANNED' && event.type !== 'ROUND_FAILED') continue;
      const { editId } = event.data;
      if (event.type === 'ROUND_FAILED' && event.data.error.code === 'TOO_MANY_ROUNDS' && asked.size < rounds) {
        yield {
          number,
          message: `${editId} gives up after ${asked.size} of ${rounds} rounds in which a model may be asked`,
        };
      }
      // A call that reached nobody has used nothing, and is none.
      const calls = event.type === 'ROUND_FAILED' ? event.data.used.llmCalls : event.data.calls.length;
      if (calls === 0 || asked.has(editId)) continue;
      asked.add(editId);
      if (asked.size > rounds)
        yield {
          number,
          message: `${editId} is round ${asked.size} in which a model was asked; options.rounds allows ${rounds}`,
        };
    }
  }
}

function broken({ event, planHash }: PlanClaim, commit: PlanCommit | undefined): string | undefined {
  const { type } = event;
  if (commit === undefined) return `${type}: no commit of PLANS has the hash ${planHash.slice(0, 16)} that it names`;
  switch (event.type) {
    case 'CONSTELLATION_MODIFIED': {
      const { editId, try: count, edits = [], state, answer, source, spare } = event.data;
      const proposed = dataOf(commit, 'PLAN_PROPOSED');
      const proposal = proposed?.proposal;
      if (proposal === undefined || proposal.editId !== editId || proposal.try !== count) {
        return `${type}: ${notThere(editId, count)}`;
      }
      if (edits.length > 0 && !isDeepStrictEqual(edits, proposal.edits)) {
        return `${type}: the edits are not those that were proposed`;
      }
      if (source !== undefined && source !== proposed?.source) {
        return `${type}: it says that it comes from a ${source}; it was proposed by a ${proposed?.source ?? 'nobody'}`;
      }
      if (spare !== undefined && !isDeepStrictEqual(spare, proposal.spare)) {
        return `${type}: what it keeps in reserve is not what was proposed`;
      }
      if (state !== proposal.state) return `${type}: its state is ${state ?? 'none'}; ${proposal.state} was proposed`;
      if (answer?.by === 'model' && answer.text !== proposal.answer?.text) {
        return `${type}: the answer is not the one that was proposed`;
      }
      return undefined;
    }
    case 'EDIT_REJECTED': {
      const { editId, try: count } = event.data;
      const proposal = dataOf(commit, 'PLAN_PROPOSED')?.proposal;
      const same = proposal?.editId === editId && proposal.try === count;
      return same ? undefined : `${type}: ${notThere(editId, count)}`;
    }
    case 'EDIT_ABANDONED': {
      const failed = dataOf(commit, 'ROUND_FAILED');
      const { editId, reason } = event.data;
      if (failed?.editId !== editId) return `${type}: that commit of PLANS gives up no such round`;
      if (reason.code !== 'TOO_MANY_ROUNDS' || failed.error.code === reason.code) return undefined;
      return `${type}: it gives up for ${reason.code}, and that commit of PLANS for ${failed.error.code}`;
    }
    case 'RUN_ANNOTATED': {
      const evaluated = dataOf(commit, 'RUN_EVALUATED')?.evaluation;
      const said = event.data.kind === 'evaluation' ? event.data.evaluation : undefined;
      return isDeepStrictEqual(evaluated, said) ? undefined : `${type}: the evaluation is not the one that was made`;
    }
  }
}

function notThere(editId: EditId | undefined, count: number | undefined): string {
  return `the commit of PLANS that it names does not propose ${editId ?? 'an edit'} try ${count ?? 1}`;
}

type DataOf<T extends PlanEvent['type']> = Extract<PlanEvent, { type: T }>['data'];

function dataOf<T extends PlanEvent['type']>(commit: PlanCommit, type: T): DataOf<T> | undefined {
  const found = commit.events.find((event) => event.type === type);
  return found?.data as DataOf<T> | undefined;
}
