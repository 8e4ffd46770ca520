import { beforeAll, describe, expect, it } from '@jest/globals';
import { openBashGrammar, openPolicy, type CommandPolicy } from '../index.js';
import { readPlain } from './plain-line.js';

describe('a plain line', () => {
  it.each([
    'ls -la /srv/app',
    'cd /srv/app && ls | head -n 5; df -h || echo "none"',
    "grep -c 'GET /' /var/log/x.log 2>/dev/null > /tmp/n 2>&1",
    'find . -type f ! -name x -exec ls {} +',
    'find . \\( -name a -o -name b \\) -print',
    "cat > notes.txt <<'EOF'\n$HOME `id` 'x\nEOF\nls",
    '# a comment\nls # another one\n\n',
    'ls |\n  wc -l &&\n  df',
    'ls \\\n  -la',
    'echo "a \\"b\\" \\$x c$" \'$(id)\' #x a#b',
    '[ -f a ] && ls ./*.log ~ ~/x /srv/[a-c]?',
    ': > out',
  ])('%j', (line) => {
    expect(readPlain(line)).toMatchObject({ plain: true });
  });

  it.each([
    ['x=echo; x=eval :; $x id', 'it sets a variable (x=echo): write the value where it is used'],
    ['a[0]+=1', 'it sets a variable'],
    ['ls $x', 'it puts in what is known only when it runs ($x): write the value'],
    ['ls "$(id)"', 'it puts in what another command prints'],
    ['ls "`id`"', 'run that command first'],
    ['ls $HOME', 'write ~ or the folder'],
    ['ls *', 'a file that * stands for could be read as an option: write ./ before it'],
    ['ls -l*', 'could be read as an option'],
    ['ls {a,b}', 'sh and bash read braces differently'],
    ['(ls)', 'it groups commands'],
    ['f() { ls; }', 'it groups commands'],
    ['for x in a; do ls; done', 'for begins something that is more than a command'],
    ['! ls', '! begins something'],
    ['ls & df', 'it goes on in the background (&)'],
    ['ls |& df', 'write 2>&1 |'],
    ['ls &> f', 'in the background'],
    ['ls >& f', 'write > file 2>&1'],
    ['> f', 'has no program'],
    ['ls > ./*', 'is written as a pattern'],
    ['ls <(id)', '<( is more than a redirection'],
    ['ls <<< x', "<< 'EOF'"],
    ['cat <<E\n$x\nE', "write <<'E'"],
    ['cat <<E\na', 'has no end'],
    ["'ls'", 'the name of a program must be written as it is'],
    ['l?', 'the name of a program'],
    [String.raw`ls \a`, 'use single quotes'],
    ["ls $'a'", 'known only when it runs'],
    ['ls a=~', 'read a ~ inside of a word differently'],
    ['ls ~root', 'only ~ and ~/ are plain'],
    ['ls; ; ls', 'an operator without a command'],
    ['ls &&', 'an operator without a command'],
    ["ls 'a", 'a quote without an end'],
    ['test -v x', 'a test of -v is not known'],
    ['[ -f x', 'no ] at its end'],
    ['ls \v', 'outside of quotes'],
  ])('is not %j', (line, because) => {
    expect(readPlain(line)).toMatchObject({ plain: false, because: expect.stringContaining(because) });
  });
});

describe('what is not plain', () => {
  let policy: CommandPolicy;
  beforeAll(async () => {
    const file =
      'version: 1\nrules: [{ id: all, match: { program: "*" }, decision: allow }, { id: sh, match: { program: sh, args: ["-c", ls] }, decision: allow }]';
    policy = openPolicy({ file }, await openBashGrammar());
  });
  const judge = (command: string) => policy.judge({ tool: 'EXEC_CLI', arguments: { command } }, undefined);

  it('is asked about each time, whatever a rule of a policy allows', () => {
    expect(judge('ls')).toMatchObject({ decision: 'allow' });
    expect(judge('x=1; ls')).toMatchObject({ decision: 'approve', rule: 'not-plain', grantable: false });
    expect(judge('x=1; ls').reasons[0]).toBe(
      'The command is not a plain line: it sets a variable (x=1): write the value where it is used.',
    );
  });

  it('is not let through by an approval that the floor refuses', () => {
    expect(judge('x=1; rm -rf /')).toMatchObject({ decision: 'deny', rule: 'floor.system-root' });
  });

  it('is let through where a rule names all of it: a program that starts another one, the settings of a repository', () => {
    expect(judge('git status')).toMatchObject({ decision: 'allow' });
    expect(judge("sh -c 'ls'")).toMatchObject({ decision: 'approve' });
  });
});
