import { InvalidArgumentError, type Command } from 'commander';
import type { ExitCode } from './exit-codes.js';
import type { CliContext } from './terminal.js';

export type RunAction = (command: Command, action: (context: CliContext) => Promise<ExitCode>) => Promise<void>;

/** Of an argument that names one run. */
export const RUN_OR_FILE = 'id of a run, or a file that "orrery export" wrote';

const WHOLE = /^\d{1,15}$/u;

/** A command with what every command has: JSON, and examples that work. */
export function define(parent: Command, name: string, description: string, examples: readonly string[]): Command {
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
