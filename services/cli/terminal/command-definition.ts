import { Command, InvalidArgumentError } from 'commander';
import type { ExitCode } from './exit-codes.js';
import type { CliContext } from './terminal.js';

/** Runs what a command does, with what surrounds the program. */
type Run = (command: Command, act: (context: CliContext) => Promise<ExitCode>) => Promise<void>;

/** A command that knows how it is run, and so do those below it. */
export class CliCommand extends Command {
  readonly #run: Run;

  constructor(run: Run, name?: string) {
    super(name);
    this.#run = run;
  }

  override createCommand(name?: string): CliCommand {
    return new CliCommand(this.#run, name);
  }

  /** What it does: told its arguments as they were typed, and its options behind them. */
  does(act: (context: CliContext, ...words: never[]) => Promise<ExitCode>): this {
    return this.action((...words) => this.#run(this, (context) => act(context, ...(words as never[]))));
  }
}

/** Of an argument that names one run. */
export const RUN_OR_FILE = 'id of a run, or a file that "orrery export" wrote';

const WHOLE = /^\d{1,15}$/u;

/** A command with what every command has: JSON, and examples that work. */
export function define(parent: CliCommand, name: string, description: string, examples: readonly string[]): CliCommand {
  const lines = examples.map((example) => `  $ ${example}`).join('\n');
  return parent
    .command(name)
    .description(description)
    .option('--json', 'print JSON')
    .addHelpText('after', `\nExamples:\n${lines}`);
}

export function wholeFrom(min: number, max = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    const value = WHOLE.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    const range = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`;
    throw new InvalidArgumentError(`A whole number ${range} is needed.`);
  };
}

export function commaList(text: string, before: readonly string[]): string[] {
  return [...before, ...text.split(',').map((part) => part.trim())].filter((part) => part !== '');
}
