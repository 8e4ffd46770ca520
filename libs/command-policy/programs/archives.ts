import { type Call, each, optionFindings, program, type ProgramTable } from '../calls/index.js';
import {
  dynamic,
  type CommandFinding,
  extended,
  glyphsOf,
  has,
  optionsOf,
  takeApart,
  unknownOption,
  optionValue,
  type Arguments,
  literal,
  wordOf,
  type Word,
} from '../words/index.js';

const HERE = literal('.');

const TAR = optionsOf(
  '-AcdtruxakmOpPsSvwWzZjJlhnoBU -f: -C% -b: -T<!privileged -X< -g>!destructive -N: --create --extract --get --list --append --update --diff --compare --file: --directory% --gzip --gunzip --bzip2 --xz --zstd --lzma --verbose --exclude: --exclude-from< ' +
    '--strip-components: --keep-old-files --keep-newer-files --overwrite --no-overwrite-dir --preserve-permissions --same-owner --no-same-owner --no-same-permissions --to-stdout --totals --dereference --one-file-system --wildcards --no-wildcards --auto-compress --skip-old-files --exclude-vcs --exclude-caches --sort: --mtime: --numeric-owner --owner: --group: --mode:!privileged ' +
    '--absolute-names!privileged --remove-files!destructive --transform:!privileged --xform:!privileged --unlink-first!destructive --recursive-unlink!destructive',
);

/** `tar czf x` is `tar -czf x`. */
function dashed([first, ...rest]: readonly Word[]): readonly Word[] {
  if (first === undefined) return [];
  return first.text !== undefined && /^[A-Za-z]+$/u.test(first.text) ? bundled(first.text, rest) : [first, ...rest];
}

/** In the old style values follow in the order of their letters. */
function bundled(letters: string, rest: readonly Word[]): readonly Word[] {
  const words = [...rest];
  return [
    ...letters
      .split('')
      .flatMap((letter) => [literal(`-${letter}`), ...('fbCTXgN'.includes(letter) ? words.splice(0, 1) : [])]),
    ...words,
  ];
}

function tar(call: Call): readonly CommandFinding[] {
  const args = takeApart(dashed(call.args), TAR);
  const file = optionValue(args, '-f', '--file');
  const isRemote = file?.text !== undefined && /^[^/]*:/u.test(file.text);
  const mode = {
    list: has(args, '-t', '--list', '-d', '--diff', '--compare'),
    extract: has(args, '-x', '--extract', '--get'),
  };
  return [
    call.is(
      mode.list || (mode.extract && has(args, '-O', '--to-stdout')) ? 'read' : 'write',
      mode.list ? 'lists an archive.' : 'packs or unpacks files.',
    ),
    ...args.unknown.map((option) => unknownOption('tar', option)),
    ...args.given.flatMap((given) => optionFindings(given, call)),
    ...(isRemote ? [call.ask('network', 'would run a program on another machine.')] : []),
    ...(has(args, '-P') ? [call.ask('privileged', 'takes the names of an archive as they are.')] : []),
    ...(args.operands.some((word) => word.dynamic && (word.glyphs[0] ?? 0) < 0)
      ? [dynamic('dynamic-argument', 'An argument of tar is known only when it runs.')]
      : []),
    ...(isRemote || file === undefined || file.text === '-'
      ? []
      : mode.list || mode.extract
        ? call.read(file)
        : call.write(file)),
    // Whose files are is kept in what is packed.
    ...(mode.list || mode.extract
      ? []
      : [{ ...call.is('read', 'keeps whose files are.'), views: ['owners'] as const }]),
    ...tarPlaces(args, call, mode),
  ];
}

function tarPlaces(args: Arguments, call: Call, mode: { list: boolean; extract: boolean }): readonly CommandFinding[] {
  // Each folder is named from the one before it.
  const folders = args.given
    .filter(({ name }) => name === '-C' || name === '--directory')
    .flatMap(({ value }) => (value === undefined ? [] : [value]))
    .flatMap((word, at, all) => [word, ...all.slice(0, at).map((before) => within(before, word))]);
  if (mode.list) return [];
  if (mode.extract)
    return has(args, '-O', '--to-stdout')
      ? []
      : (folders.length > 0 ? folders : [HERE]).flatMap((word) => call.writeTree(word));
  const sources =
    folders.length === 0
      ? args.operands
      : args.operands.flatMap((word) => [word, ...folders.map((folder) => within(folder, word))]);
  return sources.flatMap((word) => call.readTree(word));
}

const within = (folder: Word, word: Word): Word =>
  word.glyphs[0] === 47 || word.home ? word : wordOf([...folder.glyphs, 47, ...word.glyphs], { home: folder.home });

const SQUEEZE =
  '-cdfhkLnNqrtvVz123456789 --stdout --decompress --force --keep --list --quiet --verbose --test --fast --best --to-stdout --uncompress -# --no-name --name';
const GZIP = `${SQUEEZE} -l -S: -b: -p: --suffix:!privileged`;
const XZ = `${SQUEEZE} -l -e -T: -S: --threads: --extreme --memlimit:`;
const ZSTD = `${SQUEEZE} -l -T? --threads: --rm --ultra --adapt --long? --no-progress`;

const packedBy = (name: string): string => PACKED.find(([program]) => program.test(name))?.[1] ?? '.gz';
const PACKED: readonly (readonly [RegExp, string])[] = [
  [/bz/u, '.bz2'],
  [/xz/u, '.xz'],
  [/lzma/u, '.lzma'],
  [/zstd/u, '.zst'],
  [/lz4/u, '.lz4'],
  [/lzop/u, '.lzo'],
  [/compress/u, '.Z'],
];
const SUFFIX = /\.(?:gz|z|Z|bz2?|xz|lzma|zst|lz4|lzo)$|[-_]z$/u;

/** A compressor takes the place of its file, unless it writes to its output or only looks. */
const squeeze = (options: string) =>
  program('read', options, 'read', {
    recursive: ['-r'],
    also: (args, call) => {
      // Of what it is told to do the last counts: a test is one only where nothing else is said.
      const looks =
        has(args, '-c', '--stdout', '--to-stdout') ||
        (has(args, '-l', '-t', '--list', '--test') && !has(args, '-z', '-d', '--decompress', '--uncompress'));
      if ((looks && !has(args, '--rm')) || args.operands.length === 0) return [];
      const suffix = optionValue(args, '-S');
      const undone = /^(?:g|b)?un|^uncompress$/u.test(call.name) || has(args, '-d', '--decompress', '--uncompress');
      return [
        call.is('write', 'puts another file in the place of the first.'),
        ...args.operands.flatMap((word) => call.write(word)),
        ...(suffix?.glyphs.includes(47) === true ? [call.ask('privileged', 'would put files elsewhere.')] : []),
        ...args.operands.flatMap((word) => call.write(extended(word, suffix?.glyphs ?? glyphsOf(packedBy(call.name))))),
        ...(undone ? args.operands.flatMap((word) => call.write(literal(word.text?.replace(SUFFIX, '') ?? '.'))) : []),
        ...(undone && has(args, '-N', '--name') ? [call.ask('privileged', 'takes the name that the file says.')] : []),
      ];
    },
  });

const zip = program(
  'write',
  '-0123456789jmqrTuvyXD -x: -i: -b> -n: -m!destructive -d!destructive --recurse-paths --quiet --junk-paths --exclude: --symlinks',
  'text',
  {
    also: (args, call) => [
      ...(has(args, '-m', '-d') ? [call.is('destructive', 'takes files away.')] : []),
      ...args.operands
        .slice(0, 1)
        .flatMap((word) => [...call.write(word), ...call.write(extended(word, glyphsOf('.zip')))]),
      ...args.operands
        .slice(1)
        .flatMap((word) => (has(args, '-r', '--recurse-paths') ? call.readTree(word) : call.read(word))),
      ...(has(args, '-T') ? [call.ask('privileged', 'may run another program to test.')] : []),
    ],
  },
);

const unzip = program('read', '-abcCjlLnopqtuvVXzZ12smTh -d% -x: -P: -O: -I:', 'text', {
  also: (args, call) => [
    ...args.operands.slice(0, 1).flatMap((word) => call.read(word)),
    ...(has(args, '-l', '-v', '-t', '-z', '-p', '-c', '-Z')
      ? []
      : [call.is('write', 'unpacks files.'), ...call.writeTree(optionValue(args, '-d') ?? HERE)]),
  ],
});

/** Archives and compressors. */
export const ARCHIVES: ProgramTable = {
  ...each('tar gtar bsdtar', tar),
  ...each('gzip gunzip pigz unpigz', squeeze(GZIP)),
  ...each('xz unxz lzma unlzma', squeeze(XZ)),
  ...each('zstd unzstd', squeeze(ZSTD)),
  ...each('bzip2 bunzip2 lz4 unlz4 lzop pbzip2 compress uncompress', squeeze(SQUEEZE)),
  ...each('zip zipnote', zip),
  unzip,
  zipinfo: program('read', '-12hlmMstTvz', 'read'),
  ...each('7z 7za 7zr rar unrar cpio ar pax patch', (call) => [
    call.ask('privileged', 'may write files anywhere.'),
    ...call.floorsIn(call.args),
  ]),
};
