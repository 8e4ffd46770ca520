import { emptyRun, evolveCommit, foldEvents, viewOf, type Run } from '#libs/constellation';
import { parseWith, PlanCommit, RunCommit, sentenceOf, type RunId, type RunView } from '#proto';
import type { ExportRecord } from '#libs/audit';
import { cleanLine, badInput, failure, type CliError } from '../terminal/index.js';

/** A run after one more commit, or after a part of the last one: what a replay shows. */
export interface ReplayMoment {
  readonly commit: RunCommit;
  /** The events of the commit that are folded in; not all of them at the end of `--at`. */
  readonly events: RunCommit['events'];
  readonly run: Run;
}

/** The commits of a run out of its records. A run that cannot be read is not shown in parts: `verify` says what is wrong. */
export function commitsOf(runId: RunId, records: readonly ExportRecord[]): RunCommit[] {
  return records.flatMap(({ stream, commit }) => {
    if (stream !== 'RUNS') return [];
    const parsed = parseWith(RunCommit, commit);
    if (parsed.ok) return [parsed.value];
    throw failure(`Run ${runId} cannot be read: ${parsed.issues.map(sentenceOf).join('; ')}. Try: orrery verify`);
  });
}

/** The planner's commits among records; what cannot be read is not told here: `verify` says what is wrong. */
export function plansOf(records: readonly ExportRecord[]): PlanCommit[] {
  return records.flatMap(({ stream, commit }) => {
    const parsed = stream === 'PLANS' ? PlanCommit.safeParse(commit) : undefined;
    return parsed?.success === true ? [parsed.data] : [];
  });
}

/** The run as it evolved, commit by commit, up to the event `at`. A pure fold: no device and no service is asked. */
export function* momentsOf(
  runId: RunId,
  commits: readonly RunCommit[],
  at = Number.MAX_SAFE_INTEGER,
): Generator<ReplayMoment> {
  let run: Run = emptyRun(runId);
  for (const commit of commits) {
    const events = commit.events.filter(({ sequence }) => sequence <= at);
    if (events.length === 0) return;
    const whole = events.length === commit.events.length;
    run = whole ? evolveCommit(run, commit) : { ...foldEvents(run, events), sequence: events.at(-1)?.sequence ?? 0 };
    yield { commit, events, run };
  }
}

/** The state at event `at`, or at the end as it is to be read at `now` (milliseconds since the epoch). */
export function stateAt(
  runId: RunId,
  commits: readonly RunCommit[],
  { at, now }: { readonly at?: number | undefined; readonly now?: number } = {},
): RunView {
  const last = commits.at(-1)?.events.at(-1)?.sequence ?? 0;
  if (at !== undefined && at > last) throw badInput(`--at: run ${runId} has ${last} events`);
  let run: Run | undefined;
  for (const moment of momentsOf(runId, commits, at)) run = moment.run;
  if (run === undefined) throw unknownRun(runId);
  return viewOf(run, at === undefined ? now : undefined);
}

export function unknownRun(runId: string): CliError {
  return badInput(`There is no run ${cleanLine(runId)}.`);
}
