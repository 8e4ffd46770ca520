// The words with which a person changes a run that is there.
import type { Command } from 'commander';
import { define, wholeFrom, type Run } from '../../terminal/index.js';

const TRY_SECONDS_MAX = 600;
const TRY_SECONDS = 30;

/** What every command takes that changes a run. */
interface ControlWords {
  id?: string;
  timeout: number;
  wait?: boolean;
}

const sending = ({ id, timeout, wait }: ControlWords) => ({ id, timeoutMs: timeout * 1_000, wait });
const control = () => import('./control.runner.js');

export function defineControl(program: Command, run: Run): void {
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

export function defineEdits(program: Command, run: Run): void {
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
        const { propose } = await import('./propose.runner.js');
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
