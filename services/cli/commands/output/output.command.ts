// The words of `orrery output` and `orrery artifacts`.
import { define, type CliCommand } from '../../terminal/index.js';

/** What the tasks of a run write. */
export function defineOutput(program: CliCommand): void {
  define(
    program,
    'output',
    'follow what the tasks of a run write, until it ends; or the whole output of a task of a run that is over',
    ['orrery output 0k3j…', 'orrery output 0k3j… backup > backup.log', 'orrery output 0k3j… --json'],
  )
    .argument('<run>')
    .argument('[task]', 'of this task only')
    .does(async (context, id: string, task: string | undefined) =>
      (await import('./output.runner.js')).output(context, id, task),
    );
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
