import { VERSION } from '#proto';
import { flat, type ArgumentWords, type CommandWords, type OptionWords, type PlaceValues } from './command-words.js';

/** A function for each command, which `_arguments` of zsh asks for what may come. */
export function zshCompletion(program: CommandWords): string {
  return [
    '#compdef orrery',
    `# Completion of orrery ${VERSION} for zsh, made by "orrery completion zsh".`,
    ...flat(program).map(functionOf),
    // As a file of fpath it is called at once; sourced, it is made known.
    'if [[ $funcstack[1] == _orrery ]]; then _orrery "$@"; else compdef _orrery orrery; fi',
  ].join('\n');
}

function functionOf(command: CommandWords): string {
  const { path, options, below, arguments: places } = command;
  const flags = [...options.flatMap(optionSpecs), quoted('(- *)--help[what there is to say]')];
  const name = functionName(path);
  const call = (specs: readonly string[]) => ['_arguments', ...specs].join(' \\\n    ');
  if (below.length === 0) return `${name}() {\n  ${call(['-s -S', ...flags, ...places.map(placeSpec)])}\n}`;
  const children = below.map((child) => quoted(`${escaped(child.path.at(-1) ?? '')}:${firstLine(child.what)}`));
  return [
    `${name}() {`,
    '  local context state state_descr line curcontext=$curcontext',
    '  typeset -A opt_args',
    `  ${call(['-C', ...flags, quoted('1:command:->command'), quoted('*::argument:->argument')])}`,
    '  case $state in',
    '  command)',
    '    local -a commands=(',
    ...children.map((child) => `      ${child}`),
    '    )',
    "    _describe -t commands 'command' commands",
    ...places.slice(0, 1).map((place) => `    ${actionOf(place)}`),
    '    ;;',
    '  argument)',
    '    case $line[1] in',
    ...below.map(({ path: child }) => `    ${child.at(-1) ?? ''}) ${functionName(child)} ;;`),
    '    esac',
    '    ;;',
    '  esac',
    '}',
  ].join('\n');
}

const functionName = (path: readonly string[]): string => ['_orrery', ...path].join('_').replaceAll('-', '_');

function optionSpecs({ names, what, takes, mayRepeat }: OptionWords): string[] {
  const others = mayRepeat ? '*' : `(${names.join(' ')})`;
  return names.map((name) => {
    const value = takes === undefined ? '' : `:${escaped(takes.placeholder)}:${actionOf(takes)}`;
    const end = takes !== undefined && name.startsWith('--') ? '=' : '';
    return quoted(`${others}${name}${end}[${bracketed(firstLine(what))}]${value}`);
  });
}

function placeSpec(place: ArgumentWords, index: number): string {
  const { name, isRequired, isVariadic } = place;
  const start = isVariadic ? '*' : String(index + 1);
  return quoted(`${start}:${isRequired || isVariadic ? '' : ':'}${escaped(name)}:${actionOf(place)}`);
}

/** What zsh does to find what may stand there; a blank: only its name is shown. */
function actionOf({ words, isFile, isList }: PlaceValues): string {
  if (isFile) return '_files';
  if (words.length === 0) return ' ';
  return isList ? `_values -s , value ${words.join(' ')}` : `(${words.join(' ')})`;
}

const firstLine = (text: string): string => text.split('\n', 1)[0] ?? '';
const escaped = (text: string): string => text.replaceAll(':', String.raw`\:`);
const bracketed = (text: string): string => text.replaceAll(/[[\]:\\]/gu, String.raw`\$&`);
const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
