import {
  type Call,
  each,
  mayBeOption,
  dynamicArgument,
  optionFindings,
  type ProgramJudge,
  type ProgramTable,
} from '../calls/index.js';
import {
  dynamic,
  type CommandFinding,
  variableFindings,
  type Invocation,
  has,
  optionsOf,
  takeApart,
  unknownOption,
  optionValue,
  type Arguments,
  ANY,
  literal,
  showWord,
  unknownWord,
  type Word,
} from '../words/index.js';
import { listedFiles } from './find.js';

interface Wrapping {
  readonly options: string;
  /** Words before the command that is started. */
  readonly skip?: number;
  /** What it adds to the command that it starts. */
  readonly also?: (args: Arguments, call: Call) => readonly CommandFinding[];
}

/** Starts the command that its arguments are. */
function wrapper({ options, skip = 0, also }: Wrapping): ProgramJudge {
  const known = optionsOf(options);
  return (call) => {
    const args = takeApart(call.args, known, true);
    const command = args.operands.slice(skip);
    return [
      { ...call.is('read', 'starts another command.'), grantable: false },
      ...args.unknown.map((option) => unknownOption(call.name, option)),
      ...args.given.flatMap((given) => optionFindings(given, call)),
      ...(also?.(args, call) ?? []),
      ...(args.unknown.length > 0 ? call.floorsIn(call.args) : []),
      ...unsure(args, skip, call),
      ...(command.length > 0 ? call.run(command) : []),
    ];
  };
}

/** Where words before the command are not known, the command is not known. */
function unsure({ given, operands }: Arguments, skip: number, call: Call): CommandFinding[] {
  const before = [...given.flatMap(({ value }) => (value === undefined ? [] : [value])), ...operands.slice(0, skip)];
  return before.filter(({ text }) => text === undefined).map((word) => dynamicArgument(call, word));
}

const elevated = (_: Arguments, call: Call): CommandFinding[] => [
  { ...call.is('privileged', 'runs a command with the rights of somebody else.'), grantable: false },
];

/** Runs other commands in a way that is not followed: only what must never run is looked for. */
const opaque: ProgramJudge = (call) => [
  dynamic(`program.${call.name}`, `${call.name} runs other commands.`),
  ...call.floorsIn(call.args),
];

const ENV = optionsOf(
  '-i -0 -u: -C% -S:!privileged -v --ignore-environment --unset: --chdir% --split-string:!privileged --null --debug',
);
const ASSIGNMENT = /^([^=]*)=/su;

function env(call: Call): readonly CommandFinding[] {
  const args = takeApart(call.args, ENV, true);
  const first = args.operands.findIndex(
    ({ text, glyphs }) => !(text === undefined ? glyphs.includes(61) : ASSIGNMENT.test(text)),
  );
  const assignments = args.operands.slice(0, first < 0 ? undefined : first);
  const command = first < 0 ? [] : args.operands.slice(first);
  const unset = args.given
    .filter(({ name }) => name === '-u' || name === '--unset')
    .flatMap(({ value }) => (value?.text === undefined ? [] : variableFindings(value.text, false)));
  const split = optionValue(args, '-S', '--split-string');
  return [
    {
      ...call.is('read', command.length > 0 ? 'starts another command.' : 'shows the environment.'),
      ...(command.length > 0 ? { grantable: false as const } : {}),
    },
    ...args.unknown.map((option) => unknownOption('env', option)),
    ...args.given.flatMap((given) => optionFindings(given, call)),
    ...unset,
    ...assignments.flatMap(({ text }) =>
      text === undefined
        ? [dynamic('environment', 'A variable is known only when it runs.')]
        : variableFindings(ASSIGNMENT.exec(text)?.[1] ?? '', true),
    ),
    ...(split?.text === undefined
      ? []
      : [dynamic('program.env', 'env would take a text apart and run it.'), ...call.script(split.text)]),
    ...(args.unknown.length > 0 ? call.floorsIn(call.args) : []),
    ...(command.length > 0 ? call.run(command, has(args, '-C', '--chdir') ? { places: [[47, ANY]] } : {}) : []),
  ];
}

const XARGS = optionsOf(
  '-0rtxp -a< -d: -E: -I: -i? -L: -l? -n: -P: -s: --null --no-run-if-empty --verbose --exit --interactive --arg-file< --delimiter: --eof? --replace? --max-lines? --max-args: --max-procs: --max-chars: --show-limits --process-slot-var:',
);

/** Adds what it reads to a command. What a search wrote is known well enough; everything else can be anything. */
function xargs(call: Call): readonly CommandFinding[] {
  const args = takeApart(call.args, XARGS, true);
  const command = args.operands.length > 0 ? args.operands : [literal('echo')];
  const replaced = has(args, '-I', '-i', '--replace')
    ? (optionValue(args, '-I', '-i', '--replace')?.text ?? '{}')
    : undefined;
  const files = has(args, '-a', '--arg-file') ? undefined : filesFrom(call.invocation);
  const inputs = files ?? [unknownWord('command')];
  return [
    { ...call.is('read', 'starts another command.'), grantable: false },
    ...args.unknown.map((option) => unknownOption('xargs', option)),
    ...args.given.flatMap((given) => optionFindings(given, call)),
    ...(has(args, '--process-slot-var') ? [dynamic('environment', 'xargs would set a variable.')] : []),
    ...inputs.flatMap((file) => call.run(filled(command, replaced, file), { input: { kind: 'none' } })),
    ...(args.unknown.length > 0 ? call.floorsIn(call.args) : []),
  ];
}

function filled(command: readonly Word[], replaced: string | undefined, file: Word): readonly Word[] {
  if (replaced === undefined) return [...command, file];
  return command.map((word) =>
    word.text === replaced ? file : word.text?.includes(replaced) === true ? unknownWord() : word,
  );
}

function filesFrom({ input }: Invocation): readonly Word[] | undefined {
  if (input.kind !== 'pipe') return undefined;
  const [only, ...more] = input.upstream;
  const [program, ...args] = only?.words ?? [];
  if (only === undefined || more.length > 0 || program?.text === undefined || only.functions.has(program.text))
    return undefined;
  return listedFiles(program.text, args);
}

/** The words of a command line that something makes of several. */
function joined(words: readonly Word[]): string | undefined {
  const texts = words.map(({ text }) => text);
  return texts.includes(undefined) ? undefined : texts.join(' ');
}

function shellText(words: readonly Word[], call: Call): readonly CommandFinding[] {
  const text = joined(words);
  return text === undefined
    ? [dynamic('dynamic-command', `What ${call.name} runs is known only when it runs.`), ...call.floorsIn(words)]
    : call.script(text);
}

const WATCH = optionsOf(
  '-bcdegtpx -n: -q: --interval: --no-title --differences? --beep --errexit --chgexit --color --precise --exec',
);

const watch: ProgramJudge = (call) => {
  const args = takeApart(call.args, WATCH, true);
  return [
    dynamic('program.watch', 'watch runs a command again and again, without an end.'),
    ...args.unknown.map((option) => unknownOption('watch', option)),
    ...(has(args, '-x', '--exec') ? call.run(args.operands) : shellText(args.operands, call)),
  ];
};

const FLOCK = optionsOf(
  '-enosuxFv -c: -E: -w: --shared --exclusive --unlock --nonblock --close --no-fork --timeout: --wait: --conflict-exit-code: --verbose',
);

const flock: ProgramJudge = (call) => {
  const args = takeApart(call.args, FLOCK, true);
  const [lock, ...command] = args.operands;
  const text = command[0]?.text === '-c' || command[0]?.text === '--command' ? command.slice(1) : undefined;
  return [
    dynamic('program.flock', 'flock starts another command.'),
    ...args.unknown.map((option) => unknownOption('flock', option)),
    ...(lock === undefined ? [] : call.write(lock)),
    ...(text === undefined ? (command.length > 0 ? call.run(command) : []) : shellText(text, call)),
  ];
};

const SU = optionsOf(
  '-lmpP -c: -s: -g: -G: -w: -u: --login --command: --shell: --preserve-environment --pty --user: --session-command:',
);

const su: ProgramJudge = (call) => {
  const args = takeApart(call.args, SU);
  const text = optionValue(args, '-c', '--command', '--session-command');
  return [
    ...elevated(args, call),
    ...(text === undefined ? call.floorsIn(args.operands) : shellText([text], call)),
    ...(has(args, '-u', '--user') && args.operands.length > 0 ? call.run(args.operands) : []),
  ];
};

const command: ProgramJudge = (call) => {
  const [first, ...rest] = call.args;
  if (first?.text === '-v' || first?.text === '-V')
    return [
      call.is('read', 'looks for programs.'),
      ...rest.filter(mayBeOption).map((word) => dynamicArgument(call, word)),
    ];
  const args = first?.text === '-p' || first?.text === '--' ? rest : call.args;
  if (args[0]?.glyphs[0] === 45) return [unknownOption(call.name, showWord(args[0]))];
  // The shell's own functions do not count here.
  return args.length === 0
    ? [call.is('read', 'does nothing alone.')]
    : call.run(args, { functions: new Set<string>() });
};

const exec: ProgramJudge = (call) => {
  const args = takeApart(call.args, optionsOf('-cl -a:'), true);
  return [
    { ...call.is('read', 'puts a command in the place of the shell.'), grantable: false },
    ...args.unknown.map((option) => unknownOption('exec', option)),
    ...(args.operands.length > 0 ? call.run(args.operands) : []),
  ];
};

const evaluate: ProgramJudge = (call) => {
  const words = call.args[0]?.text === '--' ? call.args.slice(1) : call.args;
  return [dynamic('eval', 'eval runs text as a command.'), ...shellText(words, call)];
};

/** Programs that start other programs. */
export const WRAPPERS: ProgramTable = {
  env,
  xargs,
  watch,
  flock,
  command,
  builtin: command,
  exec,
  eval: evaluate,
  ...each('nohup setsid', wrapper({ options: '-cfw' })),
  nice: wrapper({ options: '-# -n: --adjustment:' }),
  ionice: wrapper({ options: '-c: -n: -t -p:!privileged --class: --classdata:' }),
  chrt: wrapper({ options: '-abdfior -p:!privileged', skip: 1 }),
  taskset: wrapper({ options: '-ac -p:!privileged', skip: 1 }),
  timeout: wrapper({
    options: '-fpv -k: -s: --foreground --preserve-status --kill-after: --signal: --verbose',
    skip: 1,
  }),
  time: wrapper({ options: '-pvq -a -f: -o> --portability --verbose --append --format: --output> --quiet' }),
  stdbuf: wrapper({ options: '-i: -o: -e: --input: --output: --error:' }),
  sudo: wrapper({
    options:
      '-nSkHEbiPA -u: -g: -p: -C: -T: -h: --user: --group: --non-interactive --stdin --preserve-env? --login --set-home -l -v -K -s -D% -R%',
    also: elevated,
  }),
  doas: wrapper({ options: '-nLs -u: -C<', also: elevated }),
  pkexec: wrapper({ options: '--user: --disable-internal-agent --keep-cwd', also: elevated }),
  chroot: wrapper({ options: '--userspec: --groups: --skip-chdir', skip: 1, also: elevated }),
  ...each('su runuser sg newgrp', su),
  ...each(
    'parallel script scriptreplay expect unbuffer strace ltrace perf gdb lldb valgrind bpftrace bpftool stap catchsegv logsave fakeroot fakechroot setarch linux32 linux64 i386 x86_64 uname26 numactl prlimit cgexec cgclassify unshare nsenter setpriv capsh ld.so ld-linux.so.2 ld-linux-x86-64.so.2 ld-linux-aarch64.so.1 start-stop-daemon daemon daemonize dbus-run-session dbus-launch xvfb-run screen tmux byobu dtach abduco xterm rxvt gnome-terminal konsole x-terminal-emulator coproc trap alias unalias complete compgen compopt bind enable hash fc shopt busybox toybox run-parts entr inotifywait incrontab pipexec moreutils chronic ifne vipe sponge ts firejail bwrap proot schroot debootstrap pbuilder sem tsp nq rlwrap socksify tsocks torify faketime libtool ccache distcc nsjail',
    opaque,
  ),
};
