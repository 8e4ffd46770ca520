// Who did it: every request and verb of a run, held against what was signed, by whom, and what was recorded of it.
//
//   cause with a proof ──► signature over what was signed ──► of this run, this verb, this id ──► key of the actor by then
//                     └──► what was signed is what was recorded, in the name of the same actor
//   cause without one ──► from before proofs were kept, or published on a subject of its own; anything else was taken away
import { checkKeptProof, PROOF_MS_MAX } from '#libs/keys';
import {
  RUN_VERBS,
  RunCommit,
  subjects,
  type Actor,
  type Cause,
  type KeptProof,
  type RecordedRunEvent,
  type RunId,
} from '#proto';
import { selfApprovalFaults, standingFaults, unjudgedFaults } from './audit-standing.js';
import { planProofs } from './audit-plans.js';
import { auditAttention } from './audit-attention.js';
import type { ExportRecord } from './export-file.js';
import type { Finding } from './findings.js';
import { knownActors, SLACK_MS, UPGRADE_MS, whoSpoke, type KnownActors } from './known-keys.js';
import { differs, differsFrom, factOf, type SignedFact, standingOf } from './signed-facts.js';

export interface ProofCounts {
  readonly signed: number;
  readonly vouched: number;
  /** Of these, of how many only the hash of the command is there: their signatures cannot be checked. */
  readonly unseen: number;
  readonly unsigned: { readonly published: number; readonly old: number };
}

export interface ProofReport {
  readonly findings: readonly Finding[];
  readonly unchecked: readonly string[];
  readonly proofs: ProofCounts;
  /** How often somebody took on or settled an entry of the inbox that is about the run. */
  readonly words: number;
  /** The last commit that is there of each actor, by id. */
  readonly actors: Readonly<Record<string, string>>;
}

/** Longer than a command that is taken waits for its commit. */
const COMMIT_MS_MAX = 60_000;
/** Short commands: of these the whole is always kept. */
const SHORT: ReadonlySet<string> = new Set(['CANCEL', 'PAUSE', 'RESUME', 'RETRY', 'FORK', 'ANNOTATE', 'REJECT']);

interface Looked {
  readonly runId: RunId;
  readonly commit: RunCommit;
  readonly cause: Cause;
  readonly actors: KnownActors | undefined;
}

/** `records`: of the run and of the actors. Commits that are none are left to others. */
export function auditProofs(runId: RunId, records: readonly ExportRecord[]): ProofReport {
  const findings: Finding[] = [];
  const counts = { signed: 0, vouched: 0, unseen: 0, published: 0, old: 0 };
  const logs = records.filter(({ stream }) => stream === 'ACTORS');
  const actors = logs.length === 0 ? undefined : knownActors(logs);
  for (const { number, message } of actors?.problems ?? []) findings.push({ runId, stream: 'ACTORS', number, message });
  const own = records.filter(({ stream }) => stream === 'RUNS');
  const commits = own.flatMap(({ commit }) => RunCommit.safeParse(commit).data ?? []);
  const hasProofs = commits.some(({ causes }) => causes.some(({ proof }) => proof !== undefined));
  let isProven = false;
  for (const commit of commits) {
    const say = (message: string): void =>
      void findings.push({ runId, stream: 'RUNS', number: commit.number, message });
    for (const cause of commit.causes.filter(({ kind }) => kind === 'verb' || kind === 'request')) {
      const looked = { runId, commit, cause, actors };
      if (cause.proof === undefined) {
        const kind = whyUnsigned(looked, { isProven, hasProofs });
        if (kind === 'published' || kind === 'old') counts[kind]++;
        else say(kind);
        continue;
      }
      isProven = true;
      counts[cause.proof.vouched === undefined ? 'signed' : 'vouched']++;
      if (cause.proof.body === undefined) counts.unseen++;
      for (const problem of faultsOf(looked, cause.proof)) say(`the proof of ${cause.kind} ${cause.id}: ${problem}`);
    }
    for (const event of commit.events) {
      for (const problem of standingFaults(event, actors)) say(problem);
      for (const problem of selfApprovalFaults(event, commit.at, actors)) say(problem);
    }
    for (const problem of unjudgedFaults(commit, actors)) say(problem);
    if (isProven) for (const problem of unprovenFacts(runId, commit, actors)) say(problem);
  }
  for (const { number, message, proof } of planProofs(runId, records, actors)) {
    if (message !== undefined) findings.push({ runId, stream: 'PLANS', number, message });
    if (proof !== undefined) counts[proof.vouched === undefined ? 'signed' : 'vouched']++;
  }
  const said = auditAttention(runId, records, actors);
  findings.push(...said.findings);
  for (const { vouched } of said.proofs) counts[vouched === undefined ? 'signed' : 'vouched']++;
  const { published, old, ...proofs } = counts;
  return {
    findings,
    unchecked: notes(proofs, actors, commits),
    proofs: { ...proofs, unsigned: { published, old } },
    words: said.words,
    actors: Object.fromEntries([...(actors?.byId ?? [])].map(([id, { head }]) => [id, head])),
  };
}

/** Why a cause has no proof, or that it should have one. */
function whyUnsigned(
  { commit, cause, actors }: Looked,
  { isProven, hasProofs }: { readonly isProven: boolean; readonly hasProofs: boolean },
): string {
  const [first] = commit.events;
  const by = cause.kind === 'request' && first?.type === 'RUN_REQUESTED' ? first.data.requestedBy : undefined;
  if (by?.kind === 'external') return by.id === OF_OLD ? 'old' : 'published';
  const what = `${cause.kind} ${cause.id} has no proof`;
  if (isProven) return `${what}, and those before it have one`;
  if (by !== undefined && hasProofs) return `${what}, and those after it have one`;
  const persons = by === undefined ? commit.events.flatMap((event) => factOf(event)?.by ?? []) : [by];
  const known = persons.map(({ id }) => actors?.byId.get(id)).find((actor) => actor !== undefined);
  if (known === undefined || Date.parse(commit.at) < Date.parse(known.addedAt) + UPGRADE_MS) return 'old';
  return `${what}, and ${known.actor.id} has signed what he does since ${known.addedAt}`;
}

/** Who asked when nobody could tell who it was. */
const OF_OLD = 'default';

function faultsOf(looked: Looked, proof: KeptProof): string[] {
  const { runId, commit, cause, actors } = looked;
  const verb = verbOf(looked, proof.subject);
  if (verb === undefined)
    return [`it was signed for ${proof.subject}, which is not what led to this commit of run ${runId}`];
  const faults: string[] = [];
  if (checkKeptProof(proof) === 'bad') faults.push('its signature does not fit what was signed and the key');
  if (proof.body === undefined && SHORT.has(verb))
    faults.push(`what was signed is not there, although ${verb} is short`);
  const said = proof.body?.[verb === 'SUBMIT' ? 'requestId' : 'id'];
  if (proof.body !== undefined && said !== cause.id) faults.push(`it was signed for ${JSON.stringify(said)}`);
  const late = lateness(proof, commit);
  if (late !== undefined) faults.push(late);
  const facts = commit.events.flatMap((event) => factOf(event) ?? []).filter(({ verbs }) => verbs.includes(verb));
  if (facts.length === 0 && !gaveUp(commit)) faults.push(`nothing of ${verb} is recorded in this commit`);
  return [...faults, ...contentFaults(commit, proof, { verb, facts }), ...whoseFaults(looked, proof, facts, actors)];
}

/** The verb that was signed, when it can have led here. */
function verbOf({ runId, commit, cause }: Looked, subject: string): string | undefined {
  const [first] = commit.events;
  if (cause.kind === 'request') {
    const isRequest = subject === subjects.submit || subject === subjects.requests || subject.startsWith(OF_ACTOR);
    return isRequest && first?.type === 'RUN_REQUESTED' ? 'SUBMIT' : undefined;
  }
  if (first?.type === 'RUN_FORKED')
    return subject === subjects.verb(first.data.parent.runId, 'FORK') ? 'FORK' : undefined;
  return RUN_VERBS.find((verb) => subject === subjects.verb(runId, verb));
}
const OF_ACTOR = subjects.requestsOf('');

/** What waited in the stream of requests may be old; anything else is taken at once, or never. */
function lateness({ at, subject }: KeptProof, commit: RunCommit): string | undefined {
  const ageMs = Date.parse(commit.at) - Date.parse(at);
  const mayWait = subject !== subjects.submit && subject.startsWith(subjects.requests);
  const isInTime = ageMs >= -PROOF_MS_MAX - SLACK_MS && (mayWait || ageMs <= PROOF_MS_MAX + COMMIT_MS_MAX);
  return isInTime ? undefined : `it was signed at ${at}, and the commit is of ${commit.at}`;
}

/** An input on which the orchestrator failed leaves a pause, and nothing of what it said. */
const gaveUp = ({ events }: RunCommit): boolean =>
  events.some(({ type, data }) => type === 'RUN_PAUSED' && data.by === 'system');

function contentFaults(
  { events: [first] }: RunCommit,
  { body }: KeptProof,
  { verb, facts }: { readonly verb: string; readonly facts: readonly SignedFact[] },
): string[] {
  if (body === undefined || facts.length === 0) return [];
  const field =
    verb === 'SUBMIT' && first?.type === 'RUN_REQUESTED'
      ? differsFrom(body, first.data)
      : facts.some((fact) => differs(body, fact) === undefined)
        ? undefined
        : facts.flatMap((fact) => differs(body, fact) ?? [])[0];
  return field === undefined ? [] : [`its ${field} is not what is recorded`];
}

function whoseFaults(
  { commit }: Looked,
  proof: KeptProof,
  facts: readonly SignedFact[],
  actors: KnownActors | undefined,
): string[] {
  if (actors === undefined) return [];
  const spoke = whoSpoke(actors, { ...proof, at: commit.at });
  if ('problem' in spoke) return [spoke.problem];
  // With a grant it is recorded in the name of who gave it.
  if (proof.body === undefined && spoke.actor.kind === 'system') return [];
  const faults: string[] = [];
  if (facts.length > 0 && !facts.some(({ by }) => isSame(by, spoke.actor))) {
    faults.push(`${spoke.actor.id} signed it, and it is recorded in the name of ${facts[0]?.by.id}`);
  }
  const [first] = commit.events;
  const { namespace } = spoke;
  if (first?.type === 'RUN_REQUESTED' && namespace !== undefined && namespace !== first.data.namespace) {
    faults.push(`the namespace of ${spoke.actor.id} is ${namespace}, not ${first.data.namespace}`);
  }
  return faults;
}

/** What is recorded in somebody's name, and nobody has signed. */
function unprovenFacts(runId: RunId, commit: RunCommit, actors: KnownActors | undefined): string[] {
  const proofs = commit.causes.flatMap(({ kind, id, proof, ...cause }) => {
    if (proof === undefined) return [];
    const verb = verbOf({ runId, commit, cause: { kind, id, ...cause }, actors }, proof.subject);
    return verb === undefined ? [] : [{ verb, body: proof.body }];
  });
  return commit.events.flatMap((event) => {
    const fact = factOf(event);
    if (fact === undefined || !fact.atOnce || needsNoProof(event, commit)) return [];
    const isProven = proofs.some(
      ({ verb, body }) =>
        fact.verbs.includes(verb) && (body === undefined || verb === 'SUBMIT' || differs(body, fact) === undefined),
    );
    return isProven
      ? []
      : [`event ${event.sequence}, ${event.type} by ${fact.by.id}: nothing in this commit proves it`];
  });
}

/** What was published needs none, and what a task promised to leave on the board comes with the end of its attempt. */
function needsNoProof({ type, data }: RecordedRunEvent, { events }: RunCommit): boolean {
  if (type === 'RUN_REQUESTED') return data.requestedBy.kind === 'external';
  if (type !== 'BOARD_WRITTEN' || data.by.kind !== 'system' || data.attempt === undefined) return false;
  const { taskId, attempt } = data.attempt;
  return events.some(
    (event) => event.type === 'TASK_COMPLETED' && event.data.taskId === taskId && event.data.attempt === attempt,
  );
}

const isSame = (one: Actor, other: Actor): boolean => one.kind === other.kind && one.id === other.id;

function notes(
  { signed, vouched, unseen }: Pick<ProofCounts, 'signed' | 'vouched' | 'unseen'>,
  actors: KnownActors | undefined,
  commits: readonly RunCommit[],
): string[] {
  const stands = commits.some(({ events }) => events.some((event) => standingOf(event) !== undefined));
  if (signed + vouched === 0 && !stands) return [];
  return [
    ...(actors === undefined
      ? ['the logs of its actors are not there: whose keys have signed could not be checked']
      : []),
    ...(unseen === 0
      ? []
      : [
          `of ${unseen} signed commands only the hash is kept, because they are large or let in who reads them: their signatures could not be checked`,
        ]),
  ];
}
