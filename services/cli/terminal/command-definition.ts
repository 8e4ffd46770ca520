import { Command, InvalidArgumentError } from 'commander';
import type { ExitCode } from './exit-codes.js';
import type { CliContext } from './terminal.js';

/** Runs what a command does, with what surrounds the program. */
type Run = (command: CliCommand, act: (context: CliContext) => Promise<ExitCode>) => Promise<void>;

/** A command that knows how it is run, and so do those below it. */
export class CliCommand extends Command {
  readonly #run: Run;
  #stopsItself = false;
  #isVerb = false;
  #isForOneRun = false;
  #isChanging = false;
  #examples: readonly string[] = [];
  readonly #valuesOf = new Map<string, readonly string[]>();

  constructor(run: Run, name?: string) {
    super(name);
    this.#run = run;
  }

  override createCommand(name?: string): CliCommand {
    return new CliCommand(this.#run, name);
  }

  /** It has begun what must be stopped in order: after a signal it is waited for, however long that takes. */
  stoppingItself(): this {
    this.#stopsItself = true;
    return this;
  }

  /** It changes the run, or lets somebody change it: which one is said by its id, not by when it was asked for. */
  forOneRun(): this {
    this.#isForOneRun = true;
    return this.changing();
  }

  /** It changes something in the system that is meant, or lets somebody change it: a person is told which one that is. */
  changing(): this {
    this.#isChanging = true;
    return this;
  }

  get isChanging(): boolean {
    return this.#isChanging;
  }

  get isForOneRun(): boolean {
    return this.#isForOneRun;
  }

  /** Command lines that work, for the help and the manual. */
  shownBy(examples: readonly string[]): this {
    this.#examples = examples;
    const lines = examples.map((example) => `  $ ${example}`).join('\n');
    return this.addHelpText('after', `\nExamples:\n${lines}`);
  }

  get examples(): readonly string[] {
    return this.#examples;
  }

  /** What a shell may complete behind an option, by its long name, or for an argument. */
  offering(name: string, words: readonly string[]): this {
    this.#valuesOf.set(name, words);
    return this;
  }

  get valuesOf(): ReadonlyMap<string, readonly string[]> {
    return this.#valuesOf;
  }

  get stopsItself(): boolean {
    return this.#stopsItself;
  }

  /** Whether it does something by itself, and is not only a name above others. */
  get isVerb(): boolean {
    return this.#isVerb;
  }

  /** What it does: told its arguments as they were typed, and its own options behind them; what every command has is in its context. */
  does(act: (context: CliContext, ...words: never[]) => Promise<ExitCode>): this {
    this.#isVerb = true;
    return this.action((...words: unknown[]) => {
      const { json: _, context: __, ...own } = this.opts<Record<string, unknown>>();
      const told = words.map((word) => (word === this.opts() ? own : word));
      return this.#run(this, (context) => act(context, ...(told as never[])));
    });
  }
}

/** Of a list: the option with which it is shown again and again. */
export const WATCHED = ['--watch', 'show it again every two seconds, until Ctrl-C'] as const;

/** Of an argument that names one run. */
export const RUN_OR_FILE = 'id of a run, or a file that "orrery export" wrote';

const WHOLE = /^\d{1,15}$/u;

/** What may be said before a command and behind it. */
export const EVERYWHERE = [
  ['--json', 'print JSON'],
  ['--context <name>', 'the system that is meant, as "orrery context list" has it'],
] as const;

/** A command with what every command has: JSON, the system that is meant, and examples that work. */
export function define(parent: CliCommand, name: string, description: string, examples: readonly string[]): CliCommand {
  const command = parent.command(name).description(description);
  for (const [flags, what] of EVERYWHERE) command.option(flags, what);
  return command.shownBy(examples);
}

export function wholeFrom(min: number, max = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    const value = WHOLE.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    const range = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`;
    throw new InvalidArgumentError(`A whole number ${range} is needed.`);
  };
}

const UNIT_MS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const SPAN = /^([1-9]\d{0,4})([mhd])$/u;

/** `90m`, `12h`, `7d` in milliseconds. */
export function spanMs(text: string): number {
  const [, count = '', unit = ''] = SPAN.exec(text) ?? [];
  if (count === '') throw new InvalidArgumentError('A number with m, h or d is needed, for example 90m, 12h or 7d.');
  return Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS];
}

/** As `spanMs` reads it: `90m`, `7d`. */
export function spanText(ms: number): string {
  const [unit, unitMs] = (['d', 'h'] as const)
    .map((one) => [one, UNIT_MS[one]] as const)
    .find(([, of]) => ms % of === 0) ?? ['m', UNIT_MS.m];
  return `${ms / unitMs}${unit}`;
}

export function commaList(text: string, before: readonly string[]): string[] {
  return [...before, ...text.split(',').map((part) => part.trim())].filter((part) => part !== '');
}
