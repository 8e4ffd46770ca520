import type { TemplatePiece } from './placeholders.js';

/** Where the shell is while it reads the line (POSIX.1-2017, XCU 2.2 and 2.3). */
type Inside = 'none' | 'single' | 'double' | 'braces' | 'double-braces' | 'comment';

interface Reading {
  inside: Inside;
  /** The last character; `x` for one that is quoted by a backslash. */
  last: string;
  /** The line without its quotes and comments; what is quoted and would mean something is an `x`. */
  bare: string;
  escaped: boolean;
  /** From here on reading characters does not tell for certain what is quoted. */
  lost: string | null;
}

const INSTEAD = 'put it into env, e.g. env: {P_NAME: "{{ p.name }}"}, and write "$P_NAME"';
const NO_DATA = 'would be read as a program, not as data';
/** Words in front of a command. */
const KEYWORDS = new Set(['if', 'then', 'elif', 'else', 'while', 'until', 'do', 'coproc']);
/** All words of these are read once more: as commands, as assignments, as arithmetic, by another shell. */
const READ_AGAIN = new Set(
  (
    'eval trap alias let export readonly local declare typeset unset read mapfile readarray getopts [[ ' +
    'exec command builtin nohup nice ionice time timeout setsid stdbuf watch env sudo doas xargs parallel chroot source . ' +
    'ssh busybox nsenter systemd-run flock'
  ).split(' '),
);
/** With an option of these letters one of their words is a program text. */
const INTERPRETER = /^(?:(?:ba|da|z|k|a|c|tc|fi)?sh|su|runuser|script|python[\d.]*|perl[\d.]*|ruby|node|php|lua)$/u;
const PROGRAM_OPTION = /^-[A-Za-z]*[ceEr]|^--(?:command|eval|exec|print)/u;
/** Their first word is a program text. */
const PROGRAM_FIRST = /^(?:[mg]?awk|g?sed|jq|bc|dc)$/u;
/** These take the name of a variable after -v, in which a shell may find a command. */
const NAMES_VARIABLE = new Set(['test', '[', 'printf']);

/**
 * What is wrong with the places of the placeholders in a command line; undefined when each of them is one quoted word that is
 * only an argument. Stricter than a shell: what cannot be told for certain by reading characters is refused.
 */
export function checkCommandLine(pieces: readonly TemplatePiece[]): string | undefined {
  const reading: Reading = { inside: 'none', last: '', bare: '', escaped: false, lost: null };
  for (const piece of pieces) {
    if (piece.kind === 'text') {
      for (const character of piece.text) read(reading, character);
      continue;
    }
    const { name, filter } = piece;
    if (filter !== 'sh') return `a value reaches a command line as {{ ${name} | sh }} only; or ${INSTEAD}`;
    const wrong = checkPlace(reading);
    if (wrong !== undefined) return `{{ ${name} | sh }} ${wrong}: ${INSTEAD}`;
    reading.bare += 'x';
    reading.last = 'x';
  }
  return undefined;
}

function checkPlace({ inside, last, bare, escaped, lost }: Reading): string | undefined {
  if (lost !== null) return `stands after ${lost}, where its quoting is not certain`;
  if (inside === 'comment') return 'stands in a comment';
  if (inside === 'braces' || inside === 'double-braces') return 'stands inside of ${...}';
  if (inside !== 'none') return 'stands inside of quotes, which undo its own';
  if (escaped || last === '$') return `stands right after ${escaped ? '\\' : '$'}, which changes its quoting`;
  const wrong = checkCommand(bare);
  if (wrong !== undefined) return wrong;
  const [, assigned] = /(?:^|[\s;&|(])([A-Za-z_][A-Za-z0-9_]*)\+?=[^\s]*$/u.exec(bare) ?? [];
  if (assigned !== undefined && steers(assigned)) return `would set ${assigned}, which changes what programs do`;
  return undefined;
}

/** `bare`: the line up to the placeholder. */
function checkCommand(bare: string): string | undefined {
  const words = (
    bare
      .replaceAll(/[<>][&|]/gu, '>')
      .split(/[;&|(){}!\n]/u)
      .at(-1) ?? ''
  ).split(/\s+/u);
  const before = words.slice(0, -1).filter((word) => word !== '');
  while (before.length > 0) {
    const [word = ''] = before;
    if (!KEYWORDS.has(word) && !ASSIGNMENT.test(word) && !/^\d*[<>]/u.test(word)) break;
    before.splice(0, /^\d*[<>]+$/u.test(word) ? 2 : 1);
  }
  const [program, ...others] = before;
  const current = words.at(-1) ?? '';
  if (program === undefined) {
    return ASSIGNMENT.test(current) || /[<>]/u.test(current) || /^\d*[<>]+$/u.test(words.at(-2) ?? '')
      ? undefined
      : 'would be the name of a program';
  }
  const name = program.slice(program.lastIndexOf('/') + 1);
  const isProgram =
    READ_AGAIN.has(name) ||
    (INTERPRETER.test(name) && [...others, current].some((word) => PROGRAM_OPTION.test(word))) ||
    (PROGRAM_FIRST.test(name) && (others.length === 0 || PROGRAM_OPTION.test(others.at(-1) ?? ''))) ||
    (NAMES_VARIABLE.has(name) && others.includes('-v'));
  return isProgram ? NO_DATA : undefined;
}

const ASSIGNMENT = /^[A-Za-z_][A-Za-z0-9_]*\+?=/u;

function read(reading: Reading, character: string): void {
  const { inside } = reading;
  if (reading.escaped) {
    reading.escaped = false;
    // A backslash before the end of a line takes both away.
    if (character === '\n') return;
    reading.last = 'x';
    reading.bare += quoted(character);
    return;
  }
  if (character === '\\' && inside !== 'single' && inside !== 'comment') {
    reading.escaped = true;
    return;
  }
  reading.lost ??= whatIsLost(reading, character);
  const after = next(reading, character);
  if (inside === 'none' && after === 'none') reading.bare += character;
  else if (inside === after && (inside === 'single' || inside === 'double')) reading.bare += quoted(character);
  else if (inside === 'comment' && after === 'none') reading.bare += '\n';
  else if (after === 'braces' || after === 'double-braces') reading.bare += 'x';
  reading.inside = after;
  reading.last = character;
}

/** A quoted character means itself; of those that would mean something without quotes an `x` is left. */
const quoted = (character: string): string => (/[\w./+,:@%=-]/u.test(character) ? character : 'x');

function whatIsLost({ inside, last }: Reading, character: string): string | null {
  if (inside === 'single' || inside === 'comment') return null;
  if (character === '`') return 'a backquote';
  if (inside === 'double') return last === '$' && character === '(' ? '$( inside of double quotes' : null;
  if (inside === 'braces' || inside === 'double-braces') {
    return /["'({]/u.test(character) ? 'quotes or braces inside of ${...}' : null;
  }
  const both = `${last}${character}`;
  return ['<<', '((', "$'", '$['].includes(both) ? both : null;
}

function next({ inside, last }: Reading, character: string): Inside {
  switch (inside) {
    case 'single':
      return character === "'" ? 'none' : 'single';
    case 'double':
      if (character === '{' && last === '$') return 'double-braces';
      return character === '"' ? 'none' : 'double';
    case 'comment':
      return character === '\n' ? 'none' : 'comment';
    case 'braces':
      return character === '}' ? 'none' : 'braces';
    case 'double-braces':
      return character === '}' ? 'double' : 'double-braces';
    case 'none':
      break;
  }
  if (character === "'") return 'single';
  if (character === '"') return 'double';
  if (character === '{' && last === '$') return 'braces';
  return character === '#' && (last === '' || /[\s;&|()<>]/u.test(last)) ? 'comment' : 'none';
}

/** Variables that decide what a shell, the loader or an interpreter runs. */
const STEERING =
  /^(?:PATH|IFS|ENV|BASH_.*|SHELL|SHELLOPTS|BASHOPTS|CDPATH|PS[0-4]|PROMPT_COMMAND|LD_.*|DYLD_.*|GCONV_PATH|LOCPATH|NLSPATH|PYTHON.*|PERL.*|RUBY.*|NODE_.*|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|GIT_.*|SSH_.*|.*EDITOR|.*PAGER|LESS.*|BROWSER|HOME|TMPDIR|XDG_.*)$/u;

/** True for a variable of the environment that must not hold a value from outside. */
export function steers(variable: string): boolean {
  return STEERING.test(variable);
}
