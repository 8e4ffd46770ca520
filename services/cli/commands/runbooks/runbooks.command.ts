// The words of `orrery runbooks`.
import { DEFAULTS, LIMITS } from '#proto';
import { define, RUN_OR_FILE, wholeFrom, type CliCommand } from '../../terminal/index.js';
import type { ApproveRunbookOptions } from './approvals.runner.js';
import type { SaveRunbookOptions } from './runbooks.runner.js';

const runner = () => import('./runbooks.runner.js');
const approvals = () => import('./approvals.runner.js');
const DAY_MS = 86_400_000;

/** `orrery runbooks` and what stands below it. */
export function defineRunbooks(program: CliCommand): void {
  const runbooks = define(program, 'runbooks', 'list the reviewed plans that goals are planned with, without a model', [
    'orrery runbooks',
    'orrery runbooks --json',
    'orrery runbooks show fleet-health',
    'orrery submit "fleet-health" --wait',
  ]).does(async (context) => (await runner()).listRunbooks(context));
  define(runbooks, 'ls', 'list them, like "orrery runbooks" alone', ['orrery runbooks ls']).does(async (context) =>
    (await runner()).listRunbooks(context),
  );
  define(runbooks, 'show', 'what a runbook takes, and the plan that it makes of these parameters now', [
    'orrery runbooks show fleet-health',
    'orrery runbooks show restart-service service=nginx device=web-1 --json',
  ])
    .argument('<name>', 'as listed')
    .argument('[key=value...]', 'parameters; without one its default is taken')
    .does(async (context, name: string, words: string[]) => (await runner()).showRunbook(context, name, words));
  define(runbooks, 'approve', 'look at what a runbook would run with these values and, with --yes, approve that once', [
    'orrery runbooks approve restart-service service=nginx device=web-1',
    'orrery runbooks approve restart-service service=nginx device=web-1 --yes --days 30',
    'orrery runbooks approve --revoke 01JD… --reason "nginx is gone"',
  ])
    .argument('[name]', 'as listed')
    .argument('[key=value...]', 'parameters; without one its default is taken')
    .option('--yes', 'approve what is shown, signed with your key; a changed byte or value is another content')
    .option('--content <hash>', 'only if the content is still this one')
    .option(
      '--days <n>',
      'how long the word counts',
      wholeFrom(1, LIMITS.contentApprovalMsMax / DAY_MS),
      DEFAULTS.contentApprovalDays,
    )
    .option('--revoke <id>', "an approval, anybody's: it counts no more")
    .option('--reason <text>', 'recorded with --revoke')
    .changing()
    .does(async (context, name: string | undefined, words: string[], options: ApproveRunbookOptions) =>
      (await approvals()).approveRunbook(context, name, words, options),
    );
  define(runbooks, 'approvals', 'who has approved which content, until when, and what of it counts', [
    'orrery runbooks approvals',
    'orrery runbooks approvals --json',
  ]).does(async (context) => (await approvals()).listContentApprovals(context));
  define(runbooks, 'check', 'whether a file is a runbook, and where it is not; needs no system', [
    'orrery runbooks check prompts/runbooks/fleet-health.yaml',
    'orrery runbooks check - --json < nightly.yaml',
  ])
    .argument('<file>', '"-" is standard input')
    .does(async (context, file: string) => (await runner()).checkRunbook(context, file));
  define(runbooks, 'save', 'write the plan of a run that has ended as a runbook, to be reviewed and changed', [
    'orrery runbooks save 0k3j… --name nightly-report -o nightly-report.yaml',
    'orrery runbooks save run.jsonl --name nightly-report',
  ])
    .argument('<run|file>', RUN_OR_FILE)
    .requiredOption('--name <name>', 'lower-case letters, digits and "-"')
    .option('-o, --output <file>', 'instead of standard output')
    .option(
      '--allow-secret-looking',
      'save it although something in it looks like a secret: you have read those fields',
    )
    .does(async (context, source: string, options: SaveRunbookOptions) =>
      (await runner()).saveRunbook(context, source, options),
    );
}
