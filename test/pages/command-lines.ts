import { CommanderError } from 'commander';
import { defineCommands } from '../../services/cli/commands/index.js';
import { CliCommand } from '../../services/cli/terminal/index.js';
import { blocksOf } from './page.js';

/** What stands for a value in a page, as one word: `<run>`, `[task]`, `$run`, `$(cat file)`. */
const PLACEHOLDERS = /<[a-z][^<>\n]*>|\[[a-z]+\]|\$\{?\w+\}?/gu;
const WORDS = /"(?:\\.|[^"\\])*"|'[^']*'|[^\s;|&()"'#<>]+|#.*|[;|&()]+|[<>]+[ ]*\S*|\n/gu;
/** How a page begins a command line of ours, in place and in containers. */
const PROGRAMS: readonly (readonly [begins: RegExp, below: readonly string[]])[] = [
  [/^(?:\.\/)?orrery$/u, []],
  [/^docker compose run --rm(?: -\S+| "\S+"| \S+=\S+)* cli$/u, []],
  [/^docker compose run --rm(?: -\S+)* people$/u, ['people']],
];

/** The command lines of a script that call `orrery`, each as its words; what the shell does with them is left out. */
export function orreryLines(script: string): string[][] {
  const text = script
    .replaceAll(/\\\n\s*/gu, ' ')
    .replaceAll(PLACEHOLDERS, 'x')
    .replaceAll('$(', '(');
  const lines: string[][] = [[]];
  for (const [word] of text.matchAll(WORDS)) {
    if (/^[;|&()\n]/u.test(word)) lines.push([]);
    else if (!/^[#<>]/u.test(word)) lines.at(-1)?.push(word);
  }
  return lines.flatMap((words) => {
    const bare = words.slice(words.findIndex((word) => !/^\w+=/u.test(word)));
    for (const [begins, below] of PROGRAMS) {
      const length = bare.findIndex((_, at) => begins.test(bare.slice(0, at + 1).join(' '))) + 1;
      if (length > 0) return [[...below, ...bare.slice(length).map(unquoted)]];
    }
    return [];
  });
}

const unquoted = (word: string): string => (/^["']/u.test(word) ? word.slice(1, -1) : word.replaceAll(/["']/gu, ''));

/** The command lines of a page. */
export const orreryLinesOf = (page: string): string[][] =>
  ['sh', 'bash'].flatMap((language) => blocksOf(page, language)).flatMap(orreryLines);

function program(): CliCommand {
  const made = new CliCommand(() => Promise.resolve(), 'orrery');
  const quiet = (): void => {};
  made
    .option('--json')
    .option('--context <name>')
    .exitOverride()
    .configureOutput({ writeOut: quiet, writeErr: quiet, outputError: quiet });
  defineCommands(made);
  return made;
}

/** What `orrery` has against these words, before it does anything; undefined when it would begin. */
export async function faultOf(words: readonly string[]): Promise<string | undefined> {
  try {
    await program().parseAsync([...words], { from: 'user' });
    return undefined;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? undefined : error.message;
    return error instanceof Error ? error.message : String(error);
  }
}

/** The examples that the help of each command gives, as scripts. */
export function examplesInHelp(): string[] {
  const found: string[] = [];
  const look = (command: CliCommand): void => {
    let help = '';
    command.configureOutput({ writeOut: (text) => void (help += text) }).outputHelp();
    for (const [, example = ''] of help.matchAll(/^ {2}\$ (.*)$/gmu)) found.push(example);
    for (const below of command.commands) look(below as CliCommand);
  };
  look(program());
  return found;
}
