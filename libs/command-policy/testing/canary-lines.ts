import fc from 'fast-check';
import { REAL_OPTIONS } from './canary-options.js';

/** What lies in a canary world and what could come to lie there, in the ways in which a line can name it. */
const NAMES = [
  'a.txt',
  './b.txt',
  'dir',
  'new',
  './dir/new',
  'a.gz',
  'a.tar',
  'list',
  './*.txt',
  '.',
  'dir/c.txt',
  'script',
  '~/notes',
  '-',
  './dir/*',
  'link',
  'way',
  'way/new',
  'gone',
  '../system/unit',
  '../secret/key',
  '../system',
  '../secret',
  '~/.profile',
  '~',
  './l*',
  './*/c*',
  'dir/out',
  'dir/out/key',
  'way/../secret/key',
  '~/.ssh/id_ed25519',
  '~/.ssh',
  '~/.s*/i*',
  '/dev/null',
  '/dev/stdout',
] as const;

const VALUES = [
  '1',
  '2',
  'n',
  'one',
  'new2',
  '.service',
  'rc',
  '../system/x',
  'dir/new3',
  'recurse',
  '+1',
  'numbered',
  'sh',
  'touch ../system/made',
  '/one/',
  '%s',
  'name',
  'always',
  '0',
  'secret',
  '../secret/key',
  'list',
  '1,2',
  ':',
] as const;

/** Programs of sed, awk, find and jq, which are languages of their own. */
const TEXTS: Readonly<Record<string, readonly string[]>> = {
  sed: [
    'p',
    's/one/two/',
    '1,2d',
    '/one/p',
    '$d',
    'w new',
    's/one/x/w new',
    's/one/id/e',
    '1e touch new',
    'r ../secret/key',
    '1R list',
    'y/o/w new/',
    'a\\\ntext',
    'i text',
    ':a;s/o/w/;ta',
    's/[/]/w new/',
    '\\cwc w new',
    '1!G;h;$!d',
    'y/a/b/;w new',
    's/a/b/;#\nw new',
    '}',
    '{p}',
    '{p;w new\n}',
    's,/,w,',
    'c\\',
    'F',
    'z',
    'W new',
    'Q5',
    'l;w new',
    'b a;w new\n:a',
    '/x/w new',
    '0,/one/p',
    's//x/',
    's/a/\\\nw new/',
  ],
  awk: [
    '{print $1}',
    '{print > "new"}',
    'BEGIN{print 1+/#/|"touch new"}',
    '{print $1/2,"a" > "new"}',
    'BEGIN{system("touch new")}',
    '{x=/"/;print > "new"}',
    '/one/',
    '{print /a/ ? 1 : 2 > "new"}',
    'BEGIN{while(("cat ../secret/key"|getline l)>0)print l}',
    '{n=n/2;y=1/4}',
    'BEGIN{getline x < "../secret/key"; print x}',
    'function f(a){return a/2}{print f($2)}',
    '{printf "%s\\n",$1 >> "new"}',
    '{a[$1]++}END{for(k in a)print k,a[k]/2}',
    '{print(1)/2>"new"}',
    '!/#/{print}',
    '{print -/#/ > "new"}',
    '{print $NF/#/>"new"\n}',
    'BEGIN{printf("a")|"touch new"}',
    '{print ($1)/#/|"touch new"\n/1}',
    'BEGIN { "touch new" | getline }',
    '{print length/#/|"touch new"\n1}',
    'BEGIN{ARGV[1]="../secret/key"}1',
    '{print ENVIRON["HOME"]}',
    '{print a=1 /b/ 2>"new"}',
    '{print > $1}',
    '{print "a" "b" /c/ "d"}',
    '{ if ($1 ~ /o/) print; else /#/ ; print 1 > "new"\n}',
  ],
  find: [
    '-name',
    '-type',
    'f',
    '-newer',
    '-print',
    '-exec',
    'cat',
    '{}',
    '+',
    '\\;',
    'touch',
    '-delete',
    '-fprintf',
    '-fls',
    '-fprint',
    '-ok',
    '-execdir',
    '-maxdepth',
    '1',
    '-printf',
    '%p',
    '-o',
    '!',
    '-L',
    '-follow',
    '-size',
    '+0',
    'head',
    '-n1',
    'cp',
    'ls',
    '-perm',
    '-samefile',
    '\\(',
    '\\)',
    '-files0-from',
    '-regex',
    '-empty',
    '-prune',
    'wc',
  ],
  jq: [
    '.',
    '.a',
    'input',
    'env',
    '$ENV',
    '-n',
    '"a"',
    'input_filename',
    '@sh',
    '-r',
    'inputs',
    '$__loc__',
    'include "a"; .',
    'import "a" as a; .',
    'debug',
    '-R',
    '.[0]',
    'limit(1;inputs)',
    '--rawfile',
    '--slurpfile',
    '--args',
    '-f',
    'getpath(["a"])',
    'ltrimstr("a")',
    'halt',
    'input_line_number',
    'splits("o")',
    '--seq',
    '-L',
    '-e',
  ],
};
const BEFORE = [
  'timeout 2 ',
  'nice ',
  'nohup ',
  'cd dir && ',
  'cd way; ',
  'cd -- ../secret && ',
  'cd -P -- way; ',
  'mkdir -p x && cd x && ',
  'touch dir/new && ',
] as const;
const BEHIND = [
  ' > new',
  ' >> dir/new',
  ' > way/x',
  ' > ../system/x',
  ' < a.txt',
  ' 2> new',
  ' | sort',
  ' | head -n 2',
  ' > ~/.profile',
  ' > link',
  ' > gone',
  ' < link',
  ' | tee new',
  ' | tee -a ../system/unit',
] as const;
const JOINTS = ['; ', ' && ', ' || ', ' | '] as const;

const quoted = (text: string): string =>
  /^[\w./~*?+:,%{}\\()!-]+$/u.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** Of a list mostly its first half, which is the harmless one. */
const pick = (list: readonly string[]) =>
  fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...list.slice(0, Math.ceil(list.length / 2))) },
    { weight: 2, arbitrary: fc.constantFrom(...list) },
  );
const rarely = (list: readonly string[], weight: number) =>
  fc.oneof({ weight, arbitrary: fc.constant('') }, { weight: 1, arbitrary: pick(list) });

const value = fc.oneof({ weight: 2, arbitrary: pick(VALUES).map(quoted) }, { weight: 3, arbitrary: pick(NAMES) });

function option(options: readonly string[]) {
  return fc.tuple(fc.constantFrom(...options), value, fc.integer({ min: 0, max: 9 })).map(([text, given, way]) => {
    const name = text.replace(/=$/u, '');
    // What takes no value is given one now and then, and a long name is cut short.
    const short = way === 9 && name.startsWith('--') && name.length > 6 ? name.slice(0, -2) : name;
    if (text.endsWith('='))
      return way < 2
        ? name
        : name.startsWith('--')
          ? `${short}=${given}`
          : way < 6
            ? `${name} ${given}`
            : `${name}${given}`;
    return way === 0 ? `${short} ${given}` : short;
  });
}

const command = fc.constantFrom(...Object.keys(REAL_OPTIONS)).chain((name) => {
  const options = (REAL_OPTIONS[name] ?? '').split(' ').filter((one) => one !== '');
  const texts = TEXTS[name];
  const words = fc.oneof(
    { weight: options.length > 0 ? 3 : 0, arbitrary: options.length > 0 ? option(options) : fc.constant('') },
    { weight: 3, arbitrary: pick(NAMES) },
    { weight: 1, arbitrary: value },
  );
  const first = texts === undefined ? fc.constant('') : fc.constantFrom(...texts).map(quoted);
  return fc
    .tuple(rarely(BEFORE, 12), first, fc.array(words, { minLength: 1, maxLength: 4 }), rarely(BEHIND, 5))
    .map(([before, text, rest, behind]) => {
      const at = rest.length > 1 && rest[0]?.startsWith('-') === true ? 1 : 0;
      return `${before}${[name, ...rest.slice(0, at), text, ...rest.slice(at)].filter((one) => one !== '').join(' ')}${behind}`;
    });
});

/** Lines of everyday programs with their real options, on what lies in a canary world, some of which are attacks. */
export const canaryLines: fc.Arbitrary<string> = fc
  .tuple(command, fc.array(fc.tuple(fc.constantFrom(...JOINTS), command), { maxLength: 1 }))
  .map(([first, more]) => first + more.flat().join(''));
