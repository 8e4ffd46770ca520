// The words with which a person asks for something and looks at what was asked for.
import { InvalidArgumentError } from 'commander';
import { meantName, parseWith, RunLabels, RunStatus } from '#proto';
import { commaList, define, spanMs, WATCHED, wholeFrom, type CliCommand } from '../../terminal/index.js';
import type { RunsWords } from './runs.runner.js';
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
    'orrery submit -f plan.yaml --label team=db --label env=prod',
  ])
    .argument('[goal]', 'what is to be done, in words; or the name of a runbook with key=value parameters')
    .option('-f, --file <file>', 'request or bare constellation, JSON or YAML; "-" is standard input')
    .option('--request-id <id>', 'the same id is the same run for ever, however often it is sent')
    .option('--label <key=value>', 'a label to find the run by; may be said again', labelFrom, {})
    .option('--wait', 'show the run until it ends; the exit code says how')
    .option(...withOutput)
    .option('--judge', 'the policy judges every exact command, also those of a runbook or a file')
    .option('--plan', 'make the plan and show it; nothing starts until "orrery resume"')
    .changing()
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
  define(program, 'runs', 'list the runs, newest first, or those that you look for', [
    'orrery runs --limit 10',
    'orrery runs --status failed,waiting --since 2d',
    'orrery runs --by anna --device web-1',
    'orrery runs --status running,waiting --watch',
    'orrery runs --label team=db --label env',
    'orrery runs --id 0k3j --json',
    'orrery runs --before 0k3j4m7n8p9q0r1s2t3v4w5x6y',
  ])
    .option('--status <list>', `one of these: ${STATUSES.join(', ')}`, statusesFrom, [])
    .offering('--status', STATUSES)
    .option('--by <actor>', 'asked by this person or system')
    .option('--device <id>', 'that were on this device')
    .option('--since <span>', 'asked within the last minutes, hours or days: 90m, 12h, 7d', spanMs)
    .option('--label <key[=value]>', 'with this label, or this key; may be said again', collected)
    .option('--id <beginning>', 'whose id begins so')
    .option('--before <run>', 'older than this one: the next page')
    .option('--limit <n>', 'at most this many', wholeFrom(1, LIMIT_MAX), 50)
    .option(...WATCHED)
    .does(async (context, words: RunsWords) => (await import('./runs.runner.js')).listRuns(context, words));
}

const STATUSES = RunStatus.options.map((status) => status.toLowerCase());

const collected = (text: string, before: readonly string[] = []): string[] => [...before, text];

function labelFrom(text: string, before: RunLabels): RunLabels {
  const [key = '', ...value] = text.split('=');
  const parsed = parseWith(RunLabels, { [key]: value.join('=') });
  if (parsed.ok) return { ...before, ...parsed.value };
  const words = value.length === 0 ? 'It is written as key=value, for example team=db.' : undefined;
  throw new InvalidArgumentError(words ?? `${parsed.issues.map(({ message }) => message).join('; ')}.`);
}

function statusesFrom(text: string, before: readonly RunStatus[]): RunStatus[] {
  return commaList(text, before).map((word) => {
    const status = RunStatus.options.find((one) => one === word.toUpperCase());
    if (status !== undefined) return status;
    const meant = meantName(word, STATUSES);
    const mean = meant === undefined ? '' : ` Did you mean ${meant}?`;
    throw new InvalidArgumentError(`There is ${STATUSES.join(', ')}.${mean}`);
  });
}
