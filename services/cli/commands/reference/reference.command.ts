// The words that give out what is made of the table of commands.
import { Argument } from 'commander';
import { define, type CliCommand } from '../../terminal/index.js';
import { SHELLS, type Shell } from './shells.js';

export function defineReference(program: CliCommand): void {
  define(program, 'completion', 'a script with which a shell completes commands, options and their values', [
    'eval "$(orrery completion bash)"          in ~/.bashrc',
    'orrery completion zsh > ~/.zfunc/_orrery  # a folder of fpath, before compinit',
    'orrery completion fish > ~/.config/fish/completions/orrery.fish',
  ])
    .addArgument(new Argument('<shell>', 'the one that you type into').choices(SHELLS))
    .does(async (context, shell: Shell) => (await import('./reference.runner.js')).completion(context, program, shell));
  define(program, 'man', 'the manual page of this program, for "man" or for a file', [
    'orrery man | man -l -',
    'orrery man > /usr/local/share/man/man1/orrery.1',
  ]).does(async (context) => (await import('./reference.runner.js')).manual(context, program));
}
