// The audit of one run, from nothing but its commits as they were stored. Pure: the same code checks the live log and a
// file that an auditor took home. In this order, because each rests on the one before:
//
//   chain of the run's commits ──► schema ──► fold, every event against the state it meets, invariants after each commit
//   fork ──► the commit of the parent it names has that hash, and what it carries is the parent's fold up to there
//   chain of each attempt ───────► schema ──► the run's hashes of attempts point at what is there, and at the same result
//   chain of the planner ────────► schema ──► the run's hashes of plans point at what is there, and at the same edits
//   chains of entries of the inbox ► schema ──► they are about this run, and who said what to them is proven
//   proofs of who did it ────────► signature ──► whose key it was by then, as the logs of the actors say, and what was recorded of it
import { checkInvariants, emptyRun, evolve, evolveCommit, viewOf, type Run } from '#libs/constellation';
import { runIdOf, verifyChain } from '#libs/event-log';
import { parseWith, RunCommit, sentenceOf, subjects, type RecordedRunEvent, type RunId } from '#proto';
import { auditAttempts, type AttemptClaims } from './audit-attempts.js';
import { auditPlans, planClaimOf, type PlanClaim } from './audit-plans.js';
import { auditProofs, type ProofCounts } from './audit-proofs.js';
import { auditFork, forkOf, unchecked } from './audit-fork.js';
import { chained, type Finding } from './findings.js';
import type { ExportRecord } from './export-file.js';
import { owedRound, unseenPlan } from './rounds.js';
import { illegal, incomplete } from './transitions.js';

export interface AuditReport {
  readonly runId: RunId;
  readonly ok: boolean;
  readonly findings: readonly Finding[];
  /** What could not be checked with what is at hand. */
  readonly unchecked: readonly string[];
  readonly commits: number;
  readonly events: number;
  readonly attempts: number;
  /** Commits of the run's planner. */
  readonly plans: number;
  /** How often somebody took on or settled an entry of the inbox that is about it. */
  readonly words: number;
  /** How many of the requests and verbs that led to it were signed, and why the others are not. */
  readonly proofs: ProofCounts;
  /** Hash of the last commit that is there of each actor who had a part in it. */
  readonly actors: Readonly<Record<string, string>>;
  /** Hash of the last commit: an auditor who wrote it down earlier can tell a shortened log from a whole one. */
  readonly head: string | null;
  readonly status: string | null;
  readonly outcome: string | null;
}

/** Checks the records of one run, all of them. `parent`: those of the run that it was forked from, when they are at hand. */
export function auditRun(
  runId: RunId,
  records: readonly ExportRecord[],
  parent?: readonly ExportRecord[],
): AuditReport {
  const findings: Finding[] = [];
  const own = records.filter(({ stream }) => stream === 'RUNS');
  if (own.length === 0)
    findings.push({ runId, stream: 'RUNS', number: null, message: 'there is no commit of this run' });
  findings.push(...ascending(runId, records));
  const chain = chained(own, (record, message) => findings.push(findingOf(runId, record, message)));
  for (const { number, message } of verifyChain(chain.map(({ commit }) => commit))) {
    findings.push({ runId, stream: 'RUNS', number, message });
  }
  const folded = fold(runId, own, findings);
  const forked = forkOf(own);
  if (forked !== undefined && parent !== undefined) {
    const differences = auditFork(forked, parent);
    findings.push(...differences.map((message): Finding => ({ runId, stream: 'RUNS', number: 1, message })));
  }
  const attempts = records.filter(({ stream }) => stream === 'ATTEMPTS');
  const attemptReport = auditAttempts(runId, attempts, folded.claims);
  findings.push(...attemptReport.findings);
  const planReport = auditPlans(
    runId,
    records.filter(({ stream }) => stream === 'PLANS'),
    { claims: folded.plans, rounds: folded.run.request?.options.rounds },
  );
  findings.push(...planReport.findings);
  const { proofs, words, actors, ...whose } = auditProofs(runId, records);
  findings.push(...whose.findings);
  const view = folded.run.request === null ? null : viewOf(folded.run);
  return {
    runId,
    ok: findings.length === 0,
    findings,
    unchecked: [...(forked !== undefined && parent === undefined ? [unchecked(forked)] : []), ...whose.unchecked],
    commits: own.length,
    events: folded.run.sequence,
    attempts: attemptReport.attempts,
    plans: planReport.plans,
    words,
    proofs,
    actors,
    head: chain.at(-1)?.commit.hash ?? null,
    status: view?.status ?? null,
    outcome: view?.outcome ?? null,
  };
}

/** Stops at the first commit that cannot be folded: whatever came after would only repeat it. */
function fold(
  runId: RunId,
  records: readonly ExportRecord[],
  findings: Finding[],
): { run: Run; claims: AttemptClaims; plans: PlanClaim[] } {
  const plans: PlanClaim[] = [];
  let run = emptyRun(runId);
  const claims: AttemptClaims = { started: new Map(), exact: new Set(), decisions: new Map(), ended: [] };
  for (const record of records) {
    const parsed = parseWith(RunCommit, record.commit);
    const problems = parsed.ok ? [] : [parsed.issues.map(sentenceOf).join('; ')];
    if (parsed.ok) problems.push(...misplaced(runId, record, parsed.value));
    if (parsed.ok && problems.length === 0) {
      const step = foldCommit(run, parsed.value);
      problems.push(...step.problems);
      claim(claims, parsed.value);
      const { number, events } = parsed.value;
      plans.push(...events.flatMap((event) => planClaimOf(number, event) ?? []));
      run = step.run;
    }
    findings.push(...problems.map((message) => findingOf(runId, record, message)));
    if (problems.length > 0) break;
  }
  return { run, claims, plans };
}

function misplaced(runId: RunId, { subject }: ExportRecord, commit: RunCommit): string[] {
  const problems: string[] = [];
  if (subject !== subjects.run(runId)) problems.push(`it stands on the subject ${subject}`);
  if (commit.runId !== runId) problems.push(`it belongs to the run ${commit.runId}`);
  const [first] = commit.number === 1 ? commit.events : [];
  const derived = first === undefined ? undefined : derivedId(first);
  if (derived !== undefined && derived.runId !== runId) problems.push(`${derived.of} is the run ${derived.runId}`);
  return problems;
}

/** The id that a run must have, by the fact with which it begins. */
function derivedId({ type, data }: RecordedRunEvent): { readonly of: string; readonly runId: RunId } | undefined {
  switch (type) {
    case 'RUN_REQUESTED':
      return { of: `the request "${data.requestId}"`, runId: runIdOf(data.namespace, data.requestId) };
    case 'RUN_FORKED':
      return { of: `the fork "${data.requestId}"`, runId: runIdOf(`fork:${data.parent.runId}`, data.requestId) };
    default:
      return undefined;
  }
}

function foldCommit(before: Run, commit: RunCommit): { run: Run; problems: string[] } {
  try {
    let run = before;
    for (const [at, event] of commit.events.entries()) {
      const problem = illegal(run, event) ?? unseenPlan(run, event, commit.events[at + 1]);
      if (problem !== undefined) return { run, problems: [`event ${event.sequence}: ${problem}`] };
      run = evolve(run, event);
    }
    const after = evolveCommit(before, commit);
    const violations = checkInvariants(after);
    const owed = [incomplete(commit.events), owedRound(after), runsElsewhere(after)].filter(
      (problem) => problem !== undefined,
    );
    return {
      run: after,
      problems: [
        ...owed,
        ...violations.map(({ invariant, tasks, message }) => `${invariant}: ${tasks.join(', ')} ${message}`),
      ],
    };
  } catch (error) {
    return {
      run: before,
      problems: [`it cannot be folded: ${error instanceof Error ? error.message : String(error)}`],
    };
  }
}

/** What ran when a run was forked runs there, not here: nobody here would ever see its end. */
function runsElsewhere(run: Run): string | undefined {
  const task = [...run.running].map((index) => run.tasks.at(index)).find(({ ranIn }) => ranIn !== null);
  return task === undefined ? undefined : `task ${task.star.id} is RUNNING, and runs in run ${task.ranIn}`;
}

/** What the run says about its attempts. */
function claim(claims: AttemptClaims, { number, events }: RunCommit): void {
  for (const event of events) {
    if (event.type === 'TASK_STARTED') {
      const { taskId, attempt, command, judge, files } = event.data;
      claims.started.set(`${taskId}.${attempt}`, files);
      if (command !== undefined && judge !== true) claims.exact.add(`${taskId}.${attempt}`);
    }
    if (event.type === 'APPROVAL_DECIDED') {
      const { approvalId, decision, by } = event.data;
      claims.decisions.set(approvalId, [...(claims.decisions.get(approvalId) ?? []), { decision, by: by.id }]);
    }
    if (event.type === 'TASK_COMPLETED') {
      const { taskId, attempt, attemptHash, result } = event.data;
      if (attemptHash !== null) claims.ended.push({ number, type: event.type, taskId, attempt, attemptHash, result });
    }
    if (event.type === 'TASK_CANCELLED') {
      const { taskId, attempt, attemptHash = null, output: result } = event.data;
      if (attemptHash !== null) claims.ended.push({ number, type: event.type, taskId, attempt, attemptHash, result });
    }
    if (event.type === 'TASK_FAILED' && event.data.attemptHash !== null) {
      const { taskId, attempt, attemptHash } = event.data;
      claims.ended.push({ number, type: event.type, taskId, attempt, attemptHash });
    }
    if (event.type === 'RUN_ANNOTATED' && event.data.kind === 'late_result') {
      const { taskId, attempt, attemptHash } = event.data;
      claims.ended.push({ number, type: event.type, taskId, attempt, attemptHash });
    }
  }
}

function* ascending(runId: RunId, records: readonly ExportRecord[]): Generator<Finding> {
  const last = new Map<string, number>();
  for (const record of records) {
    const before = last.get(record.stream) ?? 0;
    if (record.sequence <= before) {
      yield findingOf(runId, record, `stream sequence ${record.sequence} follows ${before}`);
    }
    last.set(record.stream, record.sequence);
  }
}

function findingOf(runId: RunId, { stream, commit }: ExportRecord, message: string): Finding {
  const number = typeof commit === 'object' && commit !== null && 'number' in commit ? commit.number : null;
  return { runId, stream, number: typeof number === 'number' ? number : null, message };
}
