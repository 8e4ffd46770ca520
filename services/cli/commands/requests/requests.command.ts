// The words with which a person asks for something and looks at what was asked for.
import type { Command } from 'commander';
import { define, wholeFrom, type RunAction } from '../../terminal/index.js';

const LIMIT_MAX = 1_000;

interface SubmitWords {
  file?: string;
  requestId?: string;
  wait?: boolean;
  output?: boolean;
  plan?: boolean;
}

export function defineRequests(program: Command, run: RunAction): void {
  const withOutput = ['--output', 'also what the tasks write while they run'] as const;
  define(program, 'submit', 'publish a request: a goal in words, or a constellation from a file', [
    'orrery submit -f deploy/examples/fleet-health.json --wait',
    'orrery submit -f plan.yaml --request-id backup-2026-11-20 --json',
    'orrery submit "Report the hosts with less than 10 % free disk space" --wait',
    'orrery submit "disk-space-alert threshold=80" --plan',
  ])
    .argument('[goal]', 'what is to be done, in words; or the name of a runbook with key=value parameters')
    .option('-f, --file <file>', 'request or bare constellation, JSON or YAML; "-" is standard input')
    .option('--request-id <id>', 'the same id is the same run for ever, however often it is sent')
    .option('--wait', 'show the run until it ends; the exit code says how')
    .option(...withOutput)
    .option('--plan', 'make the plan and show it; nothing starts until "orrery resume"')
    .action((goal: string | undefined, options: SubmitWords, command: Command) =>
      run(command, async (context) => {
        const { submit } = await import('./submit.runner.js');
        const { file, requestId, wait = false, output = false, plan = false } = options;
        return submit(context, { goal, file, requestId, wait, output, plan });
      }),
    );
  define(program, 'watch', 'show a run live until it ends', [
    'orrery watch 0k3j… --output',
    'orrery watch 0k3j… | tee run.log',
  ])
    .argument('<run>')
    .option(...withOutput)
    .action((id: string, { output = false }: { output?: boolean }, command: Command) =>
      run(command, async (context) => (await import('./watch.runner.js')).watch(context, id, output)),
    );
}

export function defineRuns(program: Command, run: RunAction): void {
  define(program, 'runs', 'list the runs, newest first', ['orrery runs --limit 10', 'orrery runs --json'])
    .option('--limit <n>', 'at most this many', wholeFrom(1, LIMIT_MAX), 50)
    .action((options: { limit: number }, command: Command) =>
      run(command, async (context) => (await import('./runs.runner.js')).listRuns(context, options.limit)),
    );
}
