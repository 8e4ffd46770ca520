import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { fakeTerminal, surroundings } from '../../testing/fake-terminal.js';
import { runProgram } from '../../run-program.js';
import { SHELLS, type Shell } from './shells.js';

const run = promisify(execFile);
/** What each shell is to complete, at the end of these lines. */
const LINES: readonly (readonly [line: string, offered: readonly string[]])[] = [
  ['orrery ru', ['runbooks', 'runs']],
  ['orrery dlq ', ['drop', 'ls', 'retry', 'show']],
  ['orrery dlq nothing ', []],
  ['orrery runs --st', ['--status']],
  ['orrery runs --status fa', ['failed']],
  ['orrery runs --status=fa', ['failed']],
  ['orrery --json runs --label team=db --status pa', ['paused']],
  ['orrery runs --limit 5 --sta', ['--status']],
  ['orrery logs cons', ['console']],
  ['orrery logs console --level w', ['warn']],
  ['orrery completion ', [...SHELLS]],
  ['orrery submit -f plan', ['plan one.yaml', 'plan-two.yaml']],
  ['orrery show plan-', ['plan-two.yaml']],
  ['orrery cancel plan', []],
  ['orrery tokens issue anna --scopes aud', ['auditor']],
  ['./orrery attention ', ['settle', 'take']],
];

/** What stands before a hyphen that is typed as one. */
const TYPED = '\\';

let directory: string;

async function said(line: string): Promise<string> {
  const terminal = fakeTerminal();
  expect(await runProgram(line.split(' '), surroundings(terminal))).toBe(0);
  return terminal.outLines.join('\n');
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'orrery-shells-'));
  for (const name of ['plan one.yaml', 'plan-two.yaml']) await writeFile(join(directory, name), '');
  for (const shell of SHELLS) {
    await writeFile(join(directory, `completion.${shell}`), `${await said(`completion ${shell}`)}\n`);
    await writeFile(join(directory, `ask.${shell}`), ASK[shell]);
  }
});
afterAll(() => rm(directory, { recursive: true, force: true }));

/** Tells of each line, given as an argument, what the shell completes at its end: a line that begins with `?`, and one for each offer. */
const ASK: Readonly<Record<Shell, string>> = {
  bash: String.raw`
source ./completion.bash
for line; do
  echo "?$line"
  # As readline takes it apart.
  read -ra COMP_WORDS <<<"${'$'}{line//=/ = }"
  [[ $line != *' ' ]] || COMP_WORDS+=('')
  COMP_CWORD=$((${'$'}{#COMP_WORDS[@]} - 1))
  _orrery
  printf '%s\n' "${'$'}{COMPREPLY[@]}"
done`,
  fish: String.raw`
source ./completion.fish
for line in $argv
  echo "?$line"
  complete -C $line | string split -f1 \t
end`,
  // The editor of zsh completes in a terminal only: a pseudo terminal, in which what is offered is printed.
  zsh: String.raw`
zmodload zsh/zpty
cat >setup.zsh <<'SETUP'
autoload -Uz compinit; compinit -D -u
source ./completion.zsh
bindkey '^I' complete-word
compadd() {
  if [[ " $* " != *\ -[OAD]\ * ]]; then
    local -a offered
    builtin compadd -O offered "$@"
    print -rl -- "" OFFER:$^offered
  fi
  builtin compadd "$@"
}
PROMPT="RE""ADY"
SETUP
zpty terminal zsh -f -i
zpty -w terminal 'source ./setup.zsh'
zpty -r -m terminal out '*READY*'
for line in "$@"; do
  # The line is thrown away, and the end said by the next one: also where there is nothing to offer.
  zpty -w -n terminal "$line"$'\t\x15'
  zpty -w terminal 'print DO""NE'
  zpty -r -m terminal out '*DONE*READY*'
  print -r -- "?$line"
  for offer in ${'$'}{(u)${'$'}{(M)${'$'}{(f)${'$'}{out//$'\r'/}}:#OFFER:*}#OFFER:}; do print -r -- "$offer"; done
done
zpty -d terminal`,
};

async function isHere(program: string): Promise<boolean> {
  return run(program, ['--version']).then(
    () => true,
    () => false,
  );
}

/** Bash is everywhere where tests run; the others where they are installed. */
const here = await Promise.all(SHELLS.map(async (shell) => shell === 'bash' || (await isHere(shell))));
const shells = SHELLS.filter((_, index) => here[index]);
const formatters = (await isHere('man')) ? ['man'] : [];

describe.each(shells)('in %s', (shell) => {
  it('what may come is completed: commands, options, values and files', async () => {
    const lines = LINES.map(([line]) => line);
    const env = { ...process.env, HOME: directory, LC_ALL: 'C.UTF-8' };
    const { stdout } = await run(shell, [`ask.${shell}`, ...lines], { cwd: directory, env, timeout: 60_000 });
    const [, ...answers] = `\n${stdout}`.split('\n?');
    const offered = answers.map((answer) => {
      const [line = '', ...offers] = answer.split('\n');
      return [
        line,
        [
          ...new Set(offers.map((offer) => offer.replace(/^--\w+=|\\(?= )/u, '')).filter((offer) => offer !== '')),
        ].toSorted(),
      ];
    });
    expect(offered).toEqual(LINES.map(([line, offers]) => [line, [...offers].toSorted()]));
  });
});

it.each(['text', ...formatters])(
  'the manual has every command, and the formatter has nothing to warn of: %s',
  async (formatter) => {
    const page = await said('man');
    await writeFile(join(directory, 'orrery.1'), page);
    const args = ['--warnings', '-E', 'UTF-8', '-l', 'orrery.1'];
    const env = { ...process.env, MANWIDTH: '80' };
    const formatted =
      formatter === 'text'
        ? { stdout: page.replaceAll(TYPED, ''), stderr: '' }
        : await run(formatter, args, { cwd: directory, env });
    const { stdout, stderr } = formatted;
    expect(stderr).toBe('');
    for (const words of ['orrery runs', 'orrery dlq drop <id...>', '--status <list>', 'ORRERY_HOME', 'EXIT STATUS']) {
      expect(stdout).toContain(words);
    }
  },
);
