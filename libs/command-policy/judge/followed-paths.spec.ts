import { posix } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type Entry, linksIn, type Tree } from '../calls/index.js';
import { type CommandPolicy, openBashGrammar, openPolicy } from '../index.js';

/** A folder, the text of a link, or undefined for a file. */
interface Node {
  readonly parent: Node;
  readonly below?: Map<string, Node>;
  readonly says?: string;
}

/** Above the place where lines start lie a secret and a folder with a key; links lead out of it, and round in circles. */
const PATHS: Readonly<Record<string, string | undefined>> = {
  '/srv/secret/key': undefined,
  '/srv/secret/sub/a.txt': undefined,
  '/srv/system/unit': undefined,
  '/srv/other/tree/server.pem': undefined,
  '/srv/other/tree/notes': undefined,
  '/srv/other/plain/notes': undefined,
  '/srv/home/notes': undefined,
  '/srv/jail/a.txt': undefined,
  '/srv/jail/way': '../system',
  '/srv/jail/dir/out': '../../secret',
  '/srv/jail/dir/c.txt': undefined,
  '/srv/jail/whole': '/srv/other/plain',
  '/srv/jail/tied/far': '../../other/tree',
  '/srv/jail/tied/round': '..',
  '/srv/jail/free/self': '.',
  '/srv/jail/free/near': '../../other/plain',
  '/srv/jail/one/k': '../../secret/key',
  '/srv/jail/plain/b.txt': undefined,
};

const root = made();

function made(): Node {
  const top: { parent: Node; below: Map<string, Node> } = { parent: undefined as never, below: new Map() };
  top.parent = top;
  for (const [path, says] of Object.entries(PATHS)) {
    const names = path.split('/').slice(1);
    let at: Node = top;
    for (const [index, name] of names.entries()) {
      const isLast = index === names.length - 1;
      const next: Node = at.below?.get(name) ?? {
        parent: at,
        ...(isLast ? says !== undefined && { says } : { below: new Map<string, Node>() }),
      };
      at.below?.set(name, next);
      at = next;
    }
  }
  return top;
}

/** As a kernel goes from one node to the next: `..` is the parent of the node where it stands, however it came there. */
function walk(from: Node, path: string): Node | undefined {
  let at: Node | undefined = path.startsWith('/') ? root : from;
  for (const name of path.split('/').filter((part) => part !== '' && part !== '.')) {
    const next: Node | undefined = name === '..' ? at?.parent : at?.below?.get(name);
    at = next?.says === undefined ? next : walk(next.parent, next.says);
    if (at === undefined) return undefined;
  }
  return at;
}

function pathOf(node: Node): string {
  if (node === root) return '';
  const name = [...(node.parent.below ?? [])].find(([, one]) => one === node)?.[0] ?? '';
  return `${pathOf(node.parent)}/${name}`;
}

const nodeAt = (path: string): Node | undefined => {
  const cut = path.lastIndexOf('/');
  return walk(root, path.slice(0, cut) || '/')?.below?.get(path.slice(cut + 1));
};
const tree: Tree = {
  target: (path) => nodeAt(path)?.says,
  entries: (path) =>
    [...(walk(root, path)?.below ?? [])].map(([name, node]): Entry => {
      const kind = node.below === undefined ? (node.says === undefined ? 'file' : 'link') : 'folder';
      return { name, kind };
    }),
};
const links = linksIn(tree, { directory: '/srv/jail', home: '/srv/home' });

let policy: CommandPolicy;
let grammar: Awaited<ReturnType<typeof openBashGrammar>>;
beforeAll(async () => {
  grammar = await openBashGrammar();
  const file = JSON.stringify({
    version: 1,
    writablePaths: ['/srv/jail/**', '~/**'],
    sensitivePaths: ['/srv/secret/**'],
  });
  policy = openPolicy({ file, links }, grammar);
});
const decided = (command: string, more = {}) =>
  policy.judge({ tool: 'EXEC_CLI', arguments: { command, ...more } }, undefined).decision;

describe('a path on a device', () => {
  const names = [
    'way',
    'dir',
    'out',
    'whole',
    'tied',
    'far',
    'round',
    'free',
    'self',
    '..',
    '..',
    '.',
    '',
    'tree',
    'k',
  ];
  const paths = fc
    .tuple(
      fc.constantFrom('.', '~', ''),
      fc.array(fc.constantFrom(...names, 'srv', 'jail', 'secret'), { maxLength: 8 }),
    )
    .map(([start, parts]) => [start, ...parts].join('/'));

  it('leads where a kernel goes: behind a link `..` is the folder of its target', () => {
    fc.assert(
      fc.property(paths, (path) => {
        const from = path.startsWith('~') ? '/srv/home' : '/srv/jail';
        const there = walk(root, path.startsWith('/') ? path : from + path.slice(1));
        fc.pre(there !== undefined);
        const whole = path.startsWith('/') ? path : `${from}${path.slice(1)}`;
        const written = posix.normalize(whole || '/').replace(/(?<=.)\/$/u, '');
        expect(links.real(path || '/') ?? written).toBe(pathOf(there) || '/');
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('a line that only tells, without a wall', () => {
  const tells = (command: string): boolean =>
    policy.wall({ tool: 'EXEC_CLI', arguments: { command } }, undefined).onlyTells === true;

  /** While the first part runs, another command can put a link to something else there. */
  it.each([
    'top -bn2 -d 5; cat dir/c.txt',
    'df; tail -n 5 ./a.txt',
    'df; cat a.txt',
    'df; head -n 1 ./*.txt',
    'df; cat /srv/jail/a.txt',
    'df; cat /srv/jail/not/yet',
    'df; cat dir/../../../etc/hostname',
    'df; cat /srv/jail/dir/../../../etc/hostname',
    'df; cat ~/notes',
    'df; cat /tmp/x',
    'df; cat /var/tmp/x',
    'df; cat /dev/shm/x',
    'df; grep -r x plain',
    'df; zcat b.gz',
    'lsof -i | grep x ./a.txt',
  ])('reads nothing that commands may change: %s', (line) => expect(tells(line)).toBe(false));

  it.each(['df -h', 'df; cat /etc/hostname', 'top -bn1; tail -n 5 /var/log/syslog', 'ss -ltnp | grep x'])(
    'is told all the same: %s',
    (line) => expect(tells(line)).toBe(true),
  );
});

describe('a home where commands work', () => {
  const at = (ownHome?: string): CommandPolicy =>
    openPolicy(
      { links: linksIn(tree, { directory: '/srv/home', home: '/srv/home', ...(ownHome && { ownHome }) }) },
      grammar,
    );
  const asks = (judging: CommandPolicy, command: string): boolean =>
    judging.judge({ tool: 'EXEC_CLI', arguments: { command } }, undefined).decision === 'approve';

  /** What is told without a wall takes its settings from there. */
  it.each([
    'echo x > .curlrc',
    'cp notes .my.cnf',
    'tee .config/x < notes',
    'mv notes ./.profile',
    'ln -s notes .lesskey',
  ])('keeps the settings of those who are told without a wall: %s', (line) => {
    expect(asks(at('/srv/home'), line)).toBe(true);
    expect(asks(at('/srv'), line.replace(/ \.(?=\w)/u, ' ../home/.'))).toBe(true);
  });

  it('is one for all other files', () => {
    expect(asks(at('/srv/home'), 'echo x > notes')).toBe(false);
    expect(asks(at('/root'), 'echo x > .rc')).toBe(false);
    expect(asks(at(), 'echo x > .rc')).toBe(false);
  });
});

describe('a folder that a command goes through', () => {
  /** With `%` for the folder: each prints, packs or copies what lies below. */
  const through = [
    'find % -type f -exec cat {} +',
    'find % -follow -exec head -n 1 {} +',
    'find % -name "k*" -exec grep . {} +',
    'find % -exec cp {} new +',
    'find % -type f | xargs cat',
    'grep -rh . %',
    'grep -R . %',
    'rgrep . %',
    'rg . %',
    'tar -cf new.tar %',
    'tar -chf - %',
    'cp -r % new',
    'cp -rL % new',
    'rsync -a % new',
    'zip -r new %',
    'gzip -rc %',
    'zcat -r %',
    'diff -r % plain',
    'mv % new',
    'cd %; grep -r .',
    'cd %; find . -type f -exec cat {} +',
    'cd -P %; tar -cf - .',
  ];
  /** Each leads to a secret, or to what lies around one. */
  const ways = [
    'dir/out/',
    './dir/out/../..',
    'dir/out/sub/../..',
    'way/../secret',
    'way/..',
    'way/../jail/way/../secret',
    './*/out/..',
    './*/../secret/.',
    '~/../jail/way/../secret',
    'whole/../..',
  ];

  it.each(ways)('%s asks, whoever goes through it', (way) => {
    const unasked = through
      .map((line) => line.replaceAll('%', way))
      .filter((line) => ['allow', 'log'].includes(decided(line)));
    expect(unasked).toEqual([]);
  });

  it.each([
    ['find one -exec cat {} +', 'approve'],
    ['find tied -follow -type f -exec cat {} +', 'approve'],
    ['grep -R x tied/far', 'approve'],
    ['grep -R x tied', 'approve'],
    ['cat way/../secret/key', 'approve'],
    ['cd way/../secret; cat key', 'approve'],
    ['cd -P way/.. && cat secret/key', 'approve'],
    ['cd -P way/.. && cat ./*/key', 'approve'],
    ['find way/../system -type f -exec touch {} +', 'approve'],
    // What holds nothing is gone through, also by links, and round in circles.
    ['find free -follow -type f -exec cat {} +', 'allow'],
    ['find whole/ -type f -exec cat {} +', 'allow'],
    ['find whole/../plain -type f -exec cat {} +', 'allow'],
    ['grep -R x free', 'allow'],
    ['find plain -type f -exec cat {} +', 'allow'],
    ['cp -r plain new', 'log'],
    // Names are no secret.
    ['ls -R way/..', 'allow'],
    ['find way/.. -type f', 'allow'],
    ['du -a way/..', 'allow'],
  ])('%s: %s', (line, decision) => expect(decided(line)).toBe(decision));

  it('counts as where a command begins, too', () => {
    expect(decided('cat key', { working_directory: 'way/../secret' })).toBe('approve');
    expect(decided('cat b.txt', { working_directory: 'dir/../plain' })).toBe('allow');
  });
});
