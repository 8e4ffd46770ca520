import { isObject, type Json } from '#proto';
import type { Call } from './call.js';
import { type CommandFinding, type Invocation, glyphsOf, type Word } from '../words/index.js';
import { type PlainCommand, readPlain } from './plain-line.js';

/** The command could do what is not seen here: it is asked about each time, whatever a rule of a policy says. */
const notPlain = (because: string): CommandFinding => ({
  kind: 'syntax',
  class: 'read',
  atLeast: 'approve',
  rule: 'not-plain',
  reason: `The command is not a plain line: ${because}.`,
  grantable: false,
});

/**
 * What keeps a shell text from running unasked although nothing bad was found in it. The walk through the grammar explains what a
 * text does; a shell can always be made to do something that an explanation missed. So what runs unasked must be a text in which
 * there is nothing to explain, and in which both readers find the same words.
 */
export function plainTextFindings(text: string, invocations: readonly Invocation[]): readonly CommandFinding[] {
  const reading = readPlain(text);
  if (!reading.plain) return [notPlain(reading.because)];
  return agree(reading.commands, invocations) ? [] : [notPlain('two readers of it do not find the same words')];
}

function agree(plain: readonly PlainCommand[], walked: readonly Invocation[]): boolean {
  // A test in brackets starts nothing: the walk looks at it and does not list it.
  const started = plain.filter(({ words }) => keyOf(words[0]) !== BRACKET);
  const walkedWords = walked
    .filter(({ words }) => words.length > 0)
    .map(({ words }) => words.map(({ glyphs }) => glyphs));
  const walkedFiles = walked.flatMap(({ redirects }) =>
    redirects.map(({ operator, target }) => [operator, target.glyphs]),
  );
  const files = plain.flatMap(({ redirects }) => redirects.map(({ operator, target }) => [operator, target]));
  return (
    sameKeys(started.map(({ words }) => words).map(keyOf), walkedWords.map(keyOf)) &&
    sameKeys([...new Set(files.map(keyOf))], [...new Set(walkedFiles.map(keyOf))]) &&
    walked.every(({ assignments }) => assignments.length === 0)
  );
}

const BRACKET = JSON.stringify(glyphsOf('['));
const keyOf = (value: unknown): string => JSON.stringify(value);

function sameKeys(a: readonly string[], b: readonly string[]): boolean {
  const [left, right] = [a.toSorted(), b.toSorted()];
  return left.length === right.length && left.every((key, at) => key === right[at]);
}

/** Variables that change nothing but how something is told. */
const GIVEN = /^(?:LANG|LANGUAGE|LC_[A-Z]+|TZ|COLUMNS|LINES|NO_COLOR)$/u;

/** A variable that is given beside the text is set as much as one in the text; the owner of a device chose what its secrets hold. */
export function plainVariableFindings(env: Readonly<Record<string, Json>>): readonly CommandFinding[] {
  const isSecret = (value: Json) => isObject(value) && 'secret' in value;
  return Object.entries(env)
    .filter(([name, value]) => !GIVEN.test(name) && !isSecret(value))
    .map(([name]) => {
      const { grantable: _, ...finding } = notPlain(`env sets the variable ${name}, and what reads it is not known`);
      // The same value the next time: a person may allow it for a while.
      return finding;
    });
}

/** Programs that look at, or do the same to, each of any number of files. */
const EACH_FILE = new Set(
  `ls cat tac head tail wc du stat file find grep egrep fgrep zgrep zegrep zfgrep zcat bzcat xzcat zstdcat md5sum sha1sum sha224sum sha256sum sha384sum
  sha512sum b2sum cksum sum nl rev cut strings od hexdump basename dirname realpath readlink diff cmp tree getfacl lsattr chmod touch mkdir gzip gunzip
  bzip2 bunzip2 xz unxz zstd unzstd rm rmdir shred truncate`.split(/\s+/u),
);
/** Of those the ones that tell names and never what is in a file. */
const NAMES_ONLY = new Set(
  'ls du stat find basename dirname realpath readlink tree lsattr getfacl chmod touch mkdir rm rmdir'.split(' '),
);
const COPIES = new Set(['cp', 'mv']);

/** What the shell itself knows and what changes how the rest of the text is read. */
const CHANGES_THE_SHELL = new Set(
  `alias bg bind break builtin caller compgen complete compopt continue coproc declare dirs disown enable eval exec export fc fg getopts hash history
  jobs let local logout mapfile popd pushd read readarray readonly return set shift shopt source . suspend trap typeset unalias unset wait`.split(
    /\s+/u,
  ),
);

/** Programs that start exactly the words behind them. */
const STARTS_WORDS = new Set(['timeout', 'nice', 'ionice', 'nohup', 'stdbuf', 'find']);

/** Stands for files: written as a pattern, or put in by a search. What else is not known is no part of a plain line at all. */
const isPattern = ({ text, glyphs, dynamic, found }: Word): boolean =>
  text === undefined && (glyphs[0] ?? -1) >= 0 && (found === true || !dynamic);

/** The same for one program, however deep it hides: what is not known of it even though all of its words are. */
export function plainCallFindings(call: Call): readonly CommandFinding[] {
  const { name, args } = call;
  const findings: CommandFinding[] = [];
  if (CHANGES_THE_SHELL.has(name)) findings.push(notPlain(`${name} changes the shell that runs it: do without`));
  if (call.startsOthers && !STARTS_WORDS.has(name))
    findings.push({ ...notPlain(`${name} starts other commands: give them directly`), kind: 'program' });
  const files = args.filter(isPattern);
  if (files.length === 0 || STARTS_WORDS.has(name)) return findings;
  const isCopy = COPIES.has(name) && args.at(-1)?.text !== undefined;
  if (!EACH_FILE.has(name) && !isCopy)
    findings.push(notPlain(`a pattern can become several arguments of ${name}: name the files`));
  if (NAMES_ONLY.has(name)) return findings;
  // Wherever it stands, as a text to look for or as the value of an option, all but its first file is read.
  return [...findings, ...files.flatMap((word) => call.read(word)).filter(({ kind }) => kind === 'path')];
}
