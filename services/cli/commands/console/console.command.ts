// The words with which a person comes to the console in a browser.
import { define, type CliCommand } from '../../terminal/index.js';
import type { ConsoleOptions } from './console.runner.js';

export function defineConsole(program: CliCommand): void {
  define(program, 'console', 'log in at the console: print a link that works once, for two minutes, and open it', [
    'orrery console',
    'orrery console --no-open',
    'orrery console --url https://orrery.example.org --json',
  ])
    .option('--no-open', 'only print it')
    .option('--url <url>', 'where browsers reach the console; that of "orrery up", or ORRERY_CONSOLE_URL, when absent')
    .changing()
    .does(async (context, options: ConsoleOptions) =>
      (await import('./console.runner.js')).linkToConsole(context, options),
    );
}
