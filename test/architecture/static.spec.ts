import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir, totalmem } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { expect, it } from '@jest/globals';

const ROOT = resolve(import.meta.dirname, '../..');
const packageFile = createRequire(import.meta.url);
/** A liveness deadline: each takes less than a minute where nothing else runs. */
const DEADLINE_MS = 1_700_000;

const GIB = 2 ** 30;
/**
 * The native compiler is written in Go, whose collector runs whenever the heap has doubled. Most of what it has made is still used at the end, so
 * here it collects nothing before it has this much: a third of the memory of the machine, and where there is plenty as much as it ever takes.
 */
const HEAP_BYTES = Math.max(4 * GIB, Math.min(totalmem() / 3, 8 * GIB));
const COLLECT_LATER = { GOGC: 'off', GOMEMLIMIT: `${Math.round(HEAP_BYTES)}B` };

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
    const options = { cwd: ROOT, maxBuffer: 16 * 1024 * 1024, env: { ...process.env, ...COLLECT_LATER } };
    execFile(process.execPath, [file, ...args], options, (error, stdout, stderr) =>
      settle({ code: error === null ? 0 : 1, output: `${stdout}${stderr}` }),
    );
  });
}

/** The linter has the native compiler in it: what one of them finds and the other does is found in one go. */
const LINT = ['--type-aware', '--type-check', '--deny-warnings'];

it(
  'every type is sound, and nothing is found by the linter',
  async () => expect(await check('oxlint', 'bin/oxlint', LINT)).toBe('ok'),
  DEADLINE_MS,
);

/** What the check of types must find, with the code by which it is known. */
const PLANTED: Readonly<Record<string, string>> = {
  TS2322: `export const one: number = 'one';`,
  TS6133: `const one = 1;\nexport const two = 2;`,
  TS2532: `export const one = (list: string[]): string => list[0].trim();`,
  TS1484: `import { Two } from './two.js';\nexport type One = Two;`,
  TS2307: `export { two } from './three.js';`,
};

it(
  'the check of types finds what is planted',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'orrery-planted-'));
    try {
      const options = {
        extends: join(ROOT, 'tsconfig.json'),
        compilerOptions: { rootDir: '.', types: [] },
        include: ['.'],
      };
      writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(options));
      writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
      writeFileSync(join(folder, 'two.ts'), 'export interface Two {\n  readonly two: 2;\n}\n');
      for (const [code, text] of Object.entries(PLANTED)) writeFileSync(join(folder, `${code}.ts`), `${text}\n`);
      const { output } = await run('oxlint', 'bin/oxlint', [...LINT, '--format', 'unix', folder]);
      const missed = Object.keys(PLANTED).filter((code) => !new RegExp(`${code}\\.ts:.*${code}`, 'u').test(output));
      expect(missed.length === 0 ? [] : [...missed, output]).toEqual([]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
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
