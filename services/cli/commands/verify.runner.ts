import type { NatsConnection } from '@nats-io/transport-node';
import { forkOf } from '../audit/audit-fork.js';
import { auditRun, type AuditReport } from '../audit/audit-run.js';
import type { ExportRecord } from '../audit/export-file.js';
import { findingText } from '../audit/findings.js';
import { withBus } from '../bus.client.js';
import { cleanLine } from '../clean.js';
import { badInput } from '../errors.js';
import { EXIT, type ExitCode } from '../exit-codes.js';
import { isKnown, loadRecords, loadRunRecords, runIds } from '../log.client.js';
import { openSource } from '../sources.client.js';
import { paintFor } from '../style.js';
import { printJson, type CliContext } from '../terminal.js';
import { counted } from '../timeline.js';

interface Verdict {
  readonly reports: readonly AuditReport[];
  readonly problems: readonly string[];
}

/** Checks a run, a file, or everything, and says precisely what is not as it was written. */
export async function verify(context: CliContext, runOrFile: string | undefined, all: boolean): Promise<ExitCode> {
  if (all === (runOrFile !== undefined)) throw badInput('Give a run, a file, or --all.');
  const verdict = runOrFile === undefined ? await verifyAll(context) : await verifyOne(context, runOrFile);
  const { reports, problems } = verdict;
  const ok = problems.length === 0 && reports.every((report) => report.ok);
  if (context.json) printJson(context, { ok, problems, runs: reports });
  else print(context, verdict, ok);
  return ok ? EXIT.ok : EXIT.failure;
}

async function verifyOne(context: CliContext, runOrFile: string): Promise<Verdict> {
  const { origin, runs, problems } = await openSource(context, runOrFile);
  const reports: AuditReport[] = [];
  for (const [runId, records] of runs) {
    const parentId = forkOf(records)?.parent.runId;
    const stored = origin === 'log' && parentId !== undefined && !runs.has(parentId);
    const parent = stored ? await withBus(context, (nc) => parentRecords(nc, parentId)) : runs.get(parentId ?? '');
    reports.push(auditRun(runId, records, parent));
  }
  return { reports, problems: problems.map((problem) => `${runOrFile}, ${problem}`) };
}

/** Undefined when the log does not have it any more. */
async function parentRecords(nc: NatsConnection, runId: string): Promise<readonly ExportRecord[] | undefined> {
  return (await isKnown(nc, runId)) ? loadRunRecords(nc, runId) : undefined;
}

/** One run in memory at a time, however long the log. */
function verifyAll(context: CliContext): Promise<Verdict> {
  return withBus(context, async (nc) => {
    const reports: AuditReport[] = [];
    for (const runId of (await runIds(nc)).sort()) {
      if (context.signal.aborted) break;
      reports.push(await auditStored(nc, runId));
    }
    return { reports, problems: [] };
  });
}

export async function auditStored(nc: NatsConnection, runId: string): Promise<AuditReport> {
  const records = await loadRecords(nc, runId);
  const parentId = forkOf(records)?.parent.runId;
  return auditRun(runId, records, parentId === undefined ? undefined : await parentRecords(nc, parentId));
}

function print({ terminal }: CliContext, { reports, problems }: Verdict, ok: boolean): void {
  const paint = paintFor(terminal);
  for (const report of reports) {
    const word = report.ok ? paint('green', 'ok ') : paint('red', 'BAD');
    terminal.out(`${word} ${report.runId}  ${summaryOf(report)}`);
    for (const finding of report.findings) terminal.out(`    ${cleanLine(findingText(finding))}`);
    for (const note of report.unchecked) terminal.out(`    ${cleanLine(note)}`);
  }
  for (const problem of problems) terminal.out(`${paint('red', 'BAD')} ${cleanLine(problem)}`);
  if (reports.length === 1 && problems.length === 0) return;
  const bad = reports.filter((report) => !report.ok).length;
  terminal.out(ok ? `${counted(reports.length, 'run')} verified` : `${bad} of ${counted(reports.length, 'run')} bad`);
}

function summaryOf({ commits, events, attempts, plans, status, outcome, head }: AuditReport): string {
  const state = [status ?? 'unreadable', outcome].filter((word) => word !== null).join(' ');
  const sizes = [counted(commits, 'commit'), counted(events, 'event'), counted(attempts, 'attempt')];
  const all = [...sizes, ...(plans === 0 ? [] : [counted(plans, 'plan')])].join(', ');
  return `${state}, ${all}, head ${head?.slice(0, 16) ?? 'none'}`;
}
