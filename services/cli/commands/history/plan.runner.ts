import { constellationOf, diffConstellations, foldRun, isTerminal, type Run } from '#libs/constellation';
import { plannerStateOf } from '#libs/planner';
import type { RunCommit, RunId, TaskConstellation } from '#proto';
import { withBus, fleetIfKnown } from '../../bus/index.js';
import { badInput, EXIT, type ExitCode, printJson, type CliContext, tell } from '../../terminal/index.js';
import {
  hasSelectors,
  printReach,
  reachOf,
  planningStoryOf,
  constellationText,
  diffText,
  planningSummary,
  planningText,
} from '../../text/index.js';
import { commitsOf, plansOf, unknownRun, oneRunOf, openOneRun, openSource } from '../../sources/index.js';

/** What the planner of a run was asked, thought and proposed, and the plan as it stands. Out of the run's own records. */
export async function plan(context: CliContext, runOrFile: string): Promise<ExitCode> {
  const source = await openSource(context, runOrFile);
  const [runId, records] = oneRunOf(source, runOrFile);
  const commits = commitsOf(runId, records);
  const plans = plansOf(records);
  const run = foldRun(commits);
  if (run === undefined) throw unknownRun(runId);
  const constellation = constellationOf(run);
  // Where it may run is asked of the fleet as it is, so only of a run that is in the log and goes on.
  const asksFleet = source.origin === 'log' && !isTerminal(run) && hasSelectors(run);
  const fleet = asksFleet ? await withBus(context, fleetIfKnown) : undefined;
  if (context.json) {
    const steps = plans.flatMap(({ at, events }) => events.map((event) => ({ at, ...event })));
    const { revision, phase, scope } = run;
    const story = planningStoryOf(plans, commits);
    const reach = fleet === undefined || fleet === null ? null : reachOf(run, fleet);
    const state = plannerStateOf(run);
    printJson(context, { runId, status: phase, state, revision, constellation, scope, reach, steps, ...story });
    return EXIT.ok;
  }
  const { terminal } = context;
  const lines = planningText(plans, commits, terminal);
  if (lines.length === 0) terminal.err(`Run ${runId} has not been planned or edited.`);
  else terminal.out(lines.join('\n'));
  if (plans.length > 0) terminal.out(`\n${plannerStateOf(run)}: ${planningSummary(plans)}`);
  if (constellation !== null) terminal.out(`\n${constellationText(constellation, terminal)}`);
  if (!isTerminal(run)) printReach(terminal, run, fleet);
  return EXIT.ok;
}

export interface DiffOptions {
  /** Revisions of one run; the first and the last when absent. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/** What differs between two revisions of the plan of one run, or between the plans of two runs. */
export async function diff(
  context: CliContext,
  first: string,
  second: string | undefined,
  { from, to }: DiffOptions,
): Promise<ExitCode> {
  const [runId, records] = await openOneRun(context, first);
  const commits = commitsOf(runId, records);
  const [before, after] =
    second === undefined
      ? [at(runId, commits, from ?? firstRevision(commits)), at(runId, commits, to)]
      : [at(runId, commits, from), await ofOther(context, second, to)];
  const difference = diffConstellations(before, after);
  return tell(context, difference, diffText(difference, context.terminal).join('\n'));
}

async function ofOther(
  context: CliContext,
  runOrFile: string,
  revision: number | undefined,
): Promise<TaskConstellation> {
  const [runId, records] = await openOneRun(context, runOrFile);
  return at(runId, commitsOf(runId, records), revision);
}

/** The plan as a revision has it; as it stands when absent. */
function at(runId: RunId, commits: readonly RunCommit[], revision: number | undefined): TaskConstellation {
  let found: Run | undefined;
  for (let count = commits.length; count > 0 && found === undefined; count--) {
    const run = foldRun(commits.slice(0, count));
    if (revision === undefined || (run?.revision ?? 0) <= revision) found = run;
  }
  const constellation = found === undefined ? null : constellationOf(found);
  if (found === undefined || constellation === null) throw badInput(`Run ${runId} has no constellation yet.`);
  if (revision !== undefined && found.revision !== revision) {
    throw badInput(`Run ${runId} has no revision ${revision}; its last one is ${foldRun(commits)?.revision ?? 0}.`);
  }
  return constellation;
}

function firstRevision(commits: readonly RunCommit[]): number | undefined {
  for (const { events } of commits) {
    for (const event of events) {
      if (event.type === 'CONSTELLATION_MODIFIED' || event.type === 'RUN_FORKED') return event.data.revision;
    }
  }
  return undefined;
}
