// The words with which a person changes a run that is there: each verb is a row of VERBS, and most are made of it alone.
import { Option } from 'commander';
import { type OwnVerb, type RunVerb, VERB_DECISIONS, VERB_PATHS, VERB_ROWS } from '#proto';
import { readRequestFile } from '../../files/index.js';
import { define, wholeFrom, type CliCommand } from '../../terminal/index.js';
import { defineBoard } from './board.command.js';

const TRY_SECONDS_MAX = 600;
const TRY_SECONDS = 30;
const GRANT_MINUTES_MAX = 8 * 60;

/** What every command takes that changes a run. */
interface ControlWords {
  id?: string;
  timeout: number;
  wait?: boolean;
}

const sending = ({ id, timeout, wait }: ControlWords) => ({ id, timeoutMs: timeout * 1_000, wait });

/** The verbs that are said to a run. */
export function defineControl(program: CliCommand): void {
  for (const { verb } of VERB_PATHS) {
    if (verb === 'BOARD_SET') defineBoard(program);
    else if (verb !== 'BOARD_DELETE') defineVerb(program, verb);
  }
}

/** The verbs that are said about an approval. */
export function defineDecisions(program: CliCommand): void {
  for (const { verb } of VERB_DECISIONS) defineVerb(program, verb);
}

function defineVerb(program: CliCommand, verb: RunVerb): void {
  const { command: words, route } = VERB_ROWS[verb];
  const { name, what, examples, argument, wait } = words;
  const isAboutApproval = 'decision' in route;
  const command = define(program, name, what, examples).changing();
  const fields = fieldsOf(verb);
  if (isAboutApproval) command.argument('<approval>', 'as listed by "orrery approvals"');
  else command.forOneRun().argument('<run>');
  if (argument !== undefined) command.argument(argument.word);
  // About an approval a note is what one has to say; to a run it is said after how it is sent.
  if (isAboutApproval) for (const { option } of fields) command.addOption(option);
  command
    .option('--id <id>', 'of an earlier try whose outcome is unknown: then it is the same command')
    .option('--timeout <s>', 'how long to go on trying', wholeFrom(1, TRY_SECONDS_MAX), TRY_SECONDS);
  if (!isAboutApproval) for (const { option } of fields) command.addOption(option);
  if (wait !== undefined) command.option('--wait', wait);
  if (isOwn(verb)) return OWN[verb](command);
  command.does(async (context) => {
    const [target = '', named] = command.args;
    const options = command.opts<ControlWords & Record<string, unknown>>();
    const said = fields.map(({ field, option }) => [field, options[option.attributeName()]] as const);
    const { say } = await import('./control.runner.js');
    const given = argument?.stdin === true && named === '-' ? await readRequestFile('-') : named;
    const all = argument === undefined ? said : [[argument.field, given] as const, ...said];
    return say(context, target, { verb, fields: Object.fromEntries(all), words: sending(options) });
  });
}

/** The options that are fields of a verb. */
function fieldsOf(verb: RunVerb): { field: string; option: Option }[] {
  return (VERB_ROWS[verb].command.options ?? []).map(({ field, flags, what, required = false, least }) => {
    const option = new Option(flags, what).makeOptionMandatory(required);
    return { field, option: least === undefined ? option : option.argParser(wholeFrom(least)) };
  });
}

interface ProposeWords extends ControlWords {
  file: string;
  editId?: string;
  try?: number;
  baseRevision?: number;
}

interface ApproveWords extends ControlWords {
  note?: string;
  command?: string;
  arguments?: string;
  grant?: number;
  sandbox?: string[];
}

/** What is said with these is made of more than words: of a file, of the command that is asked about. */
const OWN: Readonly<Record<Exclude<OwnVerb, BoardVerb>, (command: CliCommand) => void>> = {
  PROPOSE: propose,
  APPROVE: approve,
};
/** These stand together below one word. */
type BoardVerb = 'BOARD_SET' | 'BOARD_DELETE';
const isOwn = (verb: RunVerb): verb is Exclude<OwnVerb, BoardVerb> => verb in OWN;

function propose(program: CliCommand): void {
  program
    .requiredOption('-f, --file <file>', 'a proposal or an array of edits, JSON or YAML; "-" is standard input')
    .option('--edit-id <id>', 'the round of edits it answers; without it, it is an edit of yours')
    .option('--try <n>', 'counts the proposals of the round', wholeFrom(1))
    .option('--base-revision <n>', 'the revision it was made for; another one refuses it', wholeFrom(0))
    .does(async (context, id: string, options: ProposeWords) => {
      const runner = await import('./propose.runner.js');
      const { file, editId, baseRevision, try: number } = options;
      const said = Object.entries({ editId, try: number, baseRevision }).filter(([, value]) => value !== undefined);
      return runner.propose(context, id, { ...sending(options), file, proposal: Object.fromEntries(said) });
    });
}

function approve(program: CliCommand): void {
  program
    .option('--command <line>', 'run this command line instead; the policy judges it again')
    .option('--arguments <json>', 'call the tool with these arguments instead')
    .option(
      '--grant <minutes>',
      'let the same command run on the same device in this run without asking again',
      wholeFrom(1, GRANT_MINUTES_MAX),
    )
    .option(
      '--sandbox <word>',
      'give it this beside what is shown: read, write, none, internet, writable=<absolute path>; may be said again',
      (word: string, before: string[] | undefined) => [...(before ?? []), word],
    )
    .does(async (context, id: string, options: ApproveWords) => {
      const { note, command: line, arguments: json, grant, sandbox } = options;
      const grantMs = grant === undefined ? undefined : grant * 60_000;
      return (await import('./approve.runner.js')).approve(context, id, {
        ...sending(options),
        note,
        line,
        json,
        grantMs,
        sandbox,
      });
    });
}
