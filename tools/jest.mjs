// `node tools/jest.mjs unit|model|sim|fuzz|int|e2e [jest arguments]`: runs one suite.
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const [suite = 'unit', ...rest] = process.argv.slice(2);
const jest = join(dirname(createRequire(import.meta.url).resolve('jest/package.json')), 'bin/jest.js');
const { status } = spawnSync(process.execPath, ['--no-warnings', jest, ...rest], {
  stdio: 'inherit',
  env: { ...process.env, ORRERY_TEST_SUITE: suite },
});
process.exit(status ?? 1);
