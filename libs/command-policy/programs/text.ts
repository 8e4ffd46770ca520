import { type CommandFinding, has, optionValue, type Arguments } from '../words/index.js';
import { each, program, type ProgramTable, type Call } from '../calls/index.js';

const PATTERN_GIVEN = ['-e', '-f', '--regexp', '--file'];
const GREP =
  '-abchHilLnoqrRsvwxyzEFGPTUVZ -m: -A: -B: -C: -e: -f< -d: -D: -# --regexp: --file< --ignore-case --no-ignore-case --invert-match --word-regexp ' +
  '--line-regexp --count --color? --colour? --files-without-match --files-with-matches --max-count: --only-matching --quiet --silent --no-messages ' +
  '--byte-offset --with-filename --no-filename --label: --line-number --initial-tab --null --null-data --after-context: --before-context: --context: ' +
  '--text --binary-files: --include: --exclude: --exclude-dir: --exclude-from< --recursive --dereference-recursive --extended-regexp ' +
  '--fixed-strings --basic-regexp --perl-regexp --line-buffered --no-group-separator --group-separator:';
const RECURSIVE = ['-r', '-R', '--recursive', '--dereference-recursive', '-d'];
const skipPattern = (args: Arguments) => (has(args, ...PATTERN_GIVEN) ? 0 : 1);
const grep = program('read', GREP, 'read', {
  recursive: RECURSIVE,
  skip: skipPattern,
});

/** The number that `seq` or `head -c` would come to, when it would fill a disk. */
const HUGE = 1e8;

function seqFindings({ operands }: Arguments, call: Call): CommandFinding[] {
  return operands.some(
    ({ text, glyphs }) => Math.abs(Number(text)) > HUGE || (text === undefined && glyphs.length > 12) || text === 'inf',
  )
    ? [call.ask('write', 'would count very far.')]
    : [];
}

/** Programs that read files and write to their output. */
export const TEXT: ProgramTable = {
  ...each('grep egrep fgrep', grep),
  ...each(
    'zgrep zegrep zfgrep bzgrep xzgrep',
    program('read', GREP, 'read', {
      skip: skipPattern,
      // It gives one file after the other to grep, which then goes through the folder where it stands.
      also: (args, call) => (has(args, ...RECURSIVE) ? [call.ask('privileged', 'would read all files here.')] : []),
    }),
  ),
  rgrep: program('read', GREP, 'read', { recursive: true, skip: skipPattern }),
  rg: program(
    'read',
    '-aFHIinNlLoPqsSuUvVwxz. -c -A: -B: -C: -e: -f< -g: -t: -T: -m: -j: -r: -E: -M: -d: --count --files --hidden --no-ignore --glob: --type: --type-not: ' +
      '--max-count: --max-depth: --color: --colors: --ignore-case --smart-case --case-sensitive --files-with-matches --files-without-match --fixed-strings ' +
      '--invert-match --line-number --no-line-number --no-heading --heading --only-matching --word-regexp --line-regexp --multiline --pcre2 --stats --json ' +
      '--sort: --sortr: --context: --after-context: --before-context: --regexp: --file< --replace: --no-messages --null --vimgrep --trim --text --quiet',
    'read',
    { recursive: true, skip: (args) => (has(args, '-e', '-f', '--regexp', '--file', '--files') ? 0 : 1) },
  ),
  cat: program(
    'read',
    '-AbeEnsTtuv --show-all --number-nonblank --show-ends --number --squeeze-blank --show-tabs --show-nonprinting',
    'read',
  ),
  tac: program('read', '-br -s: --before --regex --separator:', 'read'),
  rev: program('read', '', 'read'),
  nl: program(
    'read',
    '-p -b: -d: -f: -h: -i: -l: -n: -s: -v: -w: --body-numbering: --number-format: --number-width: --number-separator:',
    'read',
  ),
  ...each('zcat bzcat xzcat zstdcat lzcat', program('read', '-fqvklr', 'read', { recursive: ['-r'] })),
  ...each('zless zmore bzless xzless', program('read', '', 'read')),
  head: program('read', '-qvz -n: -c: -# --lines: --bytes: --quiet --silent --verbose --zero-terminated', 'read'),
  tail: program(
    'read',
    '-fFqvz -n: -c: -s: -# --lines: --bytes: --follow? --quiet --silent --verbose --retry --pid: --sleep-interval: --zero-terminated --max-unchanged-stats:',
    'read',
    {
      skip: ({ operands }) => (/^\+\d+$/u.test(operands[0]?.text ?? '') ? 1 : 0),
    },
  ),
  less: program(
    'read',
    '-aABcCdeEfFgGiIJKLmMnNqQrRsSuUVwWXz -# -j: -p: -x: --quit-at-eof --quit-if-one-screen --no-init --raw-control-chars --RAW-CONTROL-CHARS --chop-long-lines --LINE-NUMBERS --ignore-case',
    'read',
    {
      also: ({ operands }, call) =>
        operands.some(({ text }) => text === undefined || text.startsWith('+'))
          ? [call.ask('privileged', 'would begin with a command of its own.')]
          : [],
    },
  ),
  more: program('read', '-dflpcsu -# -n:', 'read', {
    also: ({ operands }, call) =>
      operands.some(({ text }) => text?.startsWith('+'))
        ? [call.ask('privileged', 'would begin with a command of its own.')]
        : [],
  }),
  wc: program('read', '-clLmw --bytes --chars --lines --words --max-line-length --total: --files0-from<', 'read', {
    also: listed,
  }),
  sort: program(
    'read',
    '-bcCdfghiMmnRrsuVz -k: -t: -S: -T% -o> --key: --field-separator: --buffer-size: --output> --unique --reverse --numeric-sort --general-numeric-sort ' +
      '--human-numeric-sort --month-sort --version-sort --random-sort --ignore-case --ignore-leading-blanks --dictionary-order --ignore-nonprinting --stable ' +
      '--merge --check? --zero-terminated --sort: --parallel: --batch-size: --debug --random-source< --files0-from< --temporary-directory%',
    'read',
    {
      also: (args, call) => [
        ...listed(args, call),
        ...(has(args, '-T', '--temporary-directory')
          ? [optionValue(args, '-T', '--temporary-directory')].flatMap((word) =>
              word === undefined ? [] : call.write(word),
            )
          : []),
      ],
    },
  ),
  uniq: program(
    'read',
    '-cdDiuz -f: -s: -w: --count --repeated --all-repeated? --ignore-case --unique --skip-fields: --skip-chars: --check-chars: --zero-terminated --group?',
    'read',
    {
      also: ({ operands: [, output] }, call) => (output === undefined ? [] : call.write(output)),
    },
  ),
  cut: program(
    'read',
    '-nsz -b: -c: -d: -f: --bytes: --characters: --delimiter: --fields: --complement --only-delimited --output-delimiter: --zero-terminated',
    'read',
  ),
  tr: program('read', '-cCdst --complement --delete --squeeze-repeats --truncate-set1', 'text'),
  fold: program('read', '-bs -w: -# --bytes --spaces --width:', 'read'),
  fmt: program('read', '-cstu -w: -g: -# --width: --split-only --uniform-spacing', 'read'),
  ...each('expand unexpand', program('read', '-ai -t: --all --initial --first-only --tabs:', 'read')),
  paste: program('read', '-sz -d: --serial --delimiters: --zero-terminated', 'read'),
  join: program(
    'read',
    '-iz -a: -e: -j: -o: -t: -v: --ignore-case --header --check-order --nocheck-order --zero-terminated',
    'read',
  ),
  comm: program('read', '-123z --check-order --nocheck-order --output-delimiter: --total --zero-terminated', 'read'),
  column: program(
    'read',
    '-txJ -c: -s: -o: -N: -R: -H: --table --separator: --output-separator: --table-columns: --table-right: --table-noheadings --json --table-name: --fillrows',
    'read',
  ),
  ...each('look ul pr tsort ptx', program('read', '', 'read')),
  diff: program(
    'read',
    '-abBcdeEilnNpqrstTuvwyZ -# -C: -U: -I: -F: -L: -x: -X< -W: -S: --brief --recursive --unified? --context? --side-by-side --ignore-case --ignore-all-space --ignore-blank-lines ' +
      '--ignore-space-change --new-file --text --color? --width: --suppress-common-lines --report-identical-files --exclude: --exclude-from< --label: --minimal --strip-trailing-cr --no-dereference',
    'read',
    // Of two folders it compares all files, of a folder and a file the one with the same name.
    { recursive: true },
  ),
  ...each('sdiff zdiff diff3', program('read', '-abBdilmstTvwWxX3eEA', 'read', { recursive: true })),
  cmp: program('read', '-bls -i: -n: --print-bytes --verbose --silent --quiet --bytes: --ignore-initial:', 'read'),
  ...each(
    'md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum',
    program(
      'read',
      '-bctrswz -l: -a: --binary --check --tag --text --zero --ignore-missing --quiet --status --strict --warn --length: --algorithm: --untagged --raw --base64',
      'read',
    ),
  ),
  ...each(
    'base64 base32 basenc',
    program('read', '-di -w: --decode --ignore-garbage --wrap: --base64 --base64url --base32 --base16', 'read'),
  ),
  od: program(
    'read',
    '-abcdfhiloOsvxX -A: -j: -N: -S: -t: --address-radix: --format: --skip-bytes: --read-bytes: --output-duplicates --endian: --width?',
    'read',
  ),
  ...each('hexdump hd', program('read', '-bcCdovxX -n: -s: -e: --canonical --length: --skip: --no-squeezing', 'read')),
  xxd: program('read', '-abeEipruCd -c: -g: -l: -s: -o: -n: -R:', 'read', {
    optionsFirst: true,
    also: ({ operands: [, output] }, call) => (output === undefined ? [] : call.write(output)),
  }),
  strings: program('read', '-adfoUw -n: -t: -e: -s: -# --all --bytes: --radix: --encoding:', 'read'),
  iconv: program('read', '-cls -f: -t: -o> --from-code: --to-code: --output> --list --silent', 'read'),
  jq: program(
    'read',
    '-acCeMnrRsSj -f<!privileged --raw-output --compact-output --slurp --null-input --raw-input --exit-status --sort-keys --color-output --monochrome-output --tab --indent: --join-output --ascii-output --seq --stream --from-file<!privileged -L<!privileged',
    'read',
    {
      skip: (args) => (has(args, '-f', '--from-file') ? 0 : 1),
      also: (args, call) => {
        const reads =
          /\b(?:env|input_filename|import|include|getpath|\$ENV|\$__prog_args|debug|halt_error|get_search_list|modulemeta)\b|\$ENV/u;
        const [filter] = args.operands;
        return filter === undefined || filter.dynamic || reads.test(filter.text ?? '')
          ? [call.ask('privileged', 'reads more than the files that it is given.')]
          : [];
      },
    },
  ),
  seq: program('read', '-w -f: -s: -# --equal-width --format: --separator:', 'text', { also: seqFindings }),
  numfmt: program(
    'read',
    '-z -d: --to: --from: --field: --format: --padding: --suffix: --header? --round: --grouping',
    'text',
  ),
  shuf: program(
    'read',
    '-erz -i: -n: -o> --echo --input-range: --head-count: --output> --repeat --random-source< --zero-terminated',
    'read',
    {
      also: (args, call) =>
        has(args, '-r', '--repeat') && !has(args, '-n', '--head-count') ? [call.ask('read', 'would never end.')] : [],
    },
  ),
};

/** A file whose lines name files. */
function listed(args: Arguments, call: Call): CommandFinding[] {
  return has(args, '--files0-from') ? [call.ask('read', 'takes the names of its files from a file.')] : [];
}
