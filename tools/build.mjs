// Compiles proto, libs, services and the test programs to dist/ with swc, makes one file of each program, and the web application of the
// console. Types are checked by `npm run types`.
// Made beside the old dist and swapped in, so that a system that runs from it never meets half a build.
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transform } from '@swc/core';
import { bundle } from './bundle.mjs';
import { buildWeb } from './web.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const [dist, next, old] = ['dist', 'dist.next', 'dist.old'].map((name) => join(root, name));
const tests = ['test/bench', 'test/simulation', 'test/conformance', 'test/fuzz'];
const folders = ['proto', 'libs', 'services', ...tests].filter((folder) => existsSync(join(root, folder)));
const settings = JSON.parse(readFileSync(join(root, '.swcrc'), 'utf8'));

/** All of a folder but its specs, and but what browsers load. */
function sourcesIn(folder) {
  return readdirSync(join(root, folder), { recursive: true })
    .map((name) => join(folder, String(name)))
    .filter((path) => path.endsWith('.ts') && !/\.(?:spec|d)\.ts$/u.test(path))
    .filter((path) => !path.startsWith(join('services/console/web/')));
}

/** Writes the module and its map. swc works in threads of its own, as many as there are processors. */
async function compile(path) {
  const to = join(next, path.replace(/\.ts$/u, '.js'));
  const from = join(root, path);
  const { code, map } = await transform(readFileSync(from, 'utf8'), {
    ...settings,
    swcrc: false,
    configFile: false,
    filename: from,
    sourceFileName: relative(dirname(to), from),
  });
  mkdirSync(dirname(to), { recursive: true });
  writeFileSync(to, `${code}\n//# sourceMappingURL=${basename(to)}.map`);
  writeFileSync(`${to}.map`, map);
}

rmSync(next, { recursive: true, force: true });
await Promise.all(folders.flatMap(sourcesIn).map(compile));
await bundle(next);
await buildWeb(root, { from: dist, to: next });
rmSync(old, { recursive: true, force: true });
if (existsSync(dist)) renameSync(dist, old);
renameSync(next, dist);
rmSync(old, { recursive: true, force: true });
