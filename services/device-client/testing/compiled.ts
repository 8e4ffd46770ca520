import { mkdir, mkdtemp, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformFile } from '@swc/core';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

export interface Compiled {
  /** The compiled file of a source file, e.g. `services/device-client/main.ts`. */
  readonly path: (source: string) => string;
  remove(): Promise<void>;
}

/** The device client as it is shipped, compiled into a directory of its own: real processes run what the sources say now. */
export async function compileDeviceClient(): Promise<Compiled> {
  const out = await mkdtemp(join(tmpdir(), 'orrery-compiled-'));
  const imports = { '#proto': './dist/proto/index.js', '#libs/*': './dist/libs/*/index.js' };
  await writeFile(join(out, 'package.json'), JSON.stringify({ type: 'module', imports }));
  await symlink(join(ROOT, 'node_modules'), join(out, 'node_modules'));
  await compileWithLibs(out, 'services/device-client', new Set());
  return { path: (source) => target(out, source), remove: () => rm(out, { recursive: true, force: true }) };
}

/** A part of the tree, and every part that its sources import. */
async function compileWithLibs(out: string, part: string, begun: Set<string>): Promise<void> {
  begun.add(part);
  const files = await sourcesIn(part);
  const sources = await Promise.all(files.map((file) => readFile(file, 'utf8')));
  await Promise.all(files.map((file) => compile(file, target(out, relative(ROOT, file)))));
  const imported = sources.flatMap((text) =>
    [...text.matchAll(/from '#(proto|libs\/[a-z0-9-]+)'/gu)].map(([, name = '']) => name),
  );
  for (const name of new Set(imported)) if (!begun.has(name)) await compileWithLibs(out, name, begun);
}

const target = (out: string, source: string): string => join(out, 'dist', source.replace(/\.ts$/, '.js'));

async function sourcesIn(part: string): Promise<string[]> {
  const entries = await readdir(join(ROOT, part), { recursive: true, withFileTypes: true });
  return entries.flatMap(({ name, parentPath }) =>
    name.endsWith('.ts') && !name.endsWith('.spec.ts') ? [join(parentPath, name)] : [],
  );
}

async function compile(source: string, to: string): Promise<void> {
  const { code } = await transformFile(source, { configFile: join(ROOT, '.swcrc'), sourceMaps: false });
  await mkdir(dirname(to), { recursive: true });
  await writeFile(to, code);
}
