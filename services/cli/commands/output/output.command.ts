// The words of `orrery output` and `orrery artifacts`.
import { InvalidArgumentError } from 'commander';
import { CONTEXT_LINES_MAX } from '#libs/output';
import { define, wholeFrom, type CliCommand } from '../../terminal/index.js';
import type { OutputWords } from './output.runner.js';

const STREAMS = ['stdout', 'stderr', 'result', 'answer'] as const;

/** What the tasks of a run write. */
export function defineOutput(program: CliCommand): void {
  const context = wholeFrom(0, CONTEXT_LINES_MAX);
  define(program, 'output', 'what the tasks of a run write, until it ends; of a run that is over all that they wrote', [
    'orrery output 0k3j…',
    'orrery output 0k3j… backup > backup.log',
    'orrery output 0k3j… --failed',
    'orrery output 0k3j… --task web --attempt 1 --step 2',
    "orrery output 0k3j… --grep 'error|denied' -C 3",
    'orrery output 0k3j… --task backup --raw > backup.bin',
    'orrery output 0k3j… screen --artifact image-1.png -o screen.png',
    'orrery output 0k3j… --artifact reports/disks.csv -o disks.csv',
    'orrery output 0k3j… --json | jq -r .text',
  ])
    .argument('<run>')
    .argument('[task]', 'of this task only')
    .option('--task <task>', 'of this task only')
    .option('--attempt <n>', 'of this attempt only', wholeFrom(1))
    .option('--step <n[.i]>', 'of this step of an agent, or of one command of it; 0 is the exact command', stepFrom)
    .option('--failed', 'only of commands that did not go well')
    .option('--stream <stream>', `only this: ${STREAMS.join(', ')}`, streamFrom)
    .offering('--stream', STREAMS)
    .option('--grep <pattern>', 'only lines that match: a regular expression of RE2')
    .option('-F, --fixed', 'the pattern is a text')
    .option('-i, --ignore-case', 'large and small letters are the same')
    .option('-A, --after <n>', 'with so many lines after one that matches', context)
    .option('-B, --before <n>', 'with so many lines before it', context)
    .option('-C, --around <n>', 'with so many lines around it', context)
    .option(
      '--raw',
      'the bytes as they are, into a file or a pipe: those of standard output, unless --stream names another',
    )
    .option(
      '--artifact <name>',
      'the content of one file: by the name that a tool gave it, or the path of one left by a task',
    )
    .option('-o, --output <file>', 'of --artifact: into a file that is not there yet; "-" is standard output')
    .option('--recorded', 'of a run that goes on: what is recorded by now, and no waiting')
    .does(async (context, id: string, task: string | undefined, words: OutputWords) =>
      (await import('./output.runner.js')).output(context, id, { ...words, ...(task === undefined ? {} : { task }) }),
    );
}

const STEP = /^(\d{1,4})(?:\.(\d{1,4}))?$/u;

function stepFrom(text: string): { step: number; index: number | undefined } {
  const [, step, index] = STEP.exec(text) ?? [];
  if (step === undefined) throw new InvalidArgumentError('A number is needed, or two with a dot: 2 or 2.0.');
  return { step: Number(step), index: index === undefined ? undefined : Number(index) };
}

function streamFrom(text: string): (typeof STREAMS)[number] {
  const stream = STREAMS.find((one) => one === text);
  if (stream === undefined) throw new InvalidArgumentError(`There is ${STREAMS.join(', ')}.`);
  return stream;
}

export function defineArtifacts(program: CliCommand): void {
  const artifacts = define(program, 'artifacts', 'files and whole outputs, by the SHA-256 of their content', [
    'orrery artifacts get 9f86d081… -o report.pdf',
  ]);
  define(artifacts, 'get', 'the content of one, checked', [
    'orrery artifacts get 9f86d081… -o report.pdf',
    'orrery artifacts get 9f86d081… | less',
  ])
    .argument('<sha256>', 'as a result names it')
    .option('-o, --output <file>', 'a file that is not there yet; "-" is standard output, also when it is a terminal')
    .does(async (context, sha256: string, options: { output?: string }) =>
      (await import('./artifacts.runner.js')).fetchArtifact(context, sha256, options.output),
    );
}
