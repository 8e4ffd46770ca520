import { type Call, optionFindings, type ProgramJudge } from '../calls/index.js';
import { type CommandFinding, has, optionsOf, takeApart, unknownOption, type Word } from '../words/index.js';

const OPTIONS = optionsOf(
  '-F: -v: -f<!privileged -e: --field-separator: --assign: --file<!privileged --source: --posix --re-interval --sandbox -b -n -O -r -S -t -P -c',
);

/** awk is a language of its own: a program that only prints is known by its words, all others are asked about. */
export const awk: ProgramJudge = (call) => {
  const args = takeApart(call.args, OPTIONS, true);
  const sources = args.given.filter(({ name }) => name === '-e' || name === '--source');
  const isGiven = sources.length > 0 || has(args, '-f', '--file');
  const programs = isGiven ? sources.map(({ value }) => value) : args.operands.slice(0, 1);
  const files = (isGiven ? args.operands : args.operands.slice(1)).filter(
    ({ text }) => text === undefined || !/^[A-Za-z_]\w*=/u.test(text),
  );
  return [
    call.is('read', 'prints text.'),
    ...args.unknown.map((option) => unknownOption(call.name, option)),
    ...args.given.flatMap((given) => optionFindings(given, call)),
    ...programs.flatMap((program) => programFindings(program, call)),
    ...files.flatMap((word) => (word.text === '-' ? [] : call.read(word))),
  ];
};

function programFindings(program: Word | undefined, call: Call): CommandFinding[] {
  if (program?.text !== undefined && onlyPrints(program.text)) return [];
  return [call.ask('privileged', 'has a program that may run commands or write files.')];
}

const TOKEN = /\s+|#[^\n]*|"(?:[^"\\\n]|\\.)*"|[A-Za-z_]\w*|\d[\w.]*|\|\||&&|[-+*/%^<>=!]=|\+\+|--|>>|\*\*|./suy;
/** After these a slash begins a pattern. */
const BEFORE_PATTERN = /^(?:[(,~!{};&]|\|\||&&|\n|~|=|==|!=|return|print|printf|in)$/u;
/** After a value it divides; a word that is no value is none of these. */
const BEFORE_DIVISION =
  /^(?:\]|\d.*|".*"|(?!(?:length|else|do|case|exit|delete|next|BEGIN|END|if|while|for)$)[A-Za-z_]\w*)$/su;
const FORBIDDEN = new Set([
  'system',
  'getline',
  'close',
  'fflush',
  'ENVIRON',
  'PROCINFO',
  'SYMTAB',
  'FUNCTAB',
  'ARGV',
  'ARGC',
  'extension',
  '@',
  '|',
  '`',
  '>>',
]);

/** Whether a program of awk only computes and prints to its output. */
export function onlyPrints(program: string): boolean {
  if (/\b(?:system|getline|extension)\b|@/u.test(program.replace(/"[\w .:%,-]*"/gu, ''))) return false;
  let at = 0;
  let last = '\n';
  let printing = false;
  while (at < program.length) {
    // awks differ in what they take for a pattern: where a quote could be in one, nothing is certain.
    if (program[at] === '/' && /^\/[^/\n]*"[^\n]*\//u.test(program.slice(at))) return false;
    if (program[at] === '/' && BEFORE_PATTERN.test(last)) {
      const pattern = /\/(?:[^/\\\n]|\\.)*\//suy;
      pattern.lastIndex = at;
      const match = pattern.exec(program);
      if (match === null || /\[[^\]]*$/u.test(match[0])) return false;
      at += match[0].length;
      last = 'pattern';
      continue;
    }
    // Neither for certain: as long as no second slash could end a pattern, it divides.
    if (program[at] === '/' && !BEFORE_DIVISION.test(last) && /^\/[^\n]*\//u.test(program.slice(at))) return false;
    TOKEN.lastIndex = at;
    const token = TOKEN.exec(program)?.[0];
    if (token === undefined || token === '"' || token === '\\') return false;
    at += token.length;
    if (/^[^\S\n]+$|^#/u.test(token)) continue;
    if (FORBIDDEN.has(token)) return false;
    if (token === 'print' || token === 'printf') printing = true;
    else if (token === ';' || token === '}') printing = false;
    // What looks like a comparison in a print is a file.
    else if (token === '>' && printing) return false;
    last = /\n/u.test(token) ? '\n' : token;
  }
  return true;
}
