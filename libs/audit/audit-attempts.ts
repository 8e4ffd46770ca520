import { isDeepStrictEqual } from 'node:util';
import { AttemptCommit, attemptOfSubject, subjects, type ApprovalDecision, type RunId } from '#proto';
import { auditCommands, type DecisionClaims } from './audit-commands.js';
import type { ExportRecord } from './export-file.js';
import { type Finding, verified } from './findings.js';

/** What a run says about its own attempts. Those that it took over with a fork belong to the run that made them. */
export interface AttemptClaims {
  /** `<taskId>.<attempt>`. */
  readonly started: Set<string>;
  /** Those of them that make one exact call, which is judged by nobody. */
  readonly exact: Set<string>;
  readonly decisions: Map<string, { decision: ApprovalDecision; by: string }[]>;
  readonly ended: AttemptClaim[];
}
interface AttemptClaim {
  /** Of the commit that says it. */
  readonly number: number;
  readonly type: 'TASK_COMPLETED' | 'TASK_FAILED' | 'TASK_CANCELLED' | 'RUN_ANNOTATED';
  readonly taskId: string;
  readonly attempt: number;
  readonly attemptHash: string;
  readonly result?: unknown;
}

interface Attempt {
  readonly records: ExportRecord[];
  /** By hash. */
  readonly commits: Map<string, AttemptCommit>;
  ends: number;
}

/** Each attempt is a chain of its own; the run's hashes tie them to the run. */
export function auditAttempts(
  runId: RunId,
  records: readonly ExportRecord[],
  claims: AttemptClaims,
): { findings: Finding[]; attempts: number } {
  const findings: Finding[] = [];
  const attempts = new Map<string, Attempt>();
  for (const record of records) {
    const key = attemptOfSubject(record.subject);
    if (key === undefined || !subjectsOf(key).includes(record.subject)) {
      findings.push({
        runId,
        stream: 'ATTEMPTS',
        number: null,
        message: `${record.subject} is no subject of an attempt`,
      });
      continue;
    }
    const name = `${key.taskId}.${key.attempt}`;
    const attempt: Attempt = attempts.get(name) ?? { records: [], commits: new Map(), ends: 0 };
    attempts.set(name, attempt);
    attempt.records.push(record);
    if (key.kind === 'end') attempt.ends += 1;
  }
  for (const [name, attempt] of attempts) {
    const say = (number: number | null, message: string): void =>
      void findings.push({ runId, stream: 'ATTEMPTS', attempt: name, number, message });
    auditAttempt(runId, name, attempt, say);
    if (!claims.started.has(name)) say(null, 'the run never started this attempt');
    if (!claims.exact.has(name))
      for (const { number, message } of judgedWrong(attempt, claims.decisions)) say(number, message);
  }
  for (const claim of claims.ended) {
    const message = broken(claim, attempts.get(`${claim.taskId}.${claim.attempt}`));
    if (message !== undefined) findings.push({ runId, stream: 'RUNS', number: claim.number, message });
  }
  return { findings, attempts: attempts.size };
}

type AttemptSubject = NonNullable<ReturnType<typeof attemptOfSubject>>;

/** The subject as we would spell it: its partition is part of it. */
function subjectsOf({ kind, ...key }: AttemptSubject): string[] {
  return [subjects.attempt(key, kind)];
}

function auditAttempt(
  runId: RunId,
  name: string,
  attempt: Attempt,
  say: (number: number | null, message: string) => void,
): void {
  for (const { value } of verified(AttemptCommit, attempt.records, say)) {
    if (value.runId !== runId || `${value.taskId}.${value.attempt}` !== name) {
      say(value.number, `it belongs to ${value.runId}.${value.taskId}.${value.attempt}`);
    }
    attempt.commits.set(value.hash, value);
  }
  if (attempt.ends > 1) say(null, `it has ${attempt.ends} ends`);
}

function judgedWrong({ commits }: Attempt, decisions: DecisionClaims) {
  return auditCommands(
    [...commits.values()].toSorted((left, right) => left.number - right.number),
    decisions,
  );
}

function broken(claim: AttemptClaim, attempt: Attempt | undefined): string | undefined {
  const { type, taskId } = claim;
  const commit = attempt?.commits.get(claim.attemptHash);
  if (attempt === undefined) return `${type} of ${taskId}: attempt ${claim.attempt} is missing in ATTEMPTS`;
  if (commit === undefined) return `${type} of ${taskId}: no commit of attempt ${claim.attempt} has the hash it names`;
  if (type !== 'TASK_COMPLETED' && type !== 'TASK_CANCELLED') return undefined;
  const finished = commit.events.find((event) => event.type === 'ATTEMPT_FINISHED')?.data;
  const recorded = finished?.status === 'completed' ? finished.result : finished?.error.output;
  const expected = type === 'TASK_COMPLETED' ? 'completed' : 'failed';
  const same = finished?.status === expected && isDeepStrictEqual(recorded, claim.result);
  return same ? undefined : `${type} of ${taskId}: the result is not the one that attempt ${claim.attempt} recorded`;
}
