import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { expect, it } from '@jest/globals';

const ROOT = resolve(import.meta.dirname, '../..');
const packageFile = createRequire(import.meta.url);
/** A liveness deadline: each takes seconds. */
const DEADLINE_MS = 180_000;

/** Runs a tool of node_modules as `npm run verify` does; its own words are the failure message. */
async function check(name: string, program: string, args: readonly string[]): Promise<string> {
  const { code, output } = await run(name, program, args);
  return code === 0 ? 'ok' : output;
}

function run(
  name: string,
  program: string,
  args: readonly string[],
): Promise<{ readonly code: number; readonly output: string }> {
  const file = join(dirname(packageFile.resolve(`${name}/package.json`)), program);
  return new Promise((settle) => {
    execFile(process.execPath, [file, ...args], { cwd: ROOT, maxBuffer: 16 * 1024 * 1024 }, (error, stdout, stderr) =>
      settle({ code: error === null ? 0 : 1, output: `${stdout}${stderr}` }),
    );
  });
}

it(
  'every type is sound',
  async () => expect(await check('typescript-native', 'bin/tsc', ['--noEmit'])).toBe('ok'),
  DEADLINE_MS,
);

it(
  'nothing is found by the linter, types included',
  async () => expect(await check('oxlint', 'bin/oxlint', ['--type-aware', '--deny-warnings'])).toBe('ok'),
  DEADLINE_MS,
);

// Prettier has the last word and takes 45 s of a processor for the whole tree, oxfmt one: they differ in how unions are broken.
it(
  'everything is formatted',
  async () => {
    const { code, output } = await run('oxfmt', 'bin/oxfmt', ['--list-different', '.']);
    const doubtful = output.split('\n').filter((line) => line !== '');
    expect(doubtful.length > 0).toBe(code !== 0);
    const words = ['--log-level', 'warn', '--check', ...doubtful];
    expect(doubtful.length === 0 ? 'ok' : await check('prettier', 'bin/prettier.cjs', words)).toBe('ok');
  },
  DEADLINE_MS,
);
