/** Gives a command line of bash that runs the given one. */
export type Wrapper = (command: string) => string;

/** The ways in which a harmful command is dressed up; each runs what it is given, whatever that is. */
export const WRAPPINGS: Readonly<Record<string, Wrapper>> = {
  env: (command) => (isPlain(command) ? `env LANG=C ${command}` : `env LANG=C bash -c ${quoted(command)}`),
  nohup: (command) => (isPlain(command) ? `nohup ${command}` : `nohup bash -c ${quoted(command)}`),
  xargs: (command) =>
    isPlain(command) ? `echo ${afterFirst(command)} | xargs ${firstOf(command)}` : throughXargs(command),
  'find -exec': (command) =>
    `find . -maxdepth 0 -exec ${isPlain(command) ? command : `bash -c ${quoted(command)}`} \\;`,
  'sh -c': (command) => `${isPlain(command) ? 'sh' : 'bash'} -c ${quoted(command)}`,
  eval: (command) => `eval ${quoted(command)}`,
  'quoting splits': (command) => (isPlain(command) ? split(command) : split(`eval ${quoted(command)}`)),
  heredoc: (command) => `bash <<'${DELIMITER}'\n${command}\n${DELIMITER}`,
  'process substitution': (command) => `source <(printf '%s\\n' ${quoted(command)})`,
  alias: (command) => `shopt -s expand_aliases\nalias x=${quoted(command)}\nx`,
  variable: (command) =>
    isPlain(command) ? `x=${firstOf(command)}\n$x ${afterFirst(command)}` : `x=${quoted(command)}\neval "$x"`,
  base64: (command) => `echo ${Buffer.from(command).toString('base64')} | base64 -d | bash`,
};

const DELIMITER = 'END_OF_SCRIPT';

/** One program and its arguments, without anything that a shell would read otherwise a second time. */
function isPlain(command: string): boolean {
  return /^[a-z][\w.+-]*(?: [\w.,:/@%+=-]+)+$/u.test(command) && !NOT_PROGRAMS.has(firstOf(command));
}

/** What only the shell itself knows, so that nothing else can run it. */
const NOT_PROGRAMS = new Set(
  `. : alias bg bind break builtin caller case cd command compgen complete compopt continue coproc declare dirs disown do
  enable eval exec exit export fc fg for function getopts hash help history if in jobs let local logout mapfile popd pushd
  read readarray readonly return select set shift shopt source suspend time times trap type typeset ulimit umask unalias
  unset until wait while`.split(/\s+/u),
);

const firstOf = (command: string): string => command.split(' ', 1)[0] ?? '';
const afterFirst = (command: string): string => command.slice(firstOf(command).length + 1);
const split = (command: string): string => `${command.slice(0, 1)}''${command.slice(1, 2)}""${command.slice(2)}`;
const throughXargs = (command: string): string => `printf '%s' ${quoted(command)} | xargs -0 bash -c`;

/** One word of a shell that is this text. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
