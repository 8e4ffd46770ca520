import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformFile } from '@swc/core';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const PARTS = ['proto', 'libs/aip', 'libs/command-policy', 'libs/keys', 'libs/mcp', 'services/device-client'];

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
  const files = (await Promise.all(PARTS.map(sourcesIn))).flat();
  await Promise.all(files.map((file) => compile(file, target(out, relative(ROOT, file)))));
  return { path: (source) => target(out, source), remove: () => rm(out, { recursive: true, force: true }) };
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
