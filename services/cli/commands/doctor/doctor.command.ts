// The words of `orrery doctor`.
import { define, type CliCommand } from '../../terminal/index.js';

export function defineDoctor(program: CliCommand): void {
  define(program, 'doctor', 'explain the whole installation on one page: what is well, what is not, and what to do', [
    'orrery doctor',
    'orrery doctor --repair      # streams, durables and the modes of secret files, and nothing else',
    'orrery doctor --json',
  ])
    .option('--repair', 'mend what can be mended safely, and say what was mended')
    .changing()
    .does(async (context, options: { repair?: boolean }) =>
      (await import('./doctor.runner.js')).doctor(context, options.repair ?? false),
    );
}
