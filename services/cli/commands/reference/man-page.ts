import { VERSION } from '#proto';
import { DESCRIPTION, ENVIRONMENT, EXIT_MEANINGS, FIRST_EXAMPLES, NAMES_OF_RUNS } from '../../terminal/index.js';
import { flat, bracketedPlace, type CommandWords } from './command-words.js';

/** In the macros of man(7), which every formatter knows. */
export function manPage(program: CommandWords): string {
  const verbs = flat(program).filter(({ path, isVerb }) => path.length > 0 && isVerb);
  return [
    `.TH ORRERY 1 "" "orrery ${VERSION}" "User Commands"`,
    ...section('NAME', [String.raw`orrery \- control plane for a fleet of devices`]),
    ...section('SYNOPSIS', [String.raw`.B orrery`, String.raw`.I command`, '.RI [ argument ...]', '.RI [ option ...]']),
    ...section('DESCRIPTION', [plain(DESCRIPTION), '.PP', plain(NAMES_OF_RUNS)]),
    ...section(
      'OPTIONS',
      program.options.flatMap(({ flags, what }) => row(flags, what)),
    ),
    ...section('COMMANDS', verbs.flatMap(commandText)),
    ...section(
      'EXIT STATUS',
      EXIT_MEANINGS.flatMap(([code, meaning]) => row(code, meaning)),
    ),
    ...section(
      'ENVIRONMENT',
      ENVIRONMENT.flatMap(([name, meaning]) => row(name, meaning)),
    ),
    ...section('EXAMPLES', literal(FIRST_EXAMPLES)),
  ].join('\n');
}

const section = (name: string, lines: readonly string[]): string[] => [`.SH ${name}`, ...lines];

function commandText({ path, what, options, arguments: places, examples }: CommandWords): string[] {
  const words = ['orrery', ...path, ...places.map(bracketedPlace)].join(' ');
  return [
    `.SS "${typed(words)}"`,
    sentence(what),
    ...places.filter((place) => place.what !== '').flatMap((place) => row(place.name, place.what)),
    ...options.flatMap(({ flags, what: meaning }) => row(flags, meaning)),
    '.PP',
    ...literal(examples),
  ];
}

const row = (word: string, meaning: string): string[] => ['.TP', String.raw`\fB${typed(word)}\fR`, plain(meaning)];

const literal = (lines: readonly string[]): string[] => ['.nf', ...lines.map(typed), '.fi'];

function sentence(text: string): string {
  return plain(`${text.charAt(0).toUpperCase()}${text.slice(1)}.`);
}

/** Text as it stands: a line that begins with a dot or an apostrophe would be a request to the formatter. */
function plain(text: string): string {
  return text.replaceAll('\\', String.raw`\e`).replaceAll(/^[.']/gmu, String.raw`\&$&`);
}

/** As `plain`, of what is typed: copied out of the page it works. */
function typed(text: string): string {
  return plain(text)
    .replaceAll('-', String.raw`\-`)
    .replaceAll("'", String.raw`\(aq`)
    .replaceAll('"', String.raw`\(dq`)
    .replaceAll('…', '...')
    .replaceAll('`', String.raw`\(ga`)
    .replaceAll('^', String.raw`\(ha`)
    .replaceAll('~', String.raw`\(ti`);
}
