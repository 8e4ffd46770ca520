import { define, RUN_OR_FILE, wholeFrom, type CliCommand } from '../../terminal/index.js';

/** What was planned, and why; what differs between plans. */
export function definePlans(program: CliCommand): void {
  define(program, 'plan', 'what the planner was asked, thought and proposed, the plan as it stands, where it may run', [
    'orrery plan 0k3j…',
    'orrery plan run.jsonl --json',
  ])
    .argument('<run|file>', RUN_OR_FILE)
    .does(async (context, source: string) => (await import('./plan.runner.js')).plan(context, source));
  define(program, 'diff', 'what differs between revisions of the plan of a run, or between the plans of two runs', [
    'orrery diff 0k3j…',
    'orrery diff 0k3j… --from 1 --to 2',
    'orrery diff 0k3j… 0k3k…',
  ])
    .argument('<run|file>', RUN_OR_FILE)
    .argument('[other]', 'another run or file; without it the first and the last revision are compared')
    .option(
      '--from <n>',
      'revision of the first one; without it the first revision, or with another run the last',
      wholeFrom(0),
    )
    .option('--to <n>', 'revision of the other one; without it the last', wholeFrom(0))
    .does(async (context, first: string, second: string | undefined, options: { from?: number; to?: number }) =>
      (await import('./plan.runner.js')).diff(context, first, second, options),
    );
}
