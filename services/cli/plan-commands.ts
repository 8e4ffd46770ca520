import type { Command } from 'commander';
import { define, wholeFrom, type Run } from './command-definition.js';

/** What was planned, and why; what differs between plans. */
export function definePlans(program: Command, run: Run): void {
  define(program, 'plan', 'what the planner of a run was asked, thought and proposed, and the plan as it stands', [
    'orrery plan 0k3j…',
    'orrery plan run.jsonl --json',
  ])
    .argument('<run|file>')
    .action((source: string, _: object, command: Command) =>
      run(command, async (context) => (await import('./commands/plan.runner.js')).plan(context, source)),
    );
  define(program, 'diff', 'what differs between revisions of the plan of a run, or between the plans of two runs', [
    'orrery diff 0k3j…',
    'orrery diff 0k3j… --from 1 --to 2',
    'orrery diff 0k3j… 0k3k…',
  ])
    .argument('<run|file>')
    .argument('[other]', 'another run or file; without it the first and the last revision are compared')
    .option('--from <n>', 'revision of the first one', wholeFrom(0))
    .option('--to <n>', 'revision of the other one', wholeFrom(0))
    .action((first: string, second: string | undefined, options: { from?: number; to?: number }, command: Command) =>
      run(command, async (context) =>
        (await import('./commands/plan.runner.js')).diff(context, first, second, options),
      ),
    );
}
