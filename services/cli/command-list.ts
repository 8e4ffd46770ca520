// Every command with its words, its help and its examples. What a command does is loaded when it is called, so that help
// and the commands that work on files do not wait for the libraries of the others.
import { InvalidArgumentError, Option, type Command } from 'commander';
import { defineApprovals } from './approval-commands.js';
import { defineArtifacts } from './artifact-commands.js';
import { define, wholeFrom, type Run } from './command-definition.js';
import { defineClients, defineDevices } from './device-commands.js';
import { defineExperience } from './experience-commands.js';
import { definePlans } from './plan-commands.js';
import { defineMcp } from './mcp-commands.js';
import { definePolicy } from './policy-commands.js';
import { defineRunbooks } from './runbook-commands.js';

const LIMIT_MAX = 1_000;
const DEVICES_MAX = 32;
const REPLICAS_MAX = 16;
const TRY_SECONDS_MAX = 600;
const TRY_SECONDS = 30;

export function defineCommands(program: Command, run: Run): void {
  defineSystem(program, run);
  defineRequests(program, run);
  defineControl(program, run);
  defineEdits(program, run);
  defineApprovals(program, run);
  defineAudit(program, run);
  definePlans(program, run);
  defineDevices(program, run);
  defineClients(program, run);
  defineDeadLetters(program, run);
  defineArtifacts(program, run);
  definePolicy(program, run);
  defineRunbooks(program, run);
  defineExperience(program, run);
  defineMcp(program, run);
}

function defineSystem(program: Command, run: Run): void {
  define(program, 'demo', 'start everything, run a runbook on two local devices, verify it, stop; needs no model', [
    'orrery demo',
  ])
    .option('--keep', 'keep the data of the system that was started')
    .action((options: { keep?: boolean }, command: Command) =>
      run(command, async (context) => (await import('./system/demo.runner.js')).demo(context, options.keep ?? false)),
    );
  define(program, 'up', 'start the embedded system: NATS, PostgreSQL, all services, local devices', [
    'orrery up --devices 2',
    'ORRERY_HOME=/tmp/second ORRERY_CONSOLE_PORT=0 orrery up --replicas orchestrator=3',
  ])
    .option('--devices <n>', 'local devices to enrol and run (web-1, db-1, dev-3, ...)', wholeFrom(0, DEVICES_MAX), 1)
    .option('--replicas <service=n>', 'several processes of one service; may be repeated', replicas, {})
    .option('--detach', 'return when everything is ready; stop with "orrery down"')
    .action((options: { devices: number; replicas: Record<string, number>; detach?: boolean }, command: Command) =>
      run(command, async (context) => {
        const { up } = await import('./system/up.runner.js');
        return up(context, { ...options, detach: options.detach ?? false });
      }),
    );
  define(program, 'down', 'stop the embedded system of ORRERY_HOME', ['orrery down']).action(
    (_: object, command: Command) =>
      run(command, async (context) => (await import('./system/down.runner.js')).down(context)),
  );
  define(program, 'status', 'what of the embedded system is running, and where', ['orrery status --json']).action(
    (_: object, command: Command) =>
      run(command, async (context) => (await import('./system/status.runner.js')).status(context)),
  );
}

interface SubmitWords {
  file?: string;
  requestId?: string;
  wait?: boolean;
  output?: boolean;
  plan?: boolean;
}

function defineRequests(program: Command, run: Run): void {
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
        const { submit } = await import('./commands/submit.runner.js');
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
      run(command, async (context) => (await import('./commands/watch.runner.js')).watch(context, id, output)),
    );
  define(
    program,
    'output',
    'follow what the tasks of a run write, until it ends; or the whole output of a task of a run that is over',
    ['orrery output 0k3j…', 'orrery output 0k3j… backup > backup.log', 'orrery output 0k3j… --json'],
  )
    .argument('<run>')
    .argument('[task]', 'of this task only')
    .action((id: string, task: string | undefined, _: object, command: Command) =>
      run(command, async (context) => (await import('./commands/output.runner.js')).output(context, id, task)),
    );
  define(program, 'runs', 'list the runs, newest first', ['orrery runs --limit 10', 'orrery runs --json'])
    .option('--limit <n>', 'at most this many', wholeFrom(1, LIMIT_MAX), 50)
    .action((options: { limit: number }, command: Command) =>
      run(command, async (context) => (await import('./commands/runs.runner.js')).listRuns(context, options.limit)),
    );
}

/** What every command takes that changes a run. */
interface ControlWords {
  id?: string;
  timeout: number;
  wait?: boolean;
}

const sending = ({ id, timeout, wait }: ControlWords) => ({ id, timeoutMs: timeout * 1_000, wait });
const control = () => import('./commands/control.runner.js');

function defineControl(program: Command, run: Run): void {
  const reason = ['--reason <text>', 'recorded with it'] as const;
  defineVerb(program, 'cancel', 'end a run: what is pending is cancelled, what runs is stopped; outputs are kept', [
    'orrery cancel 0k3j… --reason "wrong device"',
    'orrery cancel 0k3j… --wait',
  ])
    .option(...reason)
    .option('--wait', 'show the run until it ends; the exit code says how (2 when it was cancelled)')
    .action((id: string, options: ControlWords & { reason?: string }, command: Command) =>
      run(command, async (context) =>
        (await control()).cancel(context, id, { ...sending(options), reason: options.reason }),
      ),
    );
  defineVerb(program, 'pause', 'start nothing new in a run; what runs goes on', [
    'orrery pause 0k3j… --reason "maintenance of the database"',
  ])
    .option(...reason)
    .action((id: string, options: ControlWords & { reason?: string }, command: Command) =>
      run(command, async (context) =>
        (await control()).pause(context, id, { ...sending(options), reason: options.reason }),
      ),
    );
  defineVerb(program, 'resume', 'go on with a run that was paused, or start a plan that waits for approval', [
    'orrery resume 0k3j…',
  ]).action((id: string, options: ControlWords, command: Command) =>
    run(command, async (context) => (await control()).resume(context, id, sending(options))),
  );
  defineVerb(program, 'retry', 'try a task again that failed or was cancelled; one that runs is stopped first', [
    'orrery retry 0k3j… disk-any --wait',
  ])
    .argument('<task>')
    .option('--wait', 'show the run until it ends; the exit code says how')
    .action((id: string, task: string, options: ControlWords, command: Command) =>
      run(command, async (context) => (await control()).retry(context, id, { ...sending(options), task })),
    );
}

interface ProposeWords extends ControlWords {
  file: string;
  editId?: string;
  try?: number;
  baseRevision?: number;
}

function defineEdits(program: Command, run: Run): void {
  defineVerb(program, 'fork', 'begin a new run where this one stood after an event; prints its id', [
    'orrery fork 0k3j… --at 12 --wait',
  ])
    .requiredOption('--at <n>', 'as it stood after this event, or after the last whole commit before it', wholeFrom(1))
    .option('--wait', 'show the new run until it ends; the exit code says how')
    .action((id: string, options: ControlWords & { at: number }, command: Command) =>
      run(command, async (context) => (await control()).fork(context, id, { ...sending(options), at: options.at })),
    );
  defineVerb(program, 'propose', 'change the constellation of a run, all edits or none', [
    'orrery propose 0k3j… -f deploy/examples/rollout-edits.yaml',
    'my-planner | orrery propose 0k3j… -f - --edit-id e1 --try 2 --base-revision 3 --json',
  ])
    .requiredOption('-f, --file <file>', 'a proposal or an array of edits, JSON or YAML; "-" is standard input')
    .option('--edit-id <id>', 'the round of edits it answers; without it, it is an edit of yours')
    .option('--try <n>', 'counts the proposals of the round', wholeFrom(1))
    .option('--base-revision <n>', 'the revision it was made for; another one refuses it', wholeFrom(0))
    .action((id: string, options: ProposeWords, command: Command) =>
      run(command, async (context) => {
        const { propose } = await import('./commands/propose.runner.js');
        const { file, editId, baseRevision, try: number } = options;
        const said = Object.entries({ editId, try: number, baseRevision }).filter(([, value]) => value !== undefined);
        return propose(context, id, { ...sending(options), file, proposal: Object.fromEntries(said) });
      }),
    );
}

/** A command that changes a run: it is sent with one id until it has its answer. */
function defineVerb(program: Command, name: string, description: string, examples: readonly string[]): Command {
  return define(program, name, description, examples)
    .argument('<run>')
    .option('--id <id>', 'of an earlier try whose outcome is unknown: then it is the same command')
    .option('--timeout <s>', 'how long to go on trying', wholeFrom(1, TRY_SECONDS_MAX), TRY_SECONDS);
}

function defineAudit(program: Command, run: Run): void {
  define(program, 'show', 'the state of a run, now or at any event', [
    'orrery show 0k3j… --at 7',
    'orrery show run.jsonl --json',
  ])
    .argument('<run|file>')
    .option('--at <n>', 'after this event', wholeFrom(1))
    .action((source: string, options: { at?: number }, command: Command) =>
      run(command, async (context) => (await import('./commands/show.runner.js')).show(context, source, options.at)),
    );
  define(program, 'steps', 'what agents thought, proposed, were allowed and did in the tasks of a run', [
    'orrery steps 0k3j…',
    'orrery steps run.jsonl disk --json',
  ])
    .argument('<run|file>')
    .argument('[task]', 'of this task only')
    .action((source: string, task: string | undefined, _: object, command: Command) =>
      run(command, async (context) => (await import('./commands/steps.runner.js')).steps(context, source, task)),
    );
  define(program, 'replay', 'print the constellation of a run as it evolved, from its events alone', [
    'orrery replay 0k3j… --speed 10',
    'orrery replay run.jsonl --at 12',
  ])
    .argument('<run|file>')
    .option('--at <n>', 'stop after this event', wholeFrom(1))
    .option('--speed <x>', 'times as fast as it happened; without it nothing waits', factor)
    .action((source: string, options: { at?: number; speed?: number }, command: Command) =>
      run(command, async (context) => (await import('./commands/replay.runner.js')).replay(context, source, options)),
    );
  define(program, 'verify', 'check that nothing of a run was altered, left out or made up', [
    'orrery verify 0k3j…',
    'orrery verify run.jsonl --head 9f86d081…',
    'orrery verify --all --json',
  ])
    .argument('[run|file]')
    .option('--all', 'every run of the log')
    .option('--head <hash>', 'the hash of a commit that the run must have, as a report or an earlier check named it')
    .action((source: string | undefined, options: { all?: boolean; head?: string }, command: Command) =>
      run(command, async (context) => {
        const { verify } = await import('./commands/verify.runner.js');
        return verify(context, source, { all: options.all ?? false, head: options.head });
      }),
    );
  define(program, 'export', 'write a run as it is stored, one JSON object per line, or as a constellation of UFO', [
    'orrery export 0k3j… -o run.jsonl',
    'orrery export 0k3j… --as ufo -o constellation.json',
  ])
    .argument('<run>', 'for UFO also a file that was exported')
    .option('-o, --output <file>', 'instead of standard output')
    .addOption(new Option('--as <form>', 'as stored, or in the form of UFO').choices(['jsonl', 'ufo']).default('jsonl'))
    .action((source: string, options: { output?: string; as: 'jsonl' | 'ufo' }, command: Command) =>
      run(command, async (context) => {
        const { exportAsUfo, exportRun } = await import('./commands/export.runner.js');
        return (options.as === 'ufo' ? exportAsUfo : exportRun)(context, source, options.output);
      }),
    );
  define(program, 'report', 'the Markdown report of a run', [
    'orrery report 0k3j… -o report.md',
    'orrery report run.jsonl',
    'orrery report 0k3j… --json   # its figures, too',
  ])
    .argument('<run|file>')
    .option('-o, --output <file>', 'instead of standard output')
    .action((source: string, options: { output?: string }, command: Command) =>
      run(command, async (context) =>
        (await import('./commands/report.runner.js')).report(context, source, options.output),
      ),
    );
}

function defineDeadLetters(program: Command, run: Run): void {
  const dlq = define(program, 'dlq', 'messages that no service could handle', ['orrery dlq ls', 'orrery dlq show 3']);
  define(dlq, 'ls', 'list them', ['orrery dlq ls --json']).action((_: object, command: Command) =>
    run(command, async (context) => (await import('./commands/dlq.runner.js')).listDeadLetters(context)),
  );
  define(dlq, 'show', 'one with its payload', ['orrery dlq show 3'])
    .argument('<id>', 'as listed', wholeFrom(1))
    .action((id: number, _: object, command: Command) =>
      run(command, async (context) => (await import('./commands/dlq.runner.js')).showDeadLetter(context, id)),
    );
  define(dlq, 'retry', 'hand one to its service again', ['orrery dlq retry 3'])
    .argument('<id>', 'as listed', wholeFrom(1))
    .action((id: number, _: object, command: Command) =>
      run(command, async (context) => (await import('./commands/dlq.runner.js')).retryDeadLetter(context, id)),
    );
  define(dlq, 'drop', "delete for good (needs the administrator's key)", ['orrery dlq drop 3 4'])
    .argument('<id...>', 'as listed', (text: string, before: number[] | undefined) => [
      ...(before ?? []),
      wholeFrom(1)(text),
    ])
    .action((ids: number[], _: object, command: Command) =>
      run(command, async (context) => (await import('./commands/dlq.runner.js')).dropDeadLetters(context, ids)),
    );
}

function factor(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isFinite(value) && value > 0) return value;
  throw new InvalidArgumentError('A number greater than 0 is needed.');
}

function replicas(text: string, before: Readonly<Record<string, number>>): Record<string, number> {
  const [, service = '', count = ''] = /^([a-z-]+)=(.*)$/u.exec(text) ?? [];
  if (service === '') throw new InvalidArgumentError('It is written as service=number, for example orchestrator=3.');
  return { ...before, [service]: wholeFrom(1, REPLICAS_MAX)(count) };
}
