// The words with which a person decides what an agent waits for.
import type { Command } from 'commander';
import { define, wholeFrom, type Run } from '../../terminal/index.js';

const TRY_SECONDS_MAX = 600;
const TRY_SECONDS = 30;
const LIMIT_MAX = 1_000;
const GRANT_MINUTES_MAX = 8 * 60;

interface DecideWords {
  id?: string;
  timeout: number;
  note?: string;
}

const sending = ({ id, timeout, note }: DecideWords) => ({ id, timeoutMs: timeout * 1_000, note });
const approvals = () => import('./approvals.runner.js');
const decide = () => import('./decide.runner.js');

export function defineApprovals(program: Command, run: Run): void {
  const list = define(program, 'approvals', 'what agents wait for a person to decide', [
    'orrery approvals',
    'orrery approvals --all --json',
  ])
    .option('--all', 'also what is decided')
    .option('--limit <n>', 'at most this many', wholeFrom(1, LIMIT_MAX), 100)
    .action((options: { all?: boolean; limit: number }, command: Command) =>
      run(command, async (context) =>
        (await approvals()).listApprovals(context, { all: options.all ?? false, limit: options.limit }),
      ),
    );
  define(list, 'show', 'one with the exact command, why it is asked and what the agent was thinking', [
    'orrery approvals show 0k3j….web.1.2.0',
  ])
    .argument('<approval>', 'as listed')
    .action((id: string, _: object, command: Command) =>
      run(command, async (context) => (await approvals()).showApproval(context, id)),
    );
  defineApprove(program, run);
  defineDecision(program, 'reject', 'no: the agent is told, and may try something else; takes a grant back, too', [
    'orrery reject 0k3j….web.1.2.0 --note "not during office hours"',
  ]).action((id: string, options: DecideWords, command: Command) =>
    run(command, async (context) => (await decide()).reject(context, id, sending(options))),
  );
  defineDecision(program, 'answer', 'answer what an agent has asked', ['orrery answer 0k3j….web.1.3.0 "port 8443"'])
    .argument('<text>')
    .action((id: string, text: string, options: DecideWords, command: Command) =>
      run(command, async (context) => (await decide()).answer(context, id, { ...sending(options), text })),
    );
}

interface ApproveWords extends DecideWords {
  command?: string;
  arguments?: string;
  grant?: number;
}

function defineApprove(program: Command, run: Run): void {
  defineDecision(program, 'approve', 'yes: the command runs as it is shown, or as you change it', [
    'orrery approve 0k3j….web.1.2.0',
    'orrery approve 0k3j….web.1.2.0 --command "systemctl reload nginx"',
    'orrery approve 0k3j….web.1.2.0 --grant 10',
  ])
    .option('--command <line>', 'run this command line instead; the policy judges it again')
    .option('--arguments <json>', 'call the tool with these arguments instead')
    .option(
      '--grant <minutes>',
      'let the same command run on the same device in this run without asking again',
      wholeFrom(1, GRANT_MINUTES_MAX),
    )
    .action((id: string, options: ApproveWords, command: Command) =>
      run(command, async (context) => {
        const { command: line, arguments: json, grant } = options;
        const grantMs = grant === undefined ? undefined : grant * 60_000;
        return (await decide()).approve(context, id, { ...sending(options), line, json, grantMs });
      }),
    );
}

function defineDecision(program: Command, name: string, description: string, examples: readonly string[]): Command {
  return define(program, name, description, examples)
    .argument('<approval>', 'as listed by "orrery approvals"')
    .option('--note <text>', 'recorded with it; the agent is told')
    .option('--id <id>', 'of an earlier try whose outcome is unknown: then it is the same command')
    .option('--timeout <s>', 'how long to go on trying', wholeFrom(1, TRY_SECONDS_MAX), TRY_SECONDS);
}
