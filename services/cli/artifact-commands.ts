import type { Command } from 'commander';
import { define, type Run } from './command-definition.js';

export function defineArtifacts(program: Command, run: Run): void {
  const artifacts = define(program, 'artifacts', 'files and whole outputs, by the SHA-256 of their content', [
    'orrery artifacts get 9f86d081… -o report.pdf',
  ]);
  define(artifacts, 'get', 'the content of one, checked', [
    'orrery artifacts get 9f86d081… -o report.pdf',
    'orrery artifacts get 9f86d081… | less',
  ])
    .argument('<sha256>', 'as a result names it')
    .option('-o, --output <file>', 'a file that is not there yet; "-" is standard output, also when it is a terminal')
    .action((sha256: string, options: { output?: string }, command: Command) =>
      run(command, async (context) =>
        (await import('./commands/artifacts.runner.js')).getArtifact(context, sha256, options.output),
      ),
    );
}
