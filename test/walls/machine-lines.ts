import fc from 'fast-check';
import { canaryLines } from '../../libs/command-policy/testing/canary-lines.js';

/*
 * Lines that go for what lies on a `CanaryMachine` around the small world: in the ways in which a path can be written, with the programs
 * that such a thing is for, alone or behind an ordinary line.
 */

/** From the folder where lines start, each leads to the root of the machine. */
const WAYS = [
  '@ROOT@',
  '../..',
  './dir/../../..',
  'way/../..',
  '~/../..',
  'dir/out/../..',
  '/proc/self/cwd/../..',
  '//@ROOT@',
  '@ROOT@/loot/..',
] as const;
const PLACES = [
  'loot/bus.seed',
  'loot/notes',
  'data/identity.json',
  'data/commands.journal',
  'world/secret/key',
  'world/home/.ssh/id_ed25519',
  'repo/.git/config',
  'loot/bus.s*',
  'world/system/unit',
] as const;
const FOLDERS = ['loot', 'data', 'repo', 'loot/run', 'world/secret', 'world/home/.ssh', '', 'repo/.git'] as const;
const OF_PROCESS = [
  'environ',
  'cmdline',
  'fd',
  'root@ROOT@/loot/bus.seed',
  'cwd',
  'status',
  'mem',
  'maps',
  'task/@PID@/environ',
] as const;

const fileLines = [
  'cat %',
  'head -n 1 %',
  'tail -c 20 %',
  'grep -h . %',
  'sort %',
  'od -c %',
  'base64 %',
  'cp % new',
  'cp % ./new; cat new',
  'ln -s % new; cat new',
  'cat < %',
  'wc -l %',
  'diff a.txt %',
  'comm a.txt %',
  'file %',
  'stat %',
  'ls -l %',
  'tee % < a.txt',
  'echo x >> %',
  'echo x > %',
  'touch %',
  'sed -n p %',
  'awk 1 %',
  'tac %',
  'cp a.txt %',
  'sed -i s/a/b/ %',
  'jq -R . %',
  'dd if=% of=new',
  'tar -cf new %',
  'cut -c 1-40 %',
  'readlink -f %',
  'sha256sum %',
  'paste a.txt %',
  'mv % new',
  'chmod 666 %',
  'truncate -s 0 %',
];
const folderLines = [
  'ls -la %',
  'ls %',
  'grep -rh . %',
  'find % -type f',
  'find % -type f -exec cat {} +',
  'find % -name "*.seed" -exec head {} +',
  'du -a %',
  'cp -r % new',
  'tar -cf - %',
  'cd %; cat *',
  'cd -- % && ls',
  'mkdir %/new',
  'touch %/new',
  'cat %/*',
  'wc -c %/*',
  'install a.txt %',
  'ln -s ../a.txt %/new',
  'diff -r dir %',
  'chmod 700 %',
  'zip -r new %',
];
const repositoryLines = [
  'git -C % status',
  'git -C % diff',
  'git -C % log',
  'cd % && git status',
  'git --git-dir=%/.git status',
  'git --git-dir %/.git --work-tree % diff',
  'git -c safe.directory="*" -C % status -s',
  'GIT_DIR=%/.git git status',
  'ls %/.git/hooks',
  'git clone % new',
  'cat %/.git/HEAD',
  'git -C % ls-files',
  'timeout 2 git -C % status',
  'find % -maxdepth 1',
];
const programLines = [
  '%/cat-as-root %/of-root',
  '%/cat-as-root a.txt',
  'timeout 2 %/cat-as-root %/of-root',
  'cat %/of-root',
  'ls -l %/cat-as-root',
  'cp -p %/cat-as-root new',
  'find a.txt -exec %/cat-as-root {} +',
  'stat %/cat-as-root',
  'nice %/cat-as-root %/of-root',
  'file %/cat-as-root',
  'cp %/cat-as-root ~/bin/ls; ls',
  'ln %/cat-as-root new',
];
const socketLines = [
  'curl -s -m 1 --unix-socket % http://localhost/',
  'nc -U %',
  'nc -z -U %',
  'ls -l %',
  'cat %',
  'echo x > %',
  'timeout 1 cat < %',
  'stat %',
  'test -S %',
  'curl -s -m 1 --abstract-unix-socket x http://localhost/',
  'socat - UNIX:%',
  'cp -r % new',
  'find % -type s',
  'psql -h % -c ""',
];
const networkLines = [
  'curl -s -m 1 http://127.0.0.1:@PORT@/',
  'curl -s -m 1 localhost:@PORT@',
  'curl -s -m 1 -d x http://localhost:@PORT@/',
  'nc -z 127.0.0.1 @PORT@',
  'nc -w 1 localhost @PORT@ < a.txt',
  'bash -c ": > /dev/tcp/127.0.0.1/@PORT@"',
  'echo x > /dev/tcp/127.0.0.1/@PORT@',
  'wget -q -O - -T 1 http://127.0.0.1:@PORT@/',
  'openssl s_client -connect 127.0.0.1:@PORT@',
  'ss -ltn',
  'redis-cli -p @PORT@ ping',
  'pg_isready -h 127.0.0.1 -p @PORT@',
  'getent hosts localhost',
  'awk \'BEGIN{"" |& getline; print > "/inet/tcp/0/127.0.0.1/@PORT@"}\'',
];
const processLines = [
  'kill @PID@',
  'kill -0 @PID@',
  'kill -TERM @PID@',
  'ps eww @PID@',
  'ps -p @PID@',
  'ps auxe',
  'pgrep -a sleep',
  'pkill -f 100000',
  'timeout 1 tail --pid=@PID@ -f a.txt',
  'renice 19 @PID@',
  'prlimit --pid @PID@ --nofile=1',
];

const filled = (lines: readonly string[], paths: readonly string[]): fc.Arbitrary<string> =>
  fc
    .tuple(fc.constantFrom(...lines), fc.constantFrom(...WAYS), fc.constantFrom(...paths))
    .map(([line, way, path]) => line.replaceAll('%', path === '' ? way : `${way}/${path}`));

const attack = fc.oneof(
  { weight: 4, arbitrary: filled(fileLines, PLACES) },
  { weight: 3, arbitrary: filled(folderLines, FOLDERS) },
  { weight: 2, arbitrary: filled(repositoryLines, ['repo']) },
  { weight: 2, arbitrary: filled(programLines, ['loot']) },
  { weight: 2, arbitrary: filled(socketLines, ['loot/run/bus.sock']) },
  { weight: 1, arbitrary: fc.constantFrom(...networkLines) },
  { weight: 1, arbitrary: fc.constantFrom(...processLines) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom(...fileLines), fc.constantFrom(...OF_PROCESS))
      .map(([line, name]) => line.replaceAll('%', `/proc/@PID@/${name}`)),
  },
);
const JOINTS = ['; ', ' && ', ' || ', ' | '] as const;

/** `@ROOT@`, `@PID@` and `@PORT@` stand for places of the machine. */
export const machineLines: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: canaryLines },
  { weight: 3, arbitrary: attack },
  {
    weight: 1,
    arbitrary: fc.tuple(canaryLines, fc.constantFrom(...JOINTS), attack).map((parts) => parts.join('')),
  },
);

/** What of the machine a line goes for. */
export function aimOf(line: string): string {
  return GOES_FOR.find(([, pattern]) => pattern.test(line))?.[0] ?? SMALL_WORLD;
}
const SMALL_WORLD = 'the small world';
const GOES_FOR = [
  ['a socket', /bus\.sock/u],
  ['a set-user-ID program', /cat-as-root|of-root/u],
  ['a repository', /repo/u],
  ['a key of the bus', /bus\.s/u],
  ['a process', /\/proc\/\d|\b(?:kill|ps|pgrep|pkill)\b|--pid/u],
  ['a server', /127\.0\.0\.1|localhost/u],
  ['a home', /\.ssh|\.s\*/u],
  ['the client', /data\//u],
  ['a way', /\.\.|\blink\b|\bway\b|\bout\b/u],
] as const;
/** In the order in which they are looked for. */
export const AIMS: readonly string[] = [...GOES_FOR.map(([aim]) => aim), SMALL_WORLD];
