import type { NatsConnection } from '@nats-io/transport-node';
import { ulid } from 'ulid';
import {
  constellationOf,
  emptyRun,
  evolveCommit,
  isTerminal,
  validateConstellation,
  viewOf,
} from '#libs/constellation';
import { query, QueryRefusedError, QueryUnavailableError, submitRequest, type CommandSigner } from '#libs/messaging';
import type { GoalMatch, RunId, TaskConstellation } from '#proto';
import { withSignedBus, fleetIfKnown } from '../../bus/index.js';
import {
  badInput,
  failure,
  unreachable,
  cleanLine,
  EXIT,
  exitCodeOfRun,
  type ExitCode,
  printJson,
  type CliContext,
  tell,
} from '../../terminal/index.js';
import { readRequestFile, sentencesOf } from '../../files/index.js';
import { waitForEnd } from '../../live/index.js';
import { followRun } from '../../sources/index.js';
import { hasSelectors, printReach, reachOf, constellationText, finalAnswerText } from '../../text/index.js';
import { parseRequestText, type RequestFile } from './request-file.js';

/** A person waits: what nobody knows after so many tries they may send again themselves. */
const TRIES = 3;
const NOBODY = 'The orchestrator is not running: nobody takes requests on this bus.';
const SILENCE = 'The orchestrator did not answer; the request may be sent again with the same --request-id.';

export interface SubmitOptions {
  readonly goal?: string | undefined;
  readonly file?: string | undefined;
  readonly requestId?: string | undefined;
  readonly wait?: boolean | undefined;
  /** While it waits, also what the tasks write. */
  readonly output?: boolean | undefined;
  /** Make the plan and show it; nothing starts before somebody says so. */
  readonly plan?: boolean | undefined;
  /** Every exact command is judged, whoever wrote it. */
  readonly judge?: boolean | undefined;
}

export async function submit(context: CliContext, options: SubmitOptions): Promise<ExitCode> {
  if (options.output && !options.wait) throw badInput('--output shows what is written while it waits: add --wait.');
  if (options.plan && (options.wait || options.output)) {
    throw badInput('--plan shows the plan and starts nothing: leave --wait and --output out.');
  }
  const { request, sent } = await requestOf(context, options);
  const { goal, constellation } = request;
  if (options.plan && constellation !== null) return showGiven(context, constellation);
  return withSignedBus(context, async (nc, seed) => {
    if (goal !== null) await refuseUnplannable(nc, goal);
    const wanted = { ...(options.plan && { plan: 'approve' }), ...(options.judge && { judge: 'all' }) };
    const isMore = Object.keys(wanted).length > 0;
    const asked = isMore ? { ...sent, options: { ...request.options, ...wanted } } : sent;
    const { runId, requestId } = await send(nc, asked, { seed, now: context.now });
    if (options.plan) return showPlan(context, nc, { runId, requestId });
    if (!options.wait) {
      return tell(context, { runId, requestId }, `run ${runId} accepted (request ${requestId})`);
    }
    if (!context.json) context.terminal.err(`run ${runId} accepted (request ${requestId})`);
    return waitForEnd(context, nc, runId, { output: options.output ? {} : undefined });
  });
}

/** A plan that was given is not made: it is shown as it is, and nothing is sent. */
function showGiven(context: CliContext, constellation: TaskConstellation): ExitCode {
  return tell(context, { constellation }, constellationText(constellation, context.terminal));
}

/** Who could not be helped is told at once, in one sentence. What the planner does not answer in time the orchestrator will. */
async function refuseUnplannable(nc: NatsConnection, goal: string): Promise<void> {
  let match: GoalMatch;
  try {
    match = await query(nc, 'planner', 'match', { goal });
  } catch (error) {
    if (error instanceof QueryUnavailableError) return;
    if (error instanceof QueryRefusedError) throw badInput(error.refusal.message, error.refusal.issues);
    throw error;
  }
  if (match.kind === 'none') throw badInput(match.message);
}

/** Until the plan is made, or cannot be. */
async function showPlan(
  context: CliContext,
  nc: NatsConnection,
  { runId, requestId }: { readonly runId: RunId; readonly requestId: string },
): Promise<ExitCode> {
  const { terminal, json, signal } = context;
  if (!json) terminal.err(`run ${runId} accepted (request ${requestId}); planning`);
  let run = emptyRun(runId);
  for await (const { commit, behind } of followRun(nc, runId, signal)) {
    run = evolveCommit(run, commit);
    if (behind > 0) continue;
    const constellation = constellationOf(run);
    if (isTerminal(run)) {
      const view = viewOf(run);
      if (json) printJson(context, { runId, requestId, status: run.phase, reason: run.reason, constellation });
      else
        terminal.out(
          [
            `run ${runId} ${run.phase}: ${cleanLine(run.reason ?? 'nothing is to be done')}`,
            ...finalAnswerText(view, terminal),
          ].join('\n'),
        );
      return exitCodeOfRun(view);
    }
    if (constellation === null || run.phase !== 'PAUSED') continue;
    const fleet = hasSelectors(run) ? await fleetIfKnown(nc) : undefined;
    if (json) {
      const { phase: status, revision, scope } = run;
      const reach = fleet === undefined || fleet === null ? null : reachOf(run, fleet);
      printJson(context, { runId, requestId, status, revision, constellation, scope, reach });
    } else {
      terminal.out(constellationText(constellation, terminal));
      printReach(terminal, run, fleet);
      terminal.out(
        `\nNothing runs yet. Go on: orrery resume ${runId}   Drop it: orrery cancel ${runId}   Why so: orrery plan ${runId}`,
      );
    }
    return EXIT.ok;
  }
  return EXIT.failure;
}

/** What is wrong with a request is said before anybody is asked: it needs no bus. */
async function requestOf(
  context: CliContext,
  { goal, file, requestId }: SubmitOptions,
): Promise<Extract<RequestFile, { ok: true }>> {
  if ((goal === undefined) === (file === undefined)) throw badInput('Give a goal or a file (-f), one of them.');
  const id = requestId ?? `cli-${ulid(context.now()).toLowerCase()}`;
  const text = file === undefined ? JSON.stringify({ goal }) : await readRequestFile(file);
  const parsed = parseRequestText(text, id, requestId !== undefined);
  const where = file === undefined || file === '-' ? '' : `${file}: `;
  if (!parsed.ok) throw badInput(`${where}${parsed.message}`, parsed.issues);
  const { constellation } = parsed.request;
  const prefix = parsed.bare ? '' : 'constellation.';
  const issues = constellation === null ? [] : validateConstellation(constellation);
  if (issues.length === 0) return parsed;
  const placed = issues.map(({ path, message }) => ({ path: `${prefix}${path}`, message }));
  throw badInput(`${where}${sentencesOf(placed)}`, placed);
}

/** Answers when the run is recorded; throws the refusal. */
async function send(
  nc: NatsConnection,
  request: object,
  signer: CommandSigner,
): Promise<{ runId: RunId; requestId: string }> {
  const outcome = await submitRequest(nc, JSON.stringify(request), { ...signer, tries: TRIES });
  if (outcome.answer === 'accepted') return outcome;
  if (outcome.answer === 'unknown') {
    if (outcome.reason !== undefined) throw unreachable(outcome.reason.message);
    const why = outcome.met === 'nobody' ? NOBODY : SILENCE;
    throw unreachable(why, outcome.cause);
  }
  const { code, message, issues } = outcome.reason;
  if (code === 'UNAUTHORIZED') throw failure(message);
  // A refusal with one issue often says it in its message already.
  const more = issues.filter((issue) => !message.includes(issue.message));
  throw badInput(more.length === 0 ? message : `${message} ${sentencesOf(more)}`, issues);
}
