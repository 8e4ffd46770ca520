import { counted } from '#libs/constellation';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NatsConnection } from '@nats-io/transport-node';
import { readSecret } from '#libs/keys';
import { query, QueryRefusedError, QueryUnavailableError, submitRequest, type CommandSigner } from '#libs/messaging';
import { subjects, type RunId, type RunView } from '#proto';
import { auditRun, type AuditReport, parseExport, renderExport, findingText } from '#libs/audit';
import {
  cleanLine,
  failure,
  EXIT,
  exitCodeOfRun,
  type ExitCode,
  paintFor,
  printJson,
  type CliContext,
} from '../../terminal/index.js';
import { withBusAt } from '../../bus/index.js';
import { printAnswer, watchRun } from '../../live/index.js';
import { loadRecords } from '../../sources/index.js';
import { writeWhole } from '../../files/index.js';
import { type Endpoints, homeAt, type Home, makeDir } from '../../home/index.js';
import { lockHome } from '../../processes/index.js';
import { EmbeddedSystem } from '../../system/index.js';

const REQUEST_ID = 'fleet-health-demo';
/** A runbook that is shipped: it needs no model. */
const GOAL = 'fleet-health';
/** Limits for what hangs: what has just been started may still be busy with that. */
const ANSWER_MS_MAX = 60_000;
const PROJECTED_MS_MAX = 60_000;
const POLL_MS = 50;

/** The whole system for one request, in a private home that is gone afterwards; the report and the proof stay. */
export async function demo(context: CliContext, keep: boolean): Promise<ExitCode> {
  const directory = await mkdtemp(join(tmpdir(), 'orrery-demo-'));
  // PostgreSQL runs as another user when we are root, and has to pass through.
  if (process.getuid?.() === 0) await chmod(directory, 0o711);
  const home = homeAt(join(directory, 'home'));
  const say = (text: string): void => (context.json ? context.terminal.err(text) : context.terminal.out(text));
  let result: DemoResult | undefined;
  try {
    result = await demoIn(context, { home, directory, say });
  } finally {
    if (result !== undefined && !keep) await rm(home.root, { recursive: true, force: true });
    else say(`the data of the demo is in ${home.root}`);
  }
  printResult(context, result);
  return result.audit.ok ? exitCodeOfRun(result.view) : EXIT.failure;
}

interface Stage {
  readonly home: Home;
  readonly directory: string;
  readonly say: (text: string) => void;
}

async function demoIn(context: CliContext, stage: Stage): Promise<DemoResult> {
  const { home, say } = stage;
  const { now, signal } = context;
  await makeDir(home.root, process.getuid?.() === 0 ? 0o711 : 0o700);
  const unlock = await lockHome(home, process.pid, now());
  try {
    const env = privateEnvironment(context.env);
    const options = { home, env, devices: 2, replicas: {}, now, signal, say, showToken: () => {} };
    const { system, endpoints } = await EmbeddedSystem.start(options);
    try {
      return await show(context, stage, endpoints);
    } finally {
      await system.stop();
      say('everything is stopped');
    }
  } finally {
    await unlock();
  }
}

/** Free ports, and nothing of another system. */
function privateEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { ORRERY_NATS_URL: _url, ORRERY_NATS_SEED_FILE: _seed, ORRERY_DATABASE_URL: _database, ...rest } = env;
  const ports = {
    ORRERY_NATS_PORT: '0',
    ORRERY_POSTGRES_PORT: '0',
    ORRERY_CONSOLE_PORT: '0',
    ORRERY_AIP_PORT: '0',
    ORRERY_MCP_PORT: '0',
  };
  return { ...rest, ...ports };
}

async function show(context: CliContext, stage: Stage, endpoints: Endpoints): Promise<DemoResult> {
  const { home, directory, say } = stage;
  const seedFile = home.seedFile('cli');
  const onBus = <T>(work: (nc: NatsConnection) => Promise<T>): Promise<T> =>
    withBusAt({ url: endpoints.nats, seedFile }, work);
  const seed = await readSecret(seedFile);
  if (seed === undefined) throw failure(`There is no key in ${seedFile}.`);
  const signer = { seed, now: context.now };
  const ask = () => onBus((nc) => askForGoal(nc, signer));
  say(
    `\nasking for the goal "${GOAL}" on ${subjects.submit}, signed by the first operator; a runbook plans it, without a model`,
  );
  const runId = await ask();
  say(`accepted as run ${runId}\n`);
  const view = await onBus((nc) => watchRun(context, nc, runId, { manner: context.json ? 'quiet' : 'shown' }));
  if (view === undefined) throw failure('Stopped before the run ended.');
  if (!context.json) printAnswer(context, view);
  const again = await ask();
  if (again !== runId) throw failure(`The same request became the run ${again}, not ${runId}.`);
  say(`\nthe same request once more: the same run ${again}`);
  const reportFile = join(directory, 'report.md');
  const exportFile = join(directory, 'run.jsonl');
  const audit = await onBus(async (nc) => {
    await writeWhole(reportFile, await projectedReport(nc, runId));
    await writeWhole(exportFile, renderExport(await loadRecords(nc, runId)));
    return auditFile(runId, exportFile);
  });
  return { view, audit, reportFile, exportFile };
}

/** What anybody does who asks for a run; sent again until it is known what became of it. */
async function askForGoal(nc: NatsConnection, signer: CommandSigner): Promise<RunId> {
  const request = JSON.stringify({ requestId: REQUEST_ID, goal: GOAL });
  const outcome = await submitRequest(nc, request, { ...signer, deadlineMs: ANSWER_MS_MAX, waitsForTaker: true });
  if (outcome.answer === 'accepted') return outcome.runId;
  if (outcome.answer === 'rejected') throw failure(`The request was refused: ${outcome.reason.message}`);
  throw failure('Nobody answered the request.');
}

/** The projection follows the log; the report is asked for when it has seen the end of the run. */
async function projectedReport(nc: NatsConnection, runId: RunId): Promise<string> {
  const deadline = performance.now() + PROJECTED_MS_MAX;
  while (!(await isProjected(nc, runId))) {
    if (performance.now() > deadline) throw failure('The logging service did not catch up with the log.');
    await sleep(POLL_MS);
  }
  return (await query(nc, 'logging', 'report', { runId }, { timeoutMs: ANSWER_MS_MAX })).markdown;
}

/** Who does not answer in time is busy with catching up. */
async function isProjected(nc: NatsConnection, runId: RunId): Promise<boolean> {
  try {
    return (await query(nc, 'logging', 'run', { runId })).run.endedAt !== null;
  } catch (error) {
    if (error instanceof QueryRefusedError && error.refusal.code === 'NOT_FOUND') return false;
    if (error instanceof QueryUnavailableError && error.mayComeBack) return false;
    throw error;
  }
}

/** From the file, as an auditor would. */
async function auditFile(runId: RunId, file: string): Promise<AuditReport> {
  const { records, problems } = parseExport(await readFile(file, 'utf8'));
  if (problems[0] !== undefined) throw failure(`${file}: ${problems[0]}`);
  return auditRun(runId, records);
}

interface DemoResult {
  readonly view: RunView;
  readonly audit: AuditReport;
  readonly reportFile: string;
  readonly exportFile: string;
}

function printResult(context: CliContext, { view, audit, reportFile, exportFile }: DemoResult): void {
  const { terminal, json } = context;
  const { runId, status, outcome } = view;
  if (json) return printJson(context, { runId, outcome, verified: audit.ok, report: reportFile, export: exportFile });
  const paint = paintFor(terminal);
  for (const finding of audit.findings) terminal.out(cleanLine(findingText(finding)));
  const sizes = [
    counted(audit.commits, 'commit'),
    counted(audit.events, 'event'),
    counted(audit.attempts, 'attempt'),
    counted(audit.plans, 'plan'),
  ];
  terminal.out('');
  terminal.out(
    'To have goals in your own words planned, give "orrery up" a model: OPENAI_BASE_URL, OPENAI_API_KEY, ORRERY_MODEL',
  );
  terminal.out('(docs/models.md). Without one: orrery runbooks');
  terminal.out('');
  terminal.out(`run ${runId}: ${status} ${outcome ?? ''}`.trimEnd());
  terminal.out(`${audit.ok ? paint('green', 'verified') : paint('red', 'BAD')}: ${sizes.join(', ')} in ${exportFile}`);
  terminal.out(`report: ${reportFile}`);
}
