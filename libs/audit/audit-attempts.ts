import { isDeepStrictEqual } from 'node:util';
import {
  AttemptCommit,
  attemptOfSubject,
  isWorkspaceTool,
  subjects,
  WORKSPACE_OUT,
  workspaceCommandIdOf,
  type ApprovalDecision,
  type AttemptFiles,
  type AttemptKey,
  type CommandCall,
  type CommandId,
  type RecordedAttemptEvent,
  type RunId,
} from '#proto';
import type { ExportRecord } from './export-file.js';
import { type Finding, verified } from './findings.js';

/** What a run says about its own attempts. Those that it took over with a fork belong to the run that made them. */
export interface AttemptClaims {
  /** By `<taskId>.<attempt>`: the files that it takes and leaves. */
  readonly started: Map<string, AttemptFiles | undefined>;
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
      for (const { number, message } of judgedWrong(attempt, claims.decisions, claims.started.get(name)))
        say(number, message);
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

function judgedWrong({ commits }: Attempt, decisions: DecisionClaims, files: AttemptFiles | undefined) {
  return auditCommands(
    [...commits.values()].toSorted((left, right) => left.number - right.number),
    decisions,
    files,
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

// The commands of one attempt against the rules that no command may break, from the attempt's commits and from what the run
// decided. Pure. An exact command of a request needs none of this: TASK_STARTED is the fact that allows it, and it is never issued.
//
//   COMMAND_JUDGED ──allow, log──────────────────────────────► COMMAND_ISSUED ──► COMMAND_FINISHED, at most once
//        ├────approve──► ATTEMPT_ASKED ──► the run's decision ──►┘
//        │                       COMMAND_ISSUED ──its device asks──► COMMAND_JUDGED (approve)
//        └────deny──────► nothing
//
// What moves the files of an attempt is judged by nobody either: TASK_STARTED names them, and the command has an id of its own.

/** What the run says about its approvals, by their id: decisions in order. */
export type DecisionClaims = ReadonlyMap<
  string,
  readonly { readonly decision: ApprovalDecision; readonly by: string }[]
>;

interface Judged {
  readonly decision: string;
  readonly command: CommandCall;
}

interface Progress {
  /** Of the attempt. */
  readonly files: AttemptFiles | undefined;
  readonly judged: Map<CommandId, Judged>;
  readonly yes: Set<CommandId>;
  readonly issued: Set<CommandId>;
  readonly known: Set<CommandId>;
}

const YES: ReadonlySet<ApprovalDecision> = new Set(['approved', 'edited']);

/** What is wrong, with the number of the commit; empty for a sound attempt. */
export function auditCommands(
  commits: readonly AttemptCommit[],
  decisions: DecisionClaims,
  files?: AttemptFiles,
): { readonly number: number; readonly message: string }[] {
  const progress: Progress = { files, judged: new Map(), yes: new Set(), issued: new Set(), known: new Set() };
  return commits.flatMap(({ number, events, ...key }) =>
    events.flatMap((event) => {
      const problems =
        event.type === 'COMMAND_ISSUED' && isMoveOf(key, event.data)
          ? moved(event.data, progress)
          : problemsOf(event, progress, decisions);
      return problems.map((message) => ({ number, message }));
    }),
  );
}

function problemsOf(event: RecordedAttemptEvent, progress: Progress, decisions: DecisionClaims): string[] {
  switch (event.type) {
    case 'COMMAND_JUDGED': {
      const { commandId, decision, command, origin } = event.data;
      progress.judged.set(commandId, { decision, command });
      // Its device did not run it: then it is issued anew, once a person has said so.
      if (origin === 'device') progress.issued.delete(commandId);
      return [];
    }
    case 'ATTEMPT_SIGNALLED': {
      if (event.data.signal !== 'decision') return [];
      const { approvalId, decision, by } = event.data;
      if (YES.has(decision)) progress.yes.add(approvalId);
      const claimed = decisions.get(approvalId) ?? [];
      const same = claimed.some((one) => one.decision === decision && one.by === by.id);
      return same ? [] : [`${approvalId} is ${decision} by ${by.id}, and the run says nothing of it`];
    }
    case 'COMMAND_ISSUED':
      return issued(event.data, progress);
    case 'COMMAND_FINISHED': {
      const { commandId, state } = event.data;
      const twice = progress.known.has(commandId) ? [`${commandId} ended twice`] : [];
      // Nobody knew what became of it: then the truth may still follow, once.
      if (state !== 'OUTCOME_UNKNOWN') progress.known.add(commandId);
      return twice;
    }
    default:
      return [];
  }
}

interface Issued {
  readonly commandId: CommandId;
  readonly command: CommandCall;
}

const isMoveOf = (key: AttemptKey, { commandId, command: { tool } }: Issued): boolean =>
  isWorkspaceTool(tool) && commandId === workspaceCommandIdOf(key, tool);

/** Files go along lines as the run said, and in no other way. */
function moved({ commandId, command }: Issued, { issued: before, files }: Progress): string[] {
  const repeated = before.has(commandId) ? [`${commandId} was issued twice`] : [];
  before.add(commandId);
  const isOrdered =
    command.tool === WORKSPACE_OUT
      ? files?.out !== undefined && isDeepStrictEqual(command.arguments['patterns'], files.out)
      : (files?.in ?? []).length > 0;
  return isOrdered ? repeated : [...repeated, `${commandId} moves files that the run did not name`];
}

/** I6: no command without the policy's word, and without a person's where the policy wants one. */
function issued({ commandId, command }: Issued, progress: Progress): string[] {
  const judged = progress.judged.get(commandId);
  const repeated = progress.issued.has(commandId) ? [`${commandId} was issued twice`] : [];
  progress.issued.add(commandId);
  if (judged === undefined) return [...repeated, `${commandId} was issued and never judged`];
  if (!isDeepStrictEqual(judged.command, command))
    return [...repeated, `${commandId} was issued as another command than was judged`];
  if (judged.decision === 'deny') return [...repeated, `${commandId} was issued although it was denied`];
  if (judged.decision === 'approve' && !progress.yes.has(commandId)) {
    return [...repeated, `${commandId} was issued and nobody approved it`];
  }
  return repeated;
}
