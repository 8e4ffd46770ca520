import { VERSION } from '#proto';
import { flat, type CommandWords, type OptionWords, type PlaceValues } from './command-words.js';

/** Each line of it says when it holds: when the words until here are those of one command. */
export function fishCompletion(program: CommandWords): string {
  const commands = flat(program);
  const valued = commands.flatMap(({ path, options }) =>
    options.filter(({ takes }) => takes !== undefined).flatMap(({ names }) => names.map((name) => [...path, name])),
  );
  return [
    `# Completion of orrery ${VERSION} for fish, made by "orrery completion fish".`,
    `set -g __orrery_commands ${listed(commands.map(({ path }) => path).filter(({ length }) => length > 0))}`,
    `set -g __orrery_valued ${listed(valued)}`,
    MAIN,
    ...commands.flatMap(linesOf),
  ].join('\n');
}

function linesOf({ path, options, below, arguments: places }: CommandWords): string[] {
  const line = (where: 'first' | 'any', ...words: readonly string[]): string =>
    ['complete -c orrery -n', quoted(['__orrery_at', where, ...path].join(' ')), ...words].join(' ');
  const complete = (...words: readonly string[]): string => line('any', ...words);
  return [
    ...below.map((child) => line('first', '-a', quoted(child.path.at(-1) ?? ''), '-d', quoted(child.what))),
    ...options.map((option) => complete(...optionText(option))),
    complete('-l help -d', quoted('what there is to say')),
    ...places.flatMap((place) => valueText(place).map((text) => complete(text))),
  ];
}

function optionText({ names, what, takes }: OptionWords): string[] {
  const flags = names.map((name) => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`));
  const value = takes === undefined ? [] : [takes.isFile ? '-r' : '-x', ...valueText(takes)];
  return [...flags, ...value, '-d', quoted(what)];
}

/** `-F`: files, which are not completed anywhere else. */
function valueText({ words, isFile }: PlaceValues): string[] {
  return [...(words.length === 0 ? [] : [`-a ${quoted(words.join(' '))}`]), ...(isFile ? ['-F'] : [])];
}

const listed = (paths: readonly (readonly string[])[]): string => paths.map((path) => quoted(path.join(' '))).join(' ');
const quoted = (text: string): string => `'${text.replaceAll(/[\\']/gu, String.raw`\$&`)}'`;

const MAIN = `function __orrery_at
  set -l path
  set -l skip 0
  set -l where first
  set -l words (commandline -opc)
  for word in $words[2..-1]
    if test $skip = 1
      set skip 0
    else if string match -q -- '-*' $word
      contains -- (string join -- ' ' $path $word) $__orrery_valued; and set skip 1
    else if contains -- (string join -- ' ' $path $word) $__orrery_commands
      set -a path $word
    else
      set where any
      break
    end
  end
  test "$path" = "$argv[2..-1]"; and contains -- $argv[1] any $where
end
complete -c orrery -f`;
