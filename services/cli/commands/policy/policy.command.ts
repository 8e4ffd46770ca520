// The words of `orrery policy`.
import { define, type CliCommand } from '../../terminal/index.js';
import type { ExplainOptions } from './explain.runner.js';

export function definePolicy(program: CliCommand): void {
  const policy = define(
    program,
    'policy',
    'what the command policy lets an agent run, what it asks a person, and why',
    ['orrery policy explain "systemctl restart nginx"', 'orrery policy check policy.yaml'],
  );
  const file = [
    '--policy <file>',
    'this policy file (default: policy.yaml of ORRERY_HOME; if absent, the built-in)',
  ] as const;
  define(policy, 'explain', 'what would become of a command line that an agent asks for; nothing is run', [
    `orrery policy explain 'find /var/log -name "*.gz" -mtime +30 -delete'`,
    'orrery policy explain "df -h | sort" --policy ./policy.yaml --json',
    'orrery policy explain "systemctl restart nginx" --device web-1',
    'orrery policy explain --stdin --json < command-lines.txt',
  ])
    .argument('[command-line]', 'one text, as a shell would be given it')
    .option('--stdin', 'every line of standard input is a command line')
    .option('--device <id>', 'ask the running system what holds for this device')
    .option(...file)
    .does(async (context, line: string | undefined, options: ExplainOptions) =>
      (await import('./explain.runner.js')).explainPolicy(context, { ...options, line }),
    );
  define(policy, 'check', 'whether a file is a policy, and where it is not', [
    'orrery policy check policy.yaml',
    'orrery policy show | orrery policy check -',
  ])
    .argument('<file>', '"-" is standard input')
    .does(async (context, name: string) => (await import('./policy.runner.js')).checkPolicy(context, name));
  define(policy, 'show', 'the policy that holds, as a file to begin with', [
    'orrery policy show > policy.yaml',
    'orrery policy show --policy policy.yaml --json',
  ])
    .option(...file)
    .does(async (context, options: { policy?: string }) =>
      (await import('./policy.runner.js')).showPolicy(context, options.policy),
    );
}
