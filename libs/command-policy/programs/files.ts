import { type Call, each, program, type Program, type ProgramTable } from '../calls/index.js';
import {
  type Arguments,
  type CommandFinding,
  DIGITS,
  extended,
  glyphsOf,
  has,
  LETTER,
  literal,
  optionValue,
  unknownWord,
  type Word,
  wordOf,
} from '../words/index.js';

const RECURSIVE = ['-r', '-R', '-a', '--recursive', '--archive'];

/** Sources, then where they go. */
function transfer(
  args: Arguments,
  call: Call,
  source: (word: Word) => readonly CommandFinding[],
): readonly CommandFinding[] {
  const { operands, given } = args;
  const into = optionValue(args, '-t', '--target-directory');
  const sources = into === undefined && operands.length > 1 ? operands.slice(0, -1) : operands;
  // One name alone is linked from where the command stands.
  const target = into ?? (operands.length > 1 ? operands.at(-1) : call.name === 'ln' ? literal('.') : undefined);
  const isWhole = has(args, '--parents');
  const named = target === undefined ? [] : sources.flatMap((one) => inside(target, one, isWhole));
  const isDeep =
    given.some(({ name }) => RECURSIVE.includes(name)) ||
    sources.some(({ glyphs }) => glyphs.some((glyph) => glyph < 0));
  const targets = target === undefined ? [] : isDeep ? call.writeTree(target) : call.write(target);
  const only = into === undefined && operands.length === 1 ? operands[0] : undefined;
  return [
    ...sources.flatMap(source),
    // The last of its files is what the others are written to.
    ...(only !== undefined && only.text === undefined && only.found !== true
      ? [call.ask('privileged', 'could write to any of the files that a pattern stands for.')]
      : []),
    ...targets,
    ...named.flatMap((word) => call.write(word)),
    ...backups(args, target === undefined ? [] : [target, ...named], isDeep).flatMap((word) => call.write(word)),
    ...(LINKS.test(call.name) || has(args, '-l', '--link', '--symbolic-link') || (call.name === 'cp' && has(args, '-s'))
      ? sources
          .flatMap((word) => linked(word, target, args))
          .flatMap((word) => [...call.readTree(word), ...call.write(word)])
      : []),
  ];
}

const LINKS = /^ln$/u;

/** Who has a link to a file can write to the file; what a symbolic link says is read from where the link lies. */
function linked(source: Word, link: Word | undefined, args: Arguments): readonly Word[] {
  if (source.glyphs[0] === 47 || source.home || link === undefined || has(args, '-r', '--relative')) return [source];
  const from = (way: string) => wordOf([...link.glyphs, ...glyphsOf(way), ...source.glyphs], { home: link.home });
  return [source, from('/'), from('/../')];
}

/** What stood where something is written to is kept beside it, under a name that the command chooses. */
function backups(args: Arguments, targets: readonly Word[], isDeep: boolean): readonly Word[] {
  const suffix = optionValue(args, '-S', '--suffix');
  if (suffix === undefined && !has(args, '-b', '--backup')) return [];
  const isPlain = suffix?.text === undefined ? suffix === undefined : !suffix.text.includes('/') && !isDeep;
  if (!isPlain) return [unknownWord()];
  return targets.flatMap((word) => [
    extended(word, suffix?.glyphs ?? glyphsOf('~')),
    extended(word, [...glyphsOf('.~'), DIGITS, ...glyphsOf('~')]),
  ]);
}

/** Into a folder a file goes under its own name, or with all the folders that it was named with. */
function inside(folder: Word, file: Word, isWhole: boolean): Word[] {
  if (folder.dynamic || file.text === undefined) return [];
  if (isWhole) return [wordOf([...folder.glyphs, ...glyphsOf(`/${file.text}`)], { home: folder.home })];
  const name = file.text.split('/').findLast((part) => part !== '' && part !== '.');
  return name === undefined || name === '..'
    ? []
    : [wordOf([...folder.glyphs, ...glyphsOf(`/${name}`)], { home: folder.home })];
}

const COPY =
  '-abdfHiLlnPprRsuvxZT -t% -S: --archive --attributes-only!privileged --backup? --copy-contents --force --interactive --link --dereference --no-clobber --no-dereference ' +
  '--preserve? --no-preserve: --parents --recursive --reflink? --remove-destination --sparse: --strip-trailing-slashes --symbolic-link --suffix: ' +
  '--target-directory% --no-target-directory --update? --verbose --one-file-system';

/** Lets everybody do everything, or a program run as its owner. */
function modeFindings(mode: Word | undefined, call: Call): CommandFinding[] {
  if (mode?.text === undefined) return [call.ask('privileged', 'sets a mode that is known only when it runs.')];
  const digits = /[0-7]{4,}$/u.exec(mode.text)?.[0] ?? '';
  const isSpecial = /^0*[1-7][0-7]{3}$/u.test(digits) || /[+=][rwxXugo]*[st]/u.test(mode.text);
  return isSpecial ? [call.ask('privileged', 'lets a program run as its owner.')] : [];
}

function changed(args: Arguments, call: Call, skip: number): readonly CommandFinding[] {
  const files = args.operands.slice(skip);
  const isDeep = has(args, '-R', '--recursive');
  return files.flatMap((word) => [
    ...call.write(word),
    ...(isDeep ? (call.resolve(word) ?? []).flatMap((path) => call.rootFindings(path)) : []),
  ]);
}

const LOOK = (options: string) => program('read', options, 'list');

const LS =
  '-aAbBcCdDfFGhHiIkLmNpqQrRsStTuUvwxXZ1 -lnog!owners -I: -w: -T: --all --almost-all --author!owners --block-size: --color? --directory --classify? --file-type --format:!owners --full-time!owners --group-directories-first ' +
  '--human-readable --si --hide: --ignore: --inode --indicator-style: --kibibytes --dereference --numeric-uid-gid!owners --literal --quote-name --quoting-style: --reverse --recursive --size --sort: --time: --time-style: --tabsize: --width: --context --zero --no-group';

/** Sizes and modes are those of what stands there. */
const long: Program['also'] = (args, call) =>
  call.name === 'vdir' ||
  has(args, '-l', '-n', '-o', '-g', '-s', '-S', '-R', '--size', '--recursive', '--format', '--full-time')
    ? args.operands.flatMap((word) => call.lookThrough(word))
    : [];

/** What is said of a file by a format of its own. */
const saysOwner = (format: Word | undefined): boolean =>
  format?.text === undefined || /%[-+ #0-9.]*[uUgG]/u.test(format.text);

/** Programs that look at, move and change files. */
export const FILES: ProgramTable = {
  ...each('ls dir', program('read', LS, 'list', { also: long })),
  vdir: program('read', LS, 'list', { views: ['owners'], also: long }),
  stat: program('read', '-Lft -c: --dereference --file-system --format: --printf: --terse --cached:', 'list', {
    also: (args, call) => [
      ...(saysOwner(optionValue(args, '-c', '--format', '--printf'))
        ? [{ ...call.is('read', 'says whose a file is.'), views: ['owners'] as const }]
        : []),
      ...args.operands.flatMap((word) => call.lookThrough(word)),
    ],
  }),
  file: program(
    'read',
    '-bcdEhiklLNnprsvzZ0 -F: -P: -f< -m<!privileged --brief --mime --mime-type --mime-encoding --dereference --no-dereference --separator: --keep-going --files-from< --extension',
    'list',
  ),
  du: program(
    'read',
    '-0abcDhHklLmPsSx -B: -d: -t: -X< --all --apparent-size --block-size: --bytes --total --dereference --max-depth: --human-readable --inodes --summarize --separate-dirs --si --exclude: --exclude-from< --threshold: --time? --time-style: --one-file-system --null --files0-from<',
    'list',
    { also: ({ operands }, call) => operands.flatMap((word) => call.lookThrough(word)) },
  ),
  df: program(
    'read',
    '-aBhHiklPTtx -B: -t: -x: --all --block-size: --human-readable --si --inodes --local --no-sync --output? --portability --sync --type: --print-type --exclude-type: --total',
    'list',
    // A wall has mounts of its own.
    { views: ['whole-machine'] },
  ),
  ...each(
    'realpath readlink',
    LOOK(
      '-efmLPqsznv --canonicalize --canonicalize-existing --canonicalize-missing --logical --physical --quiet --relative-to: --relative-base: --strip --no-symlinks --zero --no-newline',
    ),
  ),
  ...each('basename dirname', program('read', '', 'any')),
  ...each('which whereis', program('read', '-abmsBMSfulpi', 'text')),
  tree: program(
    'read',
    '-adfilpqsDFhrtUvxACSnQN -ug!owners -L: -P: -I: -H: -T: -o> --noreport --charset: --filelimit: --dirsfirst --prune --du --si --inodes --device --sort: --timefmt: --matchdirs --gitignore',
    'list',
    { also: ({ operands }, call) => operands.flatMap((word) => call.lookThrough(word)) },
  ),
  namei: LOOK('-mnvx -lo!owners --long!owners --modes --owners!owners --vertical'),
  lsattr: LOOK('-aRdvlp'),
  getfacl: program('read', '-aRdpecsntEPL', 'list', { views: ['owners'] }),
  pathchk: LOOK('-pP'),

  cp: program('write', COPY, 'text', {
    also: (args, call) =>
      transfer(args, call, (word) => (has(args, ...RECURSIVE) ? call.readTree(word) : call.read(word))),
  }),
  mv: program(
    'write',
    '-bfinTuvZ -t% -S: --backup? --force --interactive --no-clobber --strip-trailing-slashes --suffix: --target-directory% --no-target-directory --update? --verbose',
    'text',
    {
      also: (args, call) =>
        transfer(args, call, (word) => [
          // A folder takes along what is in it, and has another name from then on.
          ...call.readTree(word),
          ...call.write(word),
          ...(call.resolve(word) ?? []).flatMap((path) => call.rootFindings(path)),
        ]),
    },
  ),
  install: program(
    'write',
    '-bcCdDpsTvZ -g:!privileged -o:!privileged -m: -t% -S: --backup? --compare --directory --group:!privileged --owner:!privileged --mode: --preserve-timestamps --strip --target-directory% --verbose',
    'text',
    {
      also: (args, call) => [
        ...(has(args, '-d', '--directory')
          ? args.operands.flatMap((word) => call.write(word))
          : transfer(args, call, (word) => call.read(word))),
        ...(has(args, '-m', '--mode') ? modeFindings(optionValue(args, '-m', '--mode'), call) : []),
        ...(has(args, '-s', '--strip') ? [call.ask('privileged', 'runs a program to strip.')] : []),
      ],
    },
  ),
  ln: program(
    'write',
    '-bdfFiLnPrsTv -t% -S: --backup? --force --interactive --logical --no-dereference --physical --relative --symbolic --suffix: --target-directory% --no-target-directory --verbose',
    'text',
    {
      also: (args, call) => transfer(args, call, () => []),
    },
  ),
  mkdir: program('write', '-pvZ -m: --mode: --parents --verbose', 'write'),
  touch: program('write', '-acfhm -d: -t: -r% --no-create --date: --no-dereference --reference% --time:', 'write'),
  mktemp: program('write', '-dqut -p> --directory --dry-run --quiet --tmpdir>', 'write', {
    does: 'makes a temporary file.',
  }),
  tee: program('write', '-aip --append --ignore-interrupts --output-error?', 'write'),
  split: program(
    'write',
    '-adexuxn -a: -b: -C: -l: -n: -t: --bytes: --lines: --line-bytes: --number: --suffix-length: --numeric-suffixes? --hex-suffixes? --additional-suffix: --elide-empty-files --verbose --separator:',
    'text',
    {
      also: (args, call) => {
        const [from, to = literal('x')] = args.operands;
        const suffix = optionValue(args, '--additional-suffix')?.glyphs ?? [];
        // Two letters, more of them when there are many parts, or as many as it is told.
        const pieces = [1, 2, 3, 4].map((length) => extended(to, [...Array.from({ length }, () => LETTER), ...suffix]));
        return [
          ...(from === undefined || from.text === '-' ? [] : call.read(from)),
          ...[to, ...pieces].flatMap((word) => call.write(word)),
          ...(suffix.includes(47) ? [call.ask('privileged', 'would put parts elsewhere.')] : []),
        ];
      },
    },
  ),
  csplit: program(
    'write',
    '-ksqz -b:!privileged -f> -n: --prefix> --suffix-format:!privileged --digits: --keep-files --quiet --silent --elide-empty-files',
    'text',
    {
      also: (args, call) => {
        const [from] = args.operands;
        const to = optionValue(args, '-f') ?? optionValue(args, '--prefix') ?? literal('xx');
        return [...(from === undefined ? [] : call.read(from)), ...call.write(extended(to, [DIGITS]))];
      },
    },
  ),
  chmod: program(
    'write',
    '-cfRv --changes --silent --quiet --verbose --recursive --preserve-root --reference%',
    'text',
    {
      also: (args, call) =>
        has(args, '--reference')
          ? [call.ask('privileged', 'takes the mode of another file.'), ...changed(args, call, 0)]
          : [...modeFindings(args.operands[0], call), ...changed(args, call, 1)],
    },
  ),
  ...each(
    'chown chgrp',
    program(
      'privileged',
      '-cfhHLPRv --changes --silent --quiet --verbose --recursive --dereference --no-dereference --from: --preserve-root --reference%',
      'text',
      {
        does: 'gives files to somebody else.',
        also: (args, call) => changed(args, call, has(args, '--reference') ? 0 : 1),
      },
    ),
  ),
  ...each(
    'setfacl chattr setcap chcon restorecon setfattr',
    program('privileged', '', 'text', { does: 'changes who may use a file.' }),
  ),

  rm: program(
    'destructive',
    '-dfiIrRv --dir --force --interactive? --one-file-system --recursive --verbose --preserve-root? --no-preserve-root',
    'remove',
  ),
  ...each('rmdir unlink', program('destructive', '-pv --ignore-fail-on-non-empty --parents --verbose', 'remove')),
  shred: program(
    'destructive',
    '-fuvxz -n: -s: --force --iterations: --size: --remove? --verbose --exact --zero --random-source<',
    'remove',
  ),
  truncate: program('destructive', '-cor -s: -r% --no-create --io-blocks --reference% --size:', 'remove'),
  fallocate: program('destructive', '-cdinpxvz -l: -o: --length:', 'remove'),
  ...each('sync', program('read', '-df --data --file-system', 'list')),
  ...each('bc', program('read', '-hilqsw --mathlib --quiet --standard --warn --interactive', 'read')),
};
