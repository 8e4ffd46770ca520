import { counted } from '#libs/constellation';
import type { NatsConnection } from '@nats-io/transport-node';
import { Sha256 } from '#proto';
import {
  auditChain,
  auditRun,
  CHAIN_STREAMS,
  findingText,
  forkOf,
  type AuditReport,
  type ChainStream,
  type ExportRecord,
} from '#libs/audit';
import { recordAccess, withBus } from '../../bus/index.js';
import {
  cleanLine,
  badInput,
  EXIT,
  type ExitCode,
  paintFor,
  printJson,
  type CliContext,
} from '../../terminal/index.js';
import {
  chainsOf,
  isKnownRun,
  loadInbox,
  loadRecords,
  loadRunRecords,
  openSource,
  runIds,
  type RunSource,
} from '../../sources/index.js';

interface Verdict {
  readonly origin: RunSource['origin'];
  readonly reports: readonly AuditReport[];
  readonly problems: readonly string[];
  /** What is of the whole installation; nothing where it was about a run or a file. */
  readonly chains: readonly CheckedStream[];
}

/** A stream that is of the whole installation, every chain of it checked. */
interface CheckedStream {
  readonly stream: ChainStream;
  readonly chains: number;
  readonly commits: number;
  readonly ok: boolean;
}

export interface VerifyWords {
  readonly all?: boolean | undefined;
  /** Hash of a commit that the run must have, as a report or an earlier check named it. */
  readonly head?: string | undefined;
}

/** Who can write the file can compute its hashes: that they fit says nothing about who wrote them, nor that none is missing. */
const FILE_ALONE =
  'the file is consistent in itself; who wrote it, and whether its end is missing, it cannot show, and what its artifacts ' +
  'hold is not in it. Give a hash that you know from elsewhere, a report or a check of the log: --head <hash>';

/** Checks a run, a file, or everything, and says precisely what is not as it was written. */
export async function verify(
  context: CliContext,
  runOrFile: string | undefined,
  { all = false, head }: VerifyWords,
): Promise<ExitCode> {
  if (all === (runOrFile !== undefined)) throw badInput('Give a run, a file, or --all.');
  const known = head === undefined ? undefined : headFrom(head, runOrFile);
  const verdict = runOrFile === undefined ? await verifyAll(context) : await verifyOne(context, runOrFile, known);
  const { origin, reports, problems, chains } = verdict;
  const ok = problems.length === 0 && reports.every((report) => report.ok);
  if (context.json) printJson(context, { ok, origin, problems, ...(chains.length > 0 && { chains }), runs: reports });
  else print(context, verdict, ok);
  return ok ? EXIT.ok : EXIT.failure;
}

function headFrom(text: string, runOrFile: string | undefined): Sha256 {
  if (runOrFile === undefined)
    throw badInput('--head is the hash of a commit of one run: give the run, or a file of it.');
  const parsed = Sha256.safeParse(text.toLowerCase());
  if (!parsed.success) throw badInput(`--head: ${parsed.error.issues[0]?.message ?? 'a hash is needed'}.`);
  return parsed.data;
}

async function verifyOne(context: CliContext, runOrFile: string, head: Sha256 | undefined): Promise<Verdict> {
  const { origin, runs, problems } = await openSource(context, runOrFile, 'VERIFIED');
  if (head !== undefined && runs.size > 1) {
    throw badInput(`--head is the hash of a commit of one run; ${runOrFile} has ${runs.size}.`);
  }
  const reports: AuditReport[] = [];
  for (const [runId, records] of runs) {
    const parentId = forkOf(records)?.parent.runId;
    const stored = origin === 'log' && parentId !== undefined && !runs.has(parentId);
    const parent = stored ? await withBus(context, (nc) => parentRecords(nc, parentId)) : runs.get(parentId ?? '');
    const report = auditRun(runId, records, parent);
    if (head !== undefined) reports.push(withHead(report, records, head));
    else if (origin === 'log' || !report.ok) reports.push(report);
    else reports.push({ ...report, unchecked: [...report.unchecked, FILE_ALONE] });
  }
  return { origin, reports, chains: [], problems: problems.map((problem) => `${runOrFile}, ${problem}`) };
}

/** Undefined when the log does not have it any more. */
async function parentRecords(nc: NatsConnection, runId: string): Promise<readonly ExportRecord[] | undefined> {
  return (await isKnownRun(nc, runId)) ? loadRunRecords(nc, runId) : undefined;
}

/** One run in memory at a time, however long the log. */
function verifyAll(context: CliContext): Promise<Verdict> {
  return withBus(context, async (nc) => {
    await recordAccess(nc, { what: 'VERIFIED' });
    const reports: AuditReport[] = [];
    const inbox = await loadInbox(nc);
    for (const runId of (await runIds(nc)).sort()) {
      if (context.signal.aborted) break;
      reports.push(await auditStored(nc, runId, inbox));
    }
    const problems: string[] = [];
    const chains: CheckedStream[] = [];
    for (const stream of CHAIN_STREAMS) {
      if (context.signal.aborted) break;
      chains.push(await auditStream(nc, stream, (problem) => problems.push(problem)));
    }
    return { origin: 'log', reports, problems, chains };
  });
}

async function auditStream(
  nc: NatsConnection,
  stream: ChainStream,
  say: (problem: string) => unknown,
): Promise<CheckedStream> {
  const checked = { stream, chains: 0, commits: 0, ok: true };
  for await (const { subject, records } of chainsOf(nc, stream)) {
    checked.chains++;
    checked.commits += records.length;
    for (const { number, message } of auditChain(stream, subject, records)) {
      checked.ok = false;
      say(`${stream} ${subject}${number === null ? '' : `, commit ${number}`}: ${message}`);
    }
  }
  return checked;
}

async function auditStored(nc: NatsConnection, runId: string, inbox: readonly ExportRecord[]): Promise<AuditReport> {
  const records = await loadRecords(nc, runId, inbox);
  const parentId = forkOf(records)?.parent.runId;
  return auditRun(runId, records, parentId === undefined ? undefined : await parentRecords(nc, parentId));
}

/** With the hash of a commit that somebody knows from elsewhere, nothing before it can have been changed without its being seen. */
function withHead(report: AuditReport, records: readonly ExportRecord[], head: Sha256): AuditReport {
  const { runId, ok, findings, unchecked, commits } = report;
  const own = records.filter(({ stream }) => stream === 'RUNS');
  const number = own.findIndex(({ commit }) => hashOf(commit) === head) + 1;
  if (number === 0) {
    const message = `no commit has the hash ${head}: this is another history, or its end is missing`;
    return { ...report, ok: false, findings: [...findings, { runId, stream: 'RUNS', number: null, message }] };
  }
  if (!ok) return report;
  const rest = number < commits ? `; the ${commits - number} after it are consistent, no more` : '';
  return { ...report, unchecked: [...unchecked, `commit ${number} of ${commits} has the hash that you know${rest}`] };
}

function hashOf(commit: unknown): unknown {
  return typeof commit === 'object' && commit !== null && 'hash' in commit ? commit.hash : undefined;
}

function print({ terminal }: CliContext, { origin, reports, problems, chains }: Verdict, ok: boolean): void {
  const paint = paintFor(terminal);
  for (const report of reports) {
    const word = report.ok ? paint('green', 'ok ') : paint('red', 'BAD');
    terminal.out(`${word} ${report.runId}  ${summaryOf(report)}`);
    for (const finding of report.findings) terminal.out(`    ${cleanLine(findingText(finding))}`);
    for (const note of whoseText(report)) terminal.out(`    ${cleanLine(note)}`);
    for (const note of report.unchecked) terminal.out(`    ${cleanLine(note)}`);
  }
  for (const { stream, chains: count, commits, ok: isSound } of chains) {
    const word = isSound ? paint('green', 'ok ') : paint('red', 'BAD');
    terminal.out(`${word} ${stream}  ${counted(count, 'chain')}, ${counted(commits, 'commit')}`);
  }
  for (const problem of problems) terminal.out(`${paint('red', 'BAD')} ${cleanLine(problem)}`);
  if (reports.length === 1 && problems.length === 0 && chains.length === 0) return;
  const bad = reports.filter((report) => !report.ok).length;
  const word = origin === 'file' ? 'consistent' : 'verified';
  const streams = chains.filter((checked) => !checked.ok).map(({ stream }) => `, ${stream} bad`);
  const faults = `${bad} of ${counted(reports.length, 'run')} bad${streams.join('')}`;
  terminal.out(ok ? `${counted(reports.length, 'run')} ${word}` : faults);
}

/** Of a run that somebody has signed in: how its requests and verbs are proven, and what to compare the logs of its actors with. */
function whoseText({ proofs, actors }: AuditReport): string[] {
  const { signed, vouched, unsigned } = proofs;
  if (signed + vouched === 0) return [];
  const why = [
    ...(unsigned.published === 0 ? [] : [`${unsigned.published} published on a subject of its own`]),
    ...(unsigned.old === 0 ? [] : [`${unsigned.old} from before proofs were kept`]),
  ];
  const heads = Object.entries(actors).map(([id, head]) => `${id} ${head.slice(0, 16)}`);
  return [
    `who did it: ${signed} signed, ${vouched} vouched for, ${unsigned.published + unsigned.old} unsigned${why.length === 0 ? '' : ` (${why.join(', ')})`}`,
    ...(heads.length === 0 ? [] : [`heads of its actors: ${heads.join(', ')}`]),
  ];
}

function summaryOf({ commits, events, attempts, plans, words, status, outcome, head }: AuditReport): string {
  const state = [status ?? 'unreadable', outcome].filter((word) => word !== null).join(' ');
  const sizes = [counted(commits, 'commit'), counted(events, 'event'), counted(attempts, 'attempt')];
  const all = [
    ...sizes,
    ...(plans === 0 ? [] : [counted(plans, 'plan')]),
    ...(words === 0 ? [] : [`${counted(words, 'word')} about its entries`]),
  ].join(', ');
  return `${state}, ${all}, head ${head?.slice(0, 16) ?? 'none'}`;
}
