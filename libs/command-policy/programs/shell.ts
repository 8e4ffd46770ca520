import { type Call, each, program, type ProgramJudge, type ProgramTable } from '../calls/index.js';
import {
  dynamic,
  floor,
  type CommandFinding,
  variableFindings,
  type Invocation,
  has,
  optionsOf,
  takeApart,
  unknownOption,
  showWord,
  type Word,
} from '../words/index.js';

const SHELL = optionsOf(
  '-cefhlmnprsuvxabBCEHPTikqtw -o: -O: --norc --noprofile --posix --login --restricted --noediting --verbose',
);

/** A shell: a text given with -c is read like any other, everything else is code that is not seen. */
const shell: ProgramJudge = (call) => {
  const isAsked = call.args.length === 1 && /^--(?:version|help)$/u.test(call.args[0]?.text ?? '');
  if (isAsked) return [call.is('read', 'says what it is.')];
  const args = takeApart(call.args, SHELL, true);
  const [first, ...rest] = args.operands;
  const changes = has(args, '-i', '-l', '--login', '-o', '-O', '-a', '-s', '-r') || args.unknown.length > 0;
  const around: CommandFinding[] = [
    ...(changes ? [dynamic('interpreter', `${call.name} is started in a way that changes what it runs.`)] : []),
    ...(rest.some(({ substitution }) => substitution !== undefined)
      ? [dynamic('interpreter', 'A text takes arguments that are known only when it runs.')]
      : []),
  ];
  if (!has(args, '-c')) return [...fed(first, call), ...around, ...call.floorsIn(rest)];
  if (first?.text === undefined)
    return [
      dynamic('interpreter', `What ${call.name} runs is known only when it runs.`),
      ...downloaded(first),
      ...around,
    ];
  return [{ ...call.is('read', 'runs a text as a command.'), grantable: false }, ...around, ...call.script(first.text)];
};

/** An interpreter that takes its program from a file or from what is piped into it. */
function fed(file: Word | undefined, call: Call): readonly CommandFinding[] {
  const { input } = call.invocation;
  const base = dynamic('interpreter', `${call.name} runs code that is not seen here.`);
  if (file !== undefined && file.text !== '-')
    return [base, ...downloaded(file), ...(file.substitution === 'process' ? [] : call.read(file))];
  if (input.kind === 'text') return [base, ...call.script(input.text)];
  const isFetched = input.kind === 'pipe' && input.upstream.some(fetches);
  return [
    base,
    ...(isFetched ? [floor('piped-download', `What is fetched from elsewhere would be run by ${call.name}.`)] : []),
  ];
}

const FETCHES = /^(?:curl|wget|fetch|nc|ncat|netcat|ftp|lftp|aria2c|http|https|lynx|w3m|socat)$/u;
const fetches = ({ words }: Invocation): boolean =>
  words.some(({ text }) => FETCHES.test(text?.split('/').at(-1) ?? ''));

/** The commands of a substitution are judged where they stand; here it matters that a shell would run what they print. */
const downloaded = (word: Word | undefined): CommandFinding[] =>
  word?.substitution === undefined ? [] : [dynamic('interpreter', 'What a command prints would be run as code.')];

const SOURCE: ProgramJudge = (call) => {
  const [file] = call.args;
  return [
    dynamic('interpreter', `${call.name} runs code that is not seen here.`),
    ...(file === undefined ? [] : [...call.read(file), ...downloaded(file)]),
  ];
};

/** Interpreters of languages that are not read here. */
const interpreter: ProgramJudge = (call) => {
  const [only, ...more] = call.args;
  if (more.length === 0 && /^(?:--version|-V|-v|--help|-h)$/u.test(only?.text ?? ''))
    return [call.is('read', 'says what it is.')];
  return [
    ...fed(undefined, call).slice(1),
    dynamic('interpreter', `${call.name} runs code that is not read here.`),
    ...call.floorsIn(call.args),
  ];
};

/** A name with an index holds a command that the shell runs when it calculates the index. */
const hides = ({ text }: Word): boolean => text !== undefined && /\[.*(?:\$\(|`)/su.test(text);

const calculated =
  (base: ProgramJudge): ProgramJudge =>
  (call) => [
    ...base(call),
    ...(call.args.some((word) => word.dynamic || hides(word))
      ? [dynamic('hidden-command', `${call.name} could run a command that a text holds.`)]
      : []),
  ];

/** Sets variables whose names are its arguments. */
const setter =
  (skip: RegExp): ProgramJudge =>
  (call) => [
    call.is('read', 'sets variables of the shell.'),
    ...call.args.flatMap((word) => {
      if (word.dynamic || word.text === undefined)
        return [dynamic('environment', 'Which variable is set is known only when it runs.')];
      return skip.test(word.text) ? [] : variableFindings(word.text.replace(/[=[].*$/su, ''), false);
    }),
    ...(call.args.some(hides) ? [dynamic('hidden-command', 'A name holds a command.')] : []),
  ];

const SET_HARMLESS = /^[-+](?:[eufxvnhC]+|o|eo|euo|euxo|ux?o|exo)$/u;
const SET_NAMES = new Set(['pipefail', 'errexit', 'nounset', 'xtrace', 'noglob', 'noclobber', 'verbose']);

const set: ProgramJudge = (call) => {
  const strange = call.args.filter(
    ({ text }) => text === undefined || !(SET_HARMLESS.test(text) || SET_NAMES.has(text)),
  );
  return [call.is('read', 'sets how the shell works.'), ...strange.map((word) => unknownOption('set', showWord(word)))];
};

const printf: ProgramJudge = (call) => {
  const [first, second] = call.args;
  const base = call.is('read', 'prints text.');
  if (first?.text?.startsWith('-v'))
    return [
      base,
      ...(second === undefined
        ? []
        : [call.ask('read', 'sets a variable.'), ...variableFindings(second.text ?? 'PATH', false)]),
    ];
  return [
    base,
    ...(first?.dynamic === true ? [dynamic('dynamic-argument', 'What printf does is known only when it runs.')] : []),
  ];
};

const declare: ProgramJudge = (call) => {
  const isListing = call.args.every(({ text }) => /^-[pfFaAlux]*$/u.test(text ?? ''));
  return [
    call.is('read', isListing ? 'shows variables.' : 'declares variables.'),
    ...call.args.flatMap((word) => {
      if (word.text?.startsWith('-') === true)
        return /^-[pfFaAlruxgit]*$/u.test(word.text) ? [] : [unknownOption(call.name, word.text)];
      return word.text === undefined
        ? [dynamic('environment', 'Which variable is set is known only when it runs.')]
        : variableFindings(word.text.replace(/[=[].*$/su, ''), true);
    }),
    ...(call.args.some((word) => hides(word) || /^-[a-z]*[ni]/u.test(word.text ?? ''))
      ? [dynamic('hidden-command', 'A declaration could run a command.')]
      : []),
  ];
};

/** What the shell itself knows, and other interpreters. */
export const SHELL_PROGRAMS: ProgramTable = {
  ...each('sh bash dash ash zsh ksh mksh rbash fish csh tcsh', shell),
  ...each('source .', SOURCE),
  ...each(
    'python python2 python3 python3.9 python3.10 python3.11 python3.12 python3.13 python3.14 pypy pypy3 ipython perl ruby irb erb node nodejs ts-node tsx php lua luajit tclsh wish guile racket sbcl clisp julia R Rscript octave jshell groovy scala kotlin swift ghci runghc ocaml elixir iex erl escript pwsh powershell osascript vi vim nvim view ex ed emacs nano pico joe mc m4 dc gawk-ext jrunscript jjs gnuplot sqlite maxima gp psftp latex pdflatex tex gs ffmpeg convert magick gimp man info aspell tput reset stty script-fu jython',
    interpreter,
  ),
  ...each(
    'cd pushd popd dirs',
    program('read', '-LPen@', 'list', {
      also: ({ operands }, call) => (operands.some((word) => word.dynamic) ? [call.is('read', 'goes somewhere.')] : []),
    }),
  ),
  ...each('exit return break continue shift jobs times caller history help clear', program('read', '', 'text')),
  type: program('read', '-afptP', 'text'),
  ...each(
    'test [ [[',
    calculated(
      program('read', '', 'any', {
        // Behind a wall that reads, nothing can be written.
        also: (_, call) =>
          call.args.some(({ text }) => text === '-w')
            ? [{ ...call.is('read', 'asks what may be written.'), views: ['whole-machine'] }]
            : [],
      }),
    ),
  ),
  let: (call) => [
    dynamic('hidden-command', 'let calculates texts that could hold a command.'),
    ...setter(/^[^=]*$/u)(call),
  ],
  read: setter(/^-/u),
  ...each('wait suspend logout bg fg disown', calculated(program('read', '-n', 'text'))),
  getopts: setter(/^[:\w]*$/u),
  ...each('mapfile readarray', (call) => [
    call.is('read', 'reads lines.'),
    ...(call.args.some(({ text }) => text === undefined || /^-[a-zA-Z]*[Cc]/u.test(text))
      ? [dynamic('eval', 'A text would be run for each line.')]
      : []),
    ...setter(/^-|^\d+$/u)(call),
  ]),
  unset: setter(/^-/u),
  ...each('export readonly local declare typeset', declare),
  set,
  printf,
};
