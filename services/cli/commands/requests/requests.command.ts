// The words with which a person asks for something and looks at what was asked for.
import { define, wholeFrom, type CliCommand } from '../../terminal/index.js';
import type { SubmitOptions } from './submit.runner.js';

const LIMIT_MAX = 1_000;

export function defineRequests(program: CliCommand): void {
  const withOutput = ['--output', 'also what the tasks write while they run'] as const;
  define(program, 'submit', 'publish a request: a goal in words, or a constellation from a file', [
    'orrery submit -f deploy/examples/fleet-health.json --wait',
    'orrery submit -f plan.yaml --request-id backup-2026-11-20 --json',
    'orrery submit "Report the hosts with less than 10 % free disk space" --wait',
    'orrery submit "disk-space-alert threshold=80" --plan',
    'orrery submit "restart-service service=nginx device=web-1" --judge --wait',
  ])
    .argument('[goal]', 'what is to be done, in words; or the name of a runbook with key=value parameters')
    .option('-f, --file <file>', 'request or bare constellation, JSON or YAML; "-" is standard input')
    .option('--request-id <id>', 'the same id is the same run for ever, however often it is sent')
    .option('--wait', 'show the run until it ends; the exit code says how')
    .option(...withOutput)
    .option('--judge', 'the policy judges every exact command, also those of a runbook or a file')
    .option('--plan', 'make the plan and show it; nothing starts until "orrery resume"')
    .does(async (context, goal: string | undefined, options: SubmitOptions) =>
      (await import('./submit.runner.js')).submit(context, { ...options, goal }),
    );
  define(program, 'watch', 'show a run live until it ends', [
    'orrery watch 0k3j… --output',
    'orrery watch 0k3j… | tee run.log',
  ])
    .argument('<run>')
    .option(...withOutput)
    .does(async (context, id: string, { output = false }: { output?: boolean }) =>
      (await import('./watch.runner.js')).watch(context, id, output),
    );
}

export function defineRuns(program: CliCommand): void {
  define(program, 'runs', 'list the runs, newest first', ['orrery runs --limit 10', 'orrery runs --json'])
    .option('--limit <n>', 'at most this many', wholeFrom(1, LIMIT_MAX), 50)
    .does(async (context, options: { limit: number }) =>
      (await import('./runs.runner.js')).listRuns(context, options.limit),
    );
}
