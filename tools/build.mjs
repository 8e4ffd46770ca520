// Compiles proto, libs, services and test support to dist/ with swc. Types are checked by `npm run types`.
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const cli = join(dirname(createRequire(import.meta.url).resolve('@swc/cli/package.json')), 'bin/swc.js');
rmSync(join(root, 'dist'), { recursive: true, force: true });
const { status } = spawnSync(
  process.execPath,
  [cli, 'proto', 'libs', 'services', 'test/bench', '-d', 'dist', '--config-file', '.swcrc', '--copy-files', '--quiet'],
  { cwd: root, stdio: 'inherit' },
);
process.exit(status ?? 1);
