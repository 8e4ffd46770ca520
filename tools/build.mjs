// Compiles proto, libs, services and the test programs to dist/ with swc, makes one file of each program, and the web application of the
// console. Types are checked by `npm run types`.
// Made beside the old dist and swapped in, so that a system that runs from it never meets half a build.
import { spawnSync } from 'node:child_process';
import { existsSync, renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle } from './bundle.mjs';
import { buildWeb } from './web.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const cli = join(dirname(createRequire(import.meta.url).resolve('@swc/cli/package.json')), 'bin/swc.js');
const [dist, next, old] = ['dist', 'dist.next', 'dist.old'].map((name) => join(root, name));
const tests = ['test/bench', 'test/simulation', 'test/conformance', 'test/fuzz'];
const sources = ['proto', 'libs', 'services', ...tests].filter((folder) => existsSync(join(root, folder)));

rmSync(next, { recursive: true, force: true });
const { status } = spawnSync(
  process.execPath,
  [
    cli,
    ...sources,
    '-d',
    'dist.next',
    '--config-file',
    '.swcrc',
    '--ignore',
    '**/*.spec.ts,services/console/web/**',
    '--quiet',
  ],
  { cwd: root, stdio: 'inherit' },
);
if (status !== 0) process.exit(status ?? 1);
await bundle(next);
await buildWeb(root, { from: dist, to: next });
rmSync(old, { recursive: true, force: true });
if (existsSync(dist)) renameSync(dist, old);
renameSync(next, dist);
rmSync(old, { recursive: true, force: true });
