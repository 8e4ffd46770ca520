import type { CommandClass } from '#proto';
import type { Call } from './call.js';
import {
  dynamic,
  type CommandFinding,
  optionsOf,
  takeApart,
  unknownOption,
  type Arguments,
  type Given,
  type Options,
  literal,
  showWord,
  type View,
  type Word,
} from '../words/index.js';

/** What becomes of operands. `any`: nothing that an argument could say does harm. */
export type Operands = 'any' | 'text' | 'read' | 'list' | 'write' | 'remove' | 'none';

export interface Program {
  readonly class: CommandClass;
  readonly options: Options;
  readonly operands: Operands;
  /** Options that make it go through folders, or true when it always does. */
  readonly recursive?: readonly string[] | true;
  /** What follows the first operand is no option any more. */
  readonly optionsFirst?: true;
  /** Operands before these are something else, e.g. the pattern of grep. */
  readonly skip?: (args: Arguments) => number;
  /** What of the machine it must see for its answer to be true. */
  readonly views?: readonly View[];
  /** Said in its reason. */
  readonly does?: string;
  /** What else is to be said. */
  readonly also?: (args: Arguments, call: Call) => readonly CommandFinding[];
}

/** Says all that there is to say about one call. */
export type ProgramJudge = (call: Call) => readonly CommandFinding[];
export type ProgramTable = Readonly<Record<string, ProgramJudge>>;

type Extras = Pick<Program, 'recursive' | 'optionsFirst' | 'skip' | 'views' | 'does' | 'also'>;

export function program(of: CommandClass, options: string, operands: Operands, extras: Extras = {}): ProgramJudge {
  const ready: Program = { class: of, options: optionsOf(options), operands, ...extras };
  return (call) => judgeProgram(ready, call);
}

/** The same for programs that are judged in a way of their own. */
export const seeing =
  (views: readonly View[], judge: ProgramJudge): ProgramJudge =>
  (call) =>
    judge(call).map((finding, at) => (at === 0 ? { ...finding, views } : finding));

/** Whatever its arguments are: what must never run is looked for in them all the same. */
export const plainly =
  (of: CommandClass, does: string): ProgramJudge =>
  (call) => [call.is(of, does), ...call.floorsIn(call.args)];

/** One judge for several names. */
export const each = (names: string, judge: ProgramJudge): ProgramTable =>
  Object.fromEntries(names.split(' ').map((name) => [name, judge]));

function judgeProgram(of: Program, call: Call): readonly CommandFinding[] {
  const args = takeApart(call.args, of.options, of.optionsFirst);
  const about = call.is(of.class, of.does ?? `is a command of class ${of.class}.`);
  const base = of.views === undefined ? about : { ...about, views: of.views };
  if (of.operands === 'any') return [base, ...(of.also?.(args, call) ?? [])];
  return [
    base,
    ...args.unknown.map((option) => unknownOption(call.name, option)),
    ...args.given.flatMap((given) => optionFindings(given, call)),
    ...operandFindings(of, args, call),
    ...(of.also?.(args, call) ?? []),
  ];
}

export function optionFindings({ name, option, value }: Given, call: Call): readonly CommandFinding[] {
  const rule = `program.${call.name}.option`;
  const raised: CommandFinding[] =
    option.class === undefined
      ? []
      : [call.is(option.class, `with ${name} is a command of class ${option.class}.`, rule)];
  if (option.view !== undefined)
    raised.push({ ...call.is('read', `with ${name} needs to see more.`, rule), views: [option.view] });
  if (value === undefined) return raised;
  const used = option.use === 'read' ? call.read(value) : option.use === 'write' ? call.write(value) : [];
  return [...raised, ...used];
}

function operandFindings(of: Program, args: Arguments, call: Call): readonly CommandFinding[] {
  const operands = args.operands.slice(of.skip?.(args) ?? 0);
  const recursive =
    of.recursive === true || (of.recursive ?? []).some((name) => args.given.some((given) => given.name === name));
  return [
    ...args.operands.filter(mayBeOption).map((word) => dynamicArgument(call, word)),
    ...operands.flatMap((word): readonly CommandFinding[] => {
      if (of.operands === 'read') return word.text === '-' ? [] : recursive ? call.readTree(word) : call.read(word);
      if (of.operands === 'write') return call.write(word);
      if (of.operands === 'list') return call.look(word);
      if (of.operands === 'remove') return call.remove(word);
      if (of.operands === 'none') return [unknownOption(call.name, showWord(word))];
      return [];
    }),
    ...(recursive && of.operands === 'read' && operands.length === 0 ? call.readTree(HERE) : []),
  ];
}

/** Where nothing is named, recursion begins where the command stands. */
const HERE: Word = literal('.');

/** Begins with something unknown: it could be an option. */
export const mayBeOption = (word: Word): boolean => word.dynamic && word.found !== true && (word.glyphs[0] ?? 0) < 0;

export const dynamicArgument = (call: Call, word: Word): CommandFinding =>
  dynamic('dynamic-argument', `An argument of ${call.name} is known only when it runs: ${showWord(word)}.`);

/** A program whose first operand says what it does. */
export interface Subcommands {
  /** Options before it. */
  readonly globals: string;
  readonly commands: ProgramTable;
  /** What it does without one. */
  readonly bare?: CommandClass;
}

export function subcommands({ globals, commands, bare }: Subcommands): ProgramJudge {
  const options = optionsOf(globals);
  const known = new Map(Object.entries(commands));
  return (call) => {
    const args = takeApart(call.args, options, true);
    const findings = [
      ...args.unknown.map((option) => unknownOption(call.name, option)),
      ...args.given.flatMap((given) => optionFindings(given, call)),
    ];
    const [first, ...rest] = args.operands;
    if (first === undefined) {
      if (bare !== undefined) return [...findings, call.is(bare, `alone is a command of class ${bare}.`)];
      const isAsked = args.given.some(
        ({ name }) => name === '--help' || name === '--version' || name === '-V' || name === '-v',
      );
      return [...findings, isAsked ? call.is('read', 'says what it is.') : unknownOption(call.name, 'nothing')];
    }
    const judge = first.text === undefined ? undefined : known.get(first.text);
    if (judge === undefined)
      return [
        ...findings,
        call.ask('privileged', `${showWord(first)} is not known.`, { rule: `program.${call.name}.unknown` }),
      ];
    return [...findings, ...judge(call.under(call.name, first, rest))];
  };
}
