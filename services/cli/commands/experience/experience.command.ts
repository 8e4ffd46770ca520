// The words of `orrery experience` and `orrery evaluate`.
import { define, wholeFrom, type CliCommand } from '../../terminal/index.js';

const LIMIT_MAX = 200;
const LIMIT = 50;
/** A model may have to be asked several times. */
const WAIT_SECONDS_MAX = 3_600;
const WAIT_SECONDS = 180;

const runner = () => import('./experience.runner.js');
const wait = ['--timeout <s>', 'how long to wait for the model', wholeFrom(1, WAIT_SECONDS_MAX), WAIT_SECONDS] as const;

/** `orrery experience` with its verbs, and `orrery evaluate`. */
export function defineExperience(program: CliCommand): void {
  const experience = define(
    program,
    'experience',
    'what the planner has learnt: examples that it is shown when it plans something alike',
    ['orrery experience ls', 'orrery experience learn 0k3j…'],
  );
  define(experience, 'ls', 'list the examples, newest first', [
    'orrery experience ls',
    'orrery experience ls --text "free disk space" --json',
  ])
    .option('--text <text>', 'only what shares a word with it, the most alike first')
    .option('--limit <n>', 'at most this many', wholeFrom(1, LIMIT_MAX), LIMIT)
    .does(async (context, options: { text?: string; limit: number }) =>
      (await runner()).listExperiences(context, options),
    );
  define(experience, 'learn', 'make an example of a run of a goal that went well; the same run is learnt from once', [
    'orrery experience learn 0k3j…',
  ])
    .forOneRun()
    .argument('<run>')
    .option(...wait)
    .does(async (context, id: string, { timeout }: { timeout: number }) =>
      (await runner()).learn(context, id, { timeoutMs: timeout * 1_000 }),
    );
  define(experience, 'demonstrate', 'make an example of what somebody did by hand, step by step', [
    'orrery experience demonstrate -f disks-by-hand.yaml',
    'orrery experience demonstrate -f - --json < disks-by-hand.yaml',
  ])
    .requiredOption('-f, --file <file>', 'name, request and steps, JSON or YAML; "-" is standard input')
    .option(...wait)
    .changing()
    .does(async (context, { file, timeout }: { file: string; timeout: number }) =>
      (await runner()).demonstrate(context, { file, timeoutMs: timeout * 1_000 }),
    );
  define(experience, 'forget', 'show examples to the planner no more', ['orrery experience forget 0k3j…'])
    .argument('<id...>', 'as listed')
    .changing()
    .does(async (context, ids: string[]) => (await runner()).forget(context, ids));
  defineEvaluate(program);
}

function defineEvaluate(program: CliCommand): void {
  define(program, 'evaluate', 'let a model judge whether a run that has ended did what was asked; each end once', [
    'orrery evaluate 0k3j…',
    'orrery evaluate 0k3j… --timeout 60 --json',
  ])
    .forOneRun()
    .argument('<run>')
    .option(...wait)
    .does(async (context, id: string, { timeout }: { timeout: number }) =>
      (await import('./evaluate.runner.js')).evaluate(context, id, { timeoutMs: timeout * 1_000 }),
    );
}
