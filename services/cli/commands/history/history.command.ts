// The words with which a person looks at what is recorded of a run, checks it and takes it home.
import { InvalidArgumentError, Option } from 'commander';
import { define, wholeFrom, type CliCommand } from '../../terminal/index.js';
import type { VerifyWords } from './verify.runner.js';

export function defineHistory(program: CliCommand): void {
  define(program, 'show', 'the state of a run, now or at any event', [
    'orrery show 0k3j… --at 7',
    'orrery show run.jsonl --json',
  ])
    .argument('<run|file>')
    .option('--at <n>', 'after this event', wholeFrom(1))
    .does(async (context, source: string, options: { at?: number }) =>
      (await import('./show.runner.js')).show(context, source, options.at),
    );
  define(program, 'steps', 'what agents thought, proposed, were allowed and did in the tasks of a run', [
    'orrery steps 0k3j…',
    'orrery steps run.jsonl disk --json',
  ])
    .argument('<run|file>')
    .argument('[task]', 'of this task only')
    .does(async (context, source: string, task: string | undefined) =>
      (await import('./steps.runner.js')).steps(context, source, task),
    );
  define(
    program,
    'replay',
    'the constellation of a run as it evolved, from its events alone: wound by keys, or printed into a pipe',
    ['orrery replay 0k3j… --speed 10', 'orrery replay run.jsonl --at 12', 'orrery replay 0k3j… | less'],
  )
    .argument('<run|file>')
    .option('--at <n>', 'begin at this event; in a pipe stop after it', wholeFrom(1))
    .option('--speed <x>', 'play, so many times as fast as it happened; without it a pipe waits for nothing', factor)
    .does(async (context, source: string, options: { at?: number; speed?: number }) =>
      (await import('./replay.runner.js')).replay(context, source, options),
    );
  define(program, 'verify', 'check that nothing of a run was altered, left out or made up', [
    'orrery verify 0k3j…',
    'orrery verify run.jsonl --head 9f86d081…',
    'orrery verify --all --json',
  ])
    .argument('[run|file]')
    .option('--all', 'every run of the log')
    .option('--head <hash>', 'the hash of a commit that the run must have, as a report or an earlier check named it')
    .does(async (context, source: string | undefined, options: VerifyWords) =>
      (await import('./verify.runner.js')).verify(context, source, options),
    );
  define(program, 'export', 'write a run as it is stored, one JSON object per line, or as a constellation of UFO', [
    'orrery export 0k3j… -o run.jsonl',
    'orrery export 0k3j… --as ufo -o constellation.json',
  ])
    .argument('<run>', 'for UFO also a file that was exported')
    .option('-o, --output <file>', 'instead of standard output')
    .addOption(new Option('--as <form>', 'as stored, or in the form of UFO').choices(['jsonl', 'ufo']).default('jsonl'))
    .does(async (context, source: string, options: { output?: string; as: 'jsonl' | 'ufo' }) => {
      const { exportAsUfo, exportRun } = await import('./export.runner.js');
      return (options.as === 'ufo' ? exportAsUfo : exportRun)(context, source, options.output);
    });
  define(program, 'report', 'the Markdown report of a run', [
    'orrery report 0k3j… -o report.md',
    'orrery report run.jsonl',
    'orrery report 0k3j… --json   # its figures, too',
  ])
    .argument('<run|file>')
    .option('-o, --output <file>', 'instead of standard output')
    .does(async (context, source: string, options: { output?: string }) =>
      (await import('./report.runner.js')).report(context, source, options.output),
    );
}

function factor(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isFinite(value) && value > 0) return value;
  throw new InvalidArgumentError('A number greater than 0 is needed.');
}
