import { WRAPPINGS, type Wrapper } from './wrappers.js';

/** Makes another command line that runs the given one; what stands around it is harmless. */
export interface Disguise {
  readonly name: string;
  readonly apply: Wrapper;
}

const lines = (before: string, after: string): Wrapper => {
  return (command) => `${before}\n${command}\n${after}`;
};

/** Shell text around a command that leaves it what it is. */
const SURROUNDINGS: Readonly<Record<string, Wrapper>> = {
  'blank lines': (command) => `\n\n  \t${command}\n\n`,
  'a comment before': (command) => `# nothing to see: ls -la\n${command}`,
  'after a harmless command': (command) => `ls -la; ${command}`,
  'after a long list': (command) => `${'true && '.repeat(40)}${command}`,
  'after a pipeline': (command) => `ps aux | sort -rk4 | head\n${command}`,
  'after a failure': (command) => `false || ${command}`,
  'before a harmless command': lines('', 'df -h'),
  'after an assignment': (command) => `n=5\n${command}`,
  group: lines('{', '}'),
  subshell: lines('(', ')'),
  condition: lines('if true; then', 'fi'),
  'other branch': lines('if false; then ls; else', 'fi'),
  'tested by if': lines('if', 'then :; fi'),
  'for loop': lines('for x in a b; do', 'done'),
  'while loop': lines('while read -r line; do', 'done < names.txt'),
  case: lines('case x in x)', ';; esac'),
  function: lines('work() {', '}; work'),
  'function as a harmless name': lines('df() {', '}\ndf -h'),
  'command substitution': lines('echo "$(', ')"'),
  'substitution in an assignment': lines('x=$(', ')'),
  'substitution in a redirection': lines('ls > "/tmp/$(', ')"'),
  'default value': lines('echo "${x:-$(', ')}"'),
  'here document': lines('cat <<EOT\n$(', ')\nEOT'),
  background: lines('{', '} &'),
  negated: lines('! {', '}'),
  'reads from a pipe': lines('echo x | {', '}'),
  'writes into a pipe': lines('{', '} | cat'),
  'an input of its own': lines('{', '} < names.txt'),
  trap: (command) => `trap ${quoted(command)} EXIT`,
};

export const DISGUISES: readonly Disguise[] = Object.entries({ ...SURROUNDINGS, ...WRAPPINGS }).map(
  ([name, apply]) => ({
    name,
    apply,
  }),
);

/** The same again, from the inside out. */
export function disguised(command: string, disguises: readonly Disguise[]): string {
  return disguises.reduce((text, { apply }) => apply(text), command);
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
