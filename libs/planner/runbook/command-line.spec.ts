import { describe, expect, it } from '@jest/globals';
import type { Json } from '#proto';
import { checkCommandLine } from './command-line.js';
import { escaped, piecesOf, rendered, shellQuoted, typedValue } from './placeholders.js';

// test/runbooks/hostile.int.spec.ts asks real shells; here stands what is refused and why.
function check(text: string): string | undefined {
  const parsed = piecesOf(text);
  return parsed.ok ? checkCommandLine(parsed.pieces) : parsed.message;
}

describe('a placeholder in a command line', () => {
  it.each([
    'ls -- {{ p.x | sh }}',
    'grep -c -- {{ p.x | sh }} /var/log/syslog | sort',
    'cd /srv && ls {{ p.x | sh }}/{{p.y|sh}}.log',
    'X={{ p.x | sh }}; echo "$X"',
    'for x in {{ p.x | sh }}; do echo "$x"; done',
    'if [ -e {{ p.x | sh }} ]; then echo "it\'s there"; fi',
    'echo a > {{ p.x | sh }}',
    '> {{ p.x | sh }} echo a',
    "# it's a comment\nls {{ p.x | sh }}",
    'echo "${HOME}" \'a\' {{ p.x | sh }} <<END\nEND',
    'awk -v days={{ p.x | sh }} 1',
    'sed s/a/b/ {{ p.x | sh }}',
    'sh script.sh {{ p.x | sh }}',
    'echo a 2>&1 {{ p.x | sh }}',
    'echo no placeholder `here` $((1 + 1))',
  ])('may stand in: %s', (text) => {
    expect(check(text)).toBeUndefined();
  });

  it.each([
    ['ls {{ p.x }}', /^a value reaches a command line as \{\{ p\.x \| sh \}\} only; or put it into env/u],
    ['ls "{{ p.x | sh }}"', /inside of quotes/u],
    ["ls '{{ p.x | sh }}'", /inside of quotes/u],
    ['ls "$(cat "a {{ p.x | sh }}")"', /after \$\( inside of double quotes/u],
    ['ls "$(cat {{ p.x | sh }})"', /after \$\( inside of double quotes/u],
    ['ls `cat {{ p.x | sh }}`', /after a backquote/u],
    ['ls ${X:-{{ p.x | sh }}}', /inside of \$\{/u],
    ['ls "${X:-\'}" {{ p.x | sh }}', /after quotes or braces inside/u],
    ['echo $((1 + {{ p.x | sh }}))', /after \(\(/u],
    ['echo $[ {{ p.x | sh }} ]', /after \$\[/u],
    ["echo $'a' {{ p.x | sh }}", /after \$'/u],
    ['cat <<END\n{{ p.x | sh }}\nEND', /after <</u],
    ['ls \\{{ p.x | sh }}', /right after \\/u],
    ['ls ${{ p.x | sh }}', /right after \$/u],
    ["ls # it's {{ p.x | sh }}", /in a comment/u],
    ['{{ p.x | sh }}', /name of a program/u],
    ['true; {{ p.x | sh }} a', /name of a program/u],
    ['A=1 /bin/{{ p.x | sh }}', /name of a program/u],
    ['2>&1 {{ p.x | sh }}', /name of a program/u],
    ['if {{ p.x | sh }}; then true; fi', /name of a program/u],
    ['eval echo {{ p.x | sh }}', /read as a program/u],
    ['sh -c {{ p.x | sh }}', /read as a program/u],
    ['"ba"sh -ec a{{ p.x | sh }}', /read as a program/u],
    ['python3 -c {{ p.x | sh }}', /read as a program/u],
    ['awk {{ p.x | sh }} file', /read as a program/u],
    ['xargs {{ p.x | sh }}', /read as a program/u],
    ['ssh host {{ p.x | sh }}', /read as a program/u],
    ['[[ {{ p.x | sh }} -eq 1 ]]', /read as a program/u],
    ['test -v {{ p.x | sh }}', /read as a program/u],
    ['PATH={{ p.x | sh }} ls', /would set PATH/u],
  ])('is refused in: %s', (text, sentence) => {
    expect(check(text)).toMatch(sentence);
    expect(check(text)).toMatch(/env: \{P_NAME/u);
  });
});

describe('placeholders', () => {
  const values = new Map<string, Json>([
    ['p.n', 3],
    ['p.tags', ' a, b ,,'],
  ]);
  const only = (text: string) => {
    const parsed = piecesOf(text);
    const [piece] = parsed.ok ? parsed.pieces : [];
    return piece?.kind === 'placeholder' ? typedValue(piece, values) : undefined;
  };

  it('keep their type, part at commas, and are nothing without a value', () => {
    expect(only('{{ p.n }}')).toBe(3);
    expect(only('{{p.tags|list}}')).toEqual(['a', 'b']);
    expect(only('{{ p.none | list }}')).toBeUndefined();
    expect(only('{{ p.none }}')).toBeUndefined();
  });

  it('are not looked for in values, and braces can be written', () => {
    const parsed = piecesOf(`{{ p.x }} ${escaped('{{ p.x }} and {{')}`);
    if (!parsed.ok) throw new Error(parsed.message);
    expect(rendered(parsed.pieces, new Map([['p.x', '{{ p.y }}']]))).toBe('{{ p.y }} {{ p.x }} and {{');
  });

  it.each(['{{ p.x', '{{ x }}', '{{ p.x | upper }}', '{{ p.x.y }}', '{{ 1 + 1 }}', '{{}}', '{% if p.x %}{{ }}'])(
    '%s is none',
    (text) => {
      expect(piecesOf(text)).toEqual({
        ok: false,
        message: expect.stringContaining('is not a placeholder; there are'),
      });
    },
  );

  it('quote for a shell', () => {
    expect(shellQuoted("it's")).toBe(`'it'\\''s'`);
    expect(shellQuoted('')).toBe("''");
  });
});
