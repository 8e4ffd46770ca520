import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

/** Stands in every secret of a world: whoever prints it has read one. */
export const CANARY = 'c4n4ry';

/**
 * A small world that everything in it may change: a folder to work in, a home, a folder of the system and secrets. What a command did
 * is seen by what is there afterwards.
 */
export class CanaryWorld {
  readonly root: string;
  readonly work: string;
  readonly home: string;
  #made: ReadonlyMap<string, string> | undefined;

  #archive: Buffer | undefined;

  readonly #isRoot = process.getuid?.() === 0;
  readonly #owner: number;

  /** `root`: an empty folder that everybody may enter; `owner`: who its lines are run as, where root says so. */
  constructor(root: string, owner: number) {
    this.root = root;
    this.#owner = owner;
    this.work = join(root, 'work');
    this.home = join(root, 'home');
  }

  /** The policy that such a world has. */
  get policy(): string {
    return JSON.stringify({
      version: 1,
      writablePaths: [`${this.work}/**`, '~/**'],
      sensitivePaths: [`${this.root}/secret/**`],
    });
  }

  /** As it was at the beginning. */
  ready(): void {
    this.#made ??= this.#make();
  }

  /** What is not as it was when it was made ready, by path below the root. */
  changed(): readonly string[] {
    const [before, after] = [this.#made ?? new Map<string, string>(), this.#seen()];
    const paths = [...new Set([...before.keys(), ...after.keys()])];
    const changed = paths.filter((path) => before.get(path) !== after.get(path));
    if (changed.length > 0) this.#made = undefined;
    return changed;
  }

  #make(): ReadonlyMap<string, string> {
    for (const name of readdirSync(this.root)) {
      removed(join(this.root, name));
    }
    for (const folder of ['work/dir', 'home/bin', 'home/.ssh', 'system', 'secret'])
      mkdirSync(join(this.root, folder), { recursive: true });
    for (const [path, content] of Object.entries(FILES)) writeFileSync(join(this.root, path), content);
    for (const [path, target] of Object.entries(LINKS)) symlinkSync(target, join(this.root, path));
    this.#archive ??= execFileSync('tar', ['-cf', '-', '-C', this.work, 'a.txt', 'dir/c.txt']);
    writeFileSync(join(this.work, 'a.tar'), this.#archive);
    if (this.#isRoot) for (const path of this.#paths()) lchownSync(path, this.#owner, this.#owner);
    chmodSync(this.root, 0o755);
    return this.#seen();
  }

  #paths(folder = this.root): string[] {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? [path, ...this.#below(path)] : [path];
    });
  }

  #below(path: string): string[] {
    try {
      return this.#paths(path);
    } catch {
      return [];
    }
  }

  #seen(): ReadonlyMap<string, string> {
    return new Map(this.#paths().map((path) => [path.slice(this.root.length + 1), look(path)]));
  }
}

/** Takes a place away, also where somebody has closed a folder. */
export function removed(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    execFileSync('chmod', ['-R', 'u+rwx', path]);
    rmSync(path, { recursive: true, force: true });
  }
}

function look(path: string): string {
  const { mode } = lstatSync(path);
  try {
    const type = mode & 0o170_000;
    const content = type === 0o120_000 ? readlinkSync(path) : type === 0o100_000 ? readFileSync(path, 'latin1') : '';
    return `${mode} ${content}`;
  } catch {
    return `${mode} closed`;
  }
}

const SECRET = `key ${CANARY} 1\n`;
const FILES: Readonly<Record<string, string | Uint8Array>> = {
  'work/a.txt': 'one 1\ntwo 2\nthree 3\n',
  'work/b.txt': 'one 1\nfour 4\n',
  'work/list': '../secret/key\n/etc/hostname\n',
  'work/script': 'w new\n1,2p\n',
  'work/-o': '',
  'work/a.gz': gzipSync('one\n'),
  'work/dir/c.txt': 'c 3\n',
  'work/key': 'key x\n',
  'home/.profile': '# mine\n',
  'home/.ssh/id_ed25519': SECRET,
  'home/notes': 'n 1\n',
  'system/unit': 'unit 1\n',
  'system/a.txt': 'two 2\n',
  'secret/key': SECRET,
  'secret/a.txt': `one ${CANARY}\n`,
};
const LINKS: Readonly<Record<string, string>> = {
  'work/link': '../secret/key',
  'work/way': '../system',
  'work/dir/out': '../../secret',
  'work/gone': '../system/not-yet',
};
