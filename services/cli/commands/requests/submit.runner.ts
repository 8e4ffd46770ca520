import type { NatsConnection } from '@nats-io/transport-node';
import { ulid } from 'ulid';
import {
  constellationOf,
  emptyRun,
  evolveCommit,
  isTerminal,
  judgingText,
  validateConstellation,
  viewOf,
} from '#libs/constellation';
import { query, QueryRefusedError, QueryUnavailableError, submitRequest } from '#libs/messaging';
import type { GoalMatch, RunId, RunLabels, TaskConstellation } from '#proto';
import { withSignedBus, fleetIfKnown } from '../../bus/index.js';
import {
  badInput,
  cannotStore,
  failure,
  unreachable,
  cleanLine,
  EXIT,
  exitCodeOfRun,
  type ExitCode,
  printJson,
  type CliContext,
  tell,
  tellNext,
} from '../../terminal/index.js';
import { readRequestFile, sentencesOf } from '../../files/index.js';
import { mayLeave, waitForEnd } from '../../live/index.js';
import { followRun } from '../../sources/index.js';
import {
  hasSelectors,
  printReach,
  reachOf,
  constellationText,
  finalAnswerText,
  stepsOfBegun,
} from '../../text/index.js';
import { parseRequestText, type RequestFile } from './request-file.js';

/** A person waits: what nobody knows after so many tries they may send again themselves. */
const TRIES = 3;
const AWAY = 'The connection to the bus is broken.';
const NOBODY = 'The orchestrator is not running: nobody takes requests on this bus.';
const SILENCE = 'The orchestrator did not answer, and whether the request was taken is not known.';

export interface SubmitOptions {
  readonly goal?: string | undefined;
  readonly file?: string | undefined;
  readonly requestId?: string | undefined;
  readonly wait?: boolean | undefined;
  /** Beside those of the file; of the same key these count. */
  readonly label?: RunLabels | undefined;
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
  const work = async (nc: NatsConnection, seed: string): Promise<ExitCode> => {
    if (goal !== null) await refuseUnplannable(nc, goal);
    const wanted = { ...(options.plan && { plan: 'approve' }), ...(options.judge && { judge: 'all' }) };
    const isMore = Object.keys(wanted).length > 0;
    const labels = { ...request.labels, ...options.label };
    const asked = {
      ...sent,
      ...(isMore && { options: { ...request.options, ...wanted } }),
      ...(Object.keys(labels).length > 0 && { labels }),
    };
    const { runId, requestId } = await send(context, nc, { request: asked, requestId: request.requestId, seed });
    mayLeave(context, runId);
    if (options.plan) return showPlan(context, nc, { runId, requestId });
    const judging = await judgingOf(context, nc, runId);
    const said = [
      `run ${runId} accepted (request ${requestId})`,
      ...(judging === undefined ? [] : [`judged: ${judging}`]),
    ];
    if (!options.wait) {
      tell(context, { runId, requestId, ...(judging && { judging }) }, said.join('\n'));
      tellNext(context, stepsOfBegun(runId));
      return EXIT.ok;
    }
    if (!context.json) context.terminal.err(said.join('\n'));
    return waitForEnd(context, nc, runId, { output: options.output ? {} : undefined });
  };
  return withSignedBus(context, work, { follows: options.wait === true || options.plan === true });
}

/** Which commands will be judged, and why, as far as it is known; undefined where none is, and for a key that may not read runs. */
async function judgingOf({ signal }: CliContext, nc: NatsConnection, runId: RunId): Promise<string | undefined> {
  try {
    for await (const { commit } of followRun(nc, runId, signal)) {
      return judgingText(evolveCommit(emptyRun(runId), commit));
    }
  } catch {
    return undefined; // it is accepted all the same
  }
  return undefined;
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
  { now, leaving }: CliContext,
  nc: NatsConnection,
  { request, requestId, seed }: { readonly request: object; readonly requestId: string; readonly seed: string },
): Promise<{ runId: RunId; requestId: string }> {
  leaving?.(`Whether the request was taken is not known; the same again: --request-id ${requestId}`);
  const outcome = await submitRequest(nc, JSON.stringify(request), { seed, now, tries: TRIES });
  leaving?.('');
  if (outcome.answer === 'accepted') return outcome;
  const again = ` The same again: --request-id ${requestId}`;
  if (outcome.answer === 'unknown') {
    const { met, reason, mayBeTaken, cause } = outcome;
    const why = reason?.message ?? (met === 'nobody' ? NOBODY : met === 'away' ? AWAY : SILENCE);
    throw unreachable(mayBeTaken ? `${why}${again}` : why, cause);
  }
  const { code, message, issues } = outcome.reason;
  if (code === 'STORAGE_FULL') throw cannotStore({ code, message: `${message}${again}` });
  if (code === 'UNAUTHORIZED') throw failure(message);
  // A refusal with one issue often says it in its message already.
  const more = issues.filter((issue) => !message.includes(issue.message));
  throw badInput(more.length === 0 ? message : `${message} ${sentencesOf(more)}`, issues);
}
