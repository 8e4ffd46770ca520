import type { NatsConnection } from '@nats-io/transport-node';
import { attemptStories, commandsOf, metricsOf, planSayingsOf, planStepsOf, renderReport } from '#libs/constellation';
import { query, QueryRefusedError } from '#libs/messaging';
import { AttemptCommit, ID_PATTERN, type RunId } from '#proto';
import type { ExportRecord } from '#libs/audit';
import { recordAccess, withBus } from '../../bus/index.js';
import { cleanText, EXIT, type ExitCode, printJson, type CliContext } from '../../terminal/index.js';
import { writeWhole } from '../../files/index.js';
import { commitsOf, plansOf, stateAt, openOneRun } from '../../sources/index.js';

/** The Markdown report of a run: from the logging service, or from an exported file without any service. As JSON its figures come with it. */
export async function report(context: CliContext, runOrFile: string, file?: string): Promise<ExitCode> {
  const { runId, markdown } = await markdownOf(context, runOrFile);
  if (file !== undefined) await writeWhole(file, markdown);
  if (context.json) {
    const metrics = metricsOf(commitsOf(...(await openOneRun(context, runOrFile, 'REPORT_READ'))));
    printJson(context, file === undefined ? { runId, markdown, metrics } : { runId, file, metrics });
  } else
    context.terminal.out(
      file === undefined ? cleanText(markdown).trimEnd() : `report of run ${runId} written to ${file}`,
    );
  return EXIT.ok;
}

async function markdownOf(context: CliContext, runOrFile: string): Promise<{ runId: RunId; markdown: string }> {
  if (ID_PATTERN.test(runOrFile)) {
    const written = await withBus(context, async (nc) => {
      await recordAccess(nc, { what: 'REPORT_READ', runId: runOrFile });
      return writtenReport(nc, runOrFile);
    });
    if (written !== undefined) return written;
  }
  const [runId, records] = await openOneRun(context, runOrFile, 'REPORT_READ');
  return { runId, markdown: reportFrom(runId, records) };
}

/** As the logging service has it; undefined where it is larger than a message may be: then it is made here, out of the log. */
async function writtenReport(nc: NatsConnection, runId: RunId) {
  try {
    return await query(nc, 'logging', 'report', { runId });
  } catch (error) {
    if (error instanceof QueryRefusedError && error.refusal.code === 'TOO_LARGE') return undefined;
    throw error;
  }
}

/** Pure: the same records give the same report for ever. */
function reportFrom(runId: RunId, records: readonly ExportRecord[]): string {
  const commits = commitsOf(runId, records);
  const attempts = records.flatMap(({ stream, commit }) => {
    const parsed = stream === 'ATTEMPTS' ? AttemptCommit.safeParse(commit) : undefined;
    return parsed?.success === true ? [parsed.data] : [];
  });
  const plans = plansOf(records);
  return renderReport({
    run: stateAt(runId, commits),
    commits,
    commands: commandsOf(attempts),
    attempts: attemptStories(attempts),
    plans: planStepsOf(plans),
    sayings: planSayingsOf(plans),
  });
}
