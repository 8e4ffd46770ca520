import type { Argument, Option } from 'commander';
import type { CliCommand } from '../../terminal/index.js';

/** What may stand in a place: one of these words, a file, or what only the person knows. */
export interface PlaceValues {
  readonly words: readonly string[];
  readonly isFile: boolean;
  /** Several of them, with commas. */
  readonly isList: boolean;
}

export interface OptionWords {
  /** `-f` and `--file`. */
  readonly names: readonly string[];
  /** `--file`. */
  readonly name: string;
  /** `-f, --file <file>`. */
  readonly flags: string;
  readonly what: string;
  /** Undefined for one that stands alone. */
  readonly takes: (PlaceValues & { readonly placeholder: string }) | undefined;
  readonly mayRepeat: boolean;
}

export interface ArgumentWords extends PlaceValues {
  readonly name: string;
  readonly what: string;
  readonly isRequired: boolean;
  /** It, and whatever follows. */
  readonly isVariadic: boolean;
}

/** A command as a person types it; the first one of all is the program, with no words. */
export interface CommandWords {
  readonly path: readonly string[];
  readonly what: string;
  readonly examples: readonly string[];
  readonly options: readonly OptionWords[];
  readonly arguments: readonly ArgumentWords[];
  readonly below: readonly CommandWords[];
  /** It does something by itself, and is not only a name above others. */
  readonly isVerb: boolean;
}

const FILES = /^(?:-?file|run\|file|other)$/u;
const LISTS = /^(?:list|a,b)$/u;

/** What is offered for an argument of this name, whatever the command. */
export type KnownWords = Readonly<Record<string, readonly string[]>>;

/** What there is to type, from the table that the program itself is made of. */
export function commandsIn(command: CliCommand, known: KnownWords = {}, path: readonly string[] = []): CommandWords {
  const { registeredArguments, options, commands } = command;
  const valuesOf = new Map([...Object.entries(known), ...command.valuesOf]);
  return {
    path,
    what: command.description(),
    examples: command.examples,
    options: options.filter(({ hidden }) => !hidden).map((option) => optionWords(option, valuesOf)),
    arguments: registeredArguments.map((argument) => argumentWords(argument, valuesOf)),
    below: commands.map((child) => commandsIn(child as CliCommand, known, [...path, child.name()])),
    isVerb: command.isVerb,
  };
}

/** A command and those below it, in the order of the help. */
export function flat(command: CommandWords): CommandWords[] {
  return [command, ...command.below.flatMap(flat)];
}

export function bracketedPlace({ isRequired, isVariadic, name }: ArgumentWords): string {
  const inside = isVariadic ? `${name}...` : name;
  return isRequired ? `<${inside}>` : `[${inside}]`;
}

function optionWords(option: Option, valuesOf: CliCommand['valuesOf']): OptionWords {
  const { short, long, flags, description, variadic, argChoices, defaultValue } = option;
  const name = long ?? short ?? flags;
  const placeholder = /[<[](.+?)[>\]]$/u.exec(flags)?.[1];
  const words = valuesOf.get(name) ?? argChoices ?? [];
  return {
    names: [short, long].filter((one) => one !== undefined),
    name,
    flags,
    what: description,
    takes: placeholder === undefined ? undefined : { placeholder, ...valuesIn(placeholder, words) },
    mayRepeat: variadic || Array.isArray(defaultValue) || description.includes('may be said again'),
  };
}

function argumentWords(argument: Argument, valuesOf: CliCommand['valuesOf']): ArgumentWords {
  const { argChoices, description: what, required: isRequired, variadic: isVariadic } = argument;
  const name = argument.name();
  const words = valuesOf.get(name) ?? argChoices ?? [];
  return { name, what, isRequired, isVariadic, ...valuesIn(name, words) };
}

function valuesIn(placeholder: string, words: readonly string[]): PlaceValues {
  return { words, isFile: FILES.test(placeholder), isList: LISTS.test(placeholder) };
}
