import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { expect, it } from '@jest/globals';

const ROOT = resolve(import.meta.dirname, '../..');
const packageFile = createRequire(import.meta.url);
/** A liveness deadline: each takes seconds. */
const DEADLINE_MS = 180_000;

/** Runs a tool of node_modules as `npm run verify` does; its own words are the failure message. */
function check(name: string, program: string, args: readonly string[]): Promise<string> {
  const file = join(dirname(packageFile.resolve(`${name}/package.json`)), program);
  return new Promise((settle) => {
    execFile(process.execPath, [file, ...args], { cwd: ROOT, maxBuffer: 16 * 1024 * 1024 }, (error, stdout, stderr) =>
      settle(error === null ? 'ok' : `${stdout}${stderr}`),
    );
  });
}

it(
  'every type is sound',
  async () => expect(await check('typescript', 'bin/tsc', ['--noEmit'])).toBe('ok'),
  DEADLINE_MS,
);

it(
  'nothing is found by the linter, types included',
  async () => expect(await check('oxlint', 'bin/oxlint', ['--type-aware', '--deny-warnings'])).toBe('ok'),
  DEADLINE_MS,
);

it(
  'everything is formatted',
  async () => expect(await check('prettier', 'bin/prettier.cjs', ['--log-level', 'warn', '--check', '.'])).toBe('ok'),
  DEADLINE_MS,
);
