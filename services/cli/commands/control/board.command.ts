// The words of `orrery board`: what a run shares, read from its log and changed with the verbs that say so.
import { VERBS } from '#proto';
import { define, RUN_OR_FILE, wholeFrom, type CliCommand } from '../../terminal/index.js';

const TRY_SECONDS_MAX = 600;
const TRY_SECONDS = 30;
const SEEN = [
  '--revision <n>',
  'the revision you saw, 0 for none: another one there refuses it',
  wholeFrom(0),
] as const;

interface WriteWords {
  id?: string;
  timeout: number;
  revision?: number;
  text?: boolean;
}

const runner = () => import('./board.runner.js');
const written = ({ id, timeout, revision }: WriteWords) => ({ id, timeoutMs: timeout * 1_000, revision });

export function defineBoard(program: CliCommand): void {
  const board = define(program, 'board', 'the values that tasks, agents, planner and people of a run share', [
    'orrery board 0k3j…',
    'orrery board run.jsonl --json',
    'orrery board get 0k3j… free_gb',
    'orrery board set 0k3j… free_gb 120',
  ])
    .argument('<run|file>', RUN_OR_FILE)
    .does(async (context, source: string) => (await runner()).listBoard(context, source));
  define(board, 'list', 'what stands there, by name', ['orrery board list 0k3j…', 'orrery board list run.jsonl --json'])
    .argument('<run|file>', RUN_OR_FILE)
    .does(async (context, source: string) => (await runner()).listBoard(context, source));
  define(board, 'get', 'one value, whole', ['orrery board get 0k3j… free_gb', 'orrery board get 0k3j… notes --json'])
    .argument('<run|file>', RUN_OR_FILE)
    .argument('<key>', 'a name on the board')
    .does(async (context, source: string, name: string) => (await runner()).getFromBoard(context, source, name));
  const set = VERBS.BOARD_SET.command;
  define(board, 'set', set.what, set.examples)
    .forOneRun()
    .argument('<run>')
    .argument('<key>', 'a name: letters, digits and _')
    .argument('<value>', 'JSON, or else a text; "-" is standard input')
    .option('--id <id>', 'of an earlier try whose outcome is unknown: then it is the same command')
    .option('--timeout <s>', 'how long to go on trying', wholeFrom(1, TRY_SECONDS_MAX), TRY_SECONDS)
    .option(...SEEN)
    .option('--text', 'the value is a text, also where it looks like JSON')
    .does(async (context, run: string, name: string, value: string, options: WriteWords) =>
      (await runner()).setOnBoard(context, run, {
        name,
        value,
        isText: options.text === true,
        words: written(options),
      }),
    );
  const off = VERBS.BOARD_DELETE.command;
  define(board, 'delete', off.what, off.examples)
    .forOneRun()
    .argument('<run>')
    .argument('<key>', 'a name on the board')
    .option('--id <id>', 'of an earlier try whose outcome is unknown: then it is the same command')
    .option('--timeout <s>', 'how long to go on trying', wholeFrom(1, TRY_SECONDS_MAX), TRY_SECONDS)
    .option(...SEEN)
    .does(async (context, run: string, name: string, options: WriteWords) =>
      (await runner()).takeOffBoard(context, run, { name, words: written(options) }),
    );
}
