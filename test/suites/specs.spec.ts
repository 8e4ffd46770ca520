import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

const ROOT = resolve(import.meta.dirname, '../..');
const CHILD_MS_MAX = 60_000;
const GLOBALS = `import { describe, expect, it, jest } from '@jest/globals';\n`;

/** Two specs of one worker: the first leaves everything behind, the second looks. The third fails. */
const FILES: Readonly<Record<string, string>> = {
  'test/loads.ts': `export const loads = ((globalThis as { loads?: number }).loads = ((globalThis as { loads?: number }).loads ?? 0) + 1);
export const clock = { now: () => 1 };
`,
  'test/a.spec.ts': `${GLOBALS}// ${'large files come first; '.repeat(100)}
import { clock, loads } from './loads.js';
it('leaves everything behind', () => {
  Object.assign(globalThis, { firstOf: 'a' });
  expect(loads).toBe(1);
  process.env.LEFT_BEHIND = 'yes';
  process.env.HOME = '/nowhere';
  process.chdir('/');
  process.on('SIGTERM', () => undefined);
  console.log = () => undefined;
  globalThis.console = { ...console };
  process.exit = (() => undefined) as never;
  jest.spyOn(clock, 'now').mockReturnValue(2);
  jest.useFakeTimers({ now: 0 });
  expect([clock.now(), Date.now()]).toEqual([2, 0]);
});
`,
  'test/b.spec.ts': `${GLOBALS}import { clock, loads } from './loads.js';
describe('the next file', () => {
  it('has the modules of the first', () => expect([loads, (globalThis as { firstOf?: string }).firstOf]).toEqual([1, 'a']));
  it('has another environment', () => expect([process.env.LEFT_BEHIND, process.env.HOME]).toEqual([undefined, process.env.HOME_BEFORE]));
  it('has the working directory', () => expect(process.cwd()).not.toBe('/'));
  it('has no listener', () => expect(process.listenerCount('SIGTERM')).toBe(0));
  it('has no mock', () => expect(clock.now()).toBe(1));
  it('has the clock', () => expect(Date.now()).toBeGreaterThan(1e12));
  it('can end its process', () => expect(String(process.exit)).not.toContain('undefined)'));
});
`,
  'test/c.spec.ts': `${GLOBALS}it('fails', () => {
  expect({ a: [1, 2] }).toEqual({ a: [1, 2] });
  expect({ a: [1, 2] }).toEqual({ a: [1, 3] });
});
`,
};

interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly message: string;
    readonly assertionResults: readonly { readonly title: string; readonly status: string }[];
  }[];
}

const tree = mkdtempSync(join(tmpdir(), 'orrery-specs-'));
let report: Report;

beforeAll(() => {
  for (const path of ['tools', 'package.json', '.swcrc', 'jest.config.mjs'])
    cpSync(join(ROOT, path), join(tree, path), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(tree, 'node_modules'));
  for (const folder of ['proto', 'libs', 'services', 'test']) mkdirSync(join(tree, folder));
  for (const [file, text] of Object.entries(FILES)) writeFileSync(join(tree, file), text);
  const jest = join(dirname(createRequire(import.meta.url).resolve('jest/package.json')), 'bin/jest.js');
  const file = join(tree, 'report.json');
  spawnSync(process.execPath, ['--no-warnings', jest, '--runInBand', '--json', '--outputFile', file], {
    cwd: tree,
    timeout: CHILD_MS_MAX,
    env: { ...process.env, ORRERY_TEST_SUITE: 'unit', HOME_BEFORE: process.env.HOME },
  });
  report = JSON.parse(readFileSync(file, 'utf8')) as Report;
}, CHILD_MS_MAX);

afterAll(() => rmSync(tree, { recursive: true, force: true }));

const fileOf = (name: string) => report.testResults.find((result) => result.name.endsWith(`/${name}.spec.ts`));

describe('specs of one worker', () => {
  it.each(['a', 'b'])('%s: share modules, and nothing that a file sets and forgets', (name) => {
    const failed = fileOf(name)?.assertionResults.filter(({ status }) => status !== 'passed');
    expect([failed, fileOf(name)?.message]).toEqual([[], '']);
    expect(fileOf(name)?.assertionResults.length).toBeGreaterThan(0);
  });

  it('fail with the line of the spec and the words of Jest', () => {
    expect(fileOf('c')?.assertionResults.map(({ status }) => status)).toEqual(['failed']);
    expect(fileOf('c')?.message).toContain('test/c.spec.ts:4:');
    expect(fileOf('c')?.message).toContain('deep equality');
  });
});

describe('what plainly holds', () => {
  class Hidden {
    readonly #value: number;

    constructor(value: number) {
      this.#value = value;
    }

    get value(): number {
      return this.#value;
    }
  }
  const cyclic = () => {
    const made: { self?: object } = {};
    made.self = made;
    return made;
  };
  const sparse: number[] = [];
  sparse[1] = 1;

  it.each<readonly [string, unknown, unknown, boolean]>([
    ['fields in another order', { a: 1, b: [null, NaN] }, { b: [null, NaN], a: 1 }, true],
    ['another value', { a: [{ b: 1 }] }, { a: [{ b: 2 }] }, false],
    ['one field more', { a: 1, b: undefined }, { a: 1 }, false],
    ['another length', [1, 2], [1], false],
    ['a gap', sparse, [undefined, 1], false],
    ['no and minus no', 0, -0, false],
    ['a list and an object', ['a'], { 0: 'a' }, false],
    ['objects that hide what they are', new Hidden(1), new Hidden(1), false],
    ['maps', new Map([[1, 2]]), new Map([[1, 2]]), false],
    ['circles', cyclic(), cyclic(), false],
    ['a matcher', { a: 'text' }, { a: expect.any(String) }, false],
  ])('%s', async (_, one, other, holds) => {
    const tool = pathToFileURL(join(ROOT, 'tools/specs/expect.mjs')).href;
    const { isPlainlySame } = (await import(tool)) as { isPlainlySame: (one: unknown, other: unknown) => boolean };
    expect(isPlainlySame(one, other)).toBe(holds);
  });

  it.each<readonly [string, unknown, unknown, boolean]>([
    ['a part of it', { a: 1, b: { c: [{ d: 1, e: 2 }], f: 3 } }, { b: { c: [{ d: 1 }] } }, true],
    ['another value', { a: 1, b: 2 }, { a: 2 }, false],
    ['a field that it has not', { a: 1 }, { b: undefined }, false],
    ['a gap', [1, 2], sparse, false],
    ['fewer elements', { a: [1, 2] }, { a: [1] }, false],
    ['an error and its message', new Error('no'), { message: 'no' }, false],
    ['a matcher', { a: 'text' }, { a: expect.any(String) }, false],
  ])('has, or has not: %s', async (_, one, other, holds) => {
    const tool = pathToFileURL(join(ROOT, 'tools/specs/expect.mjs')).href;
    const { hasPlainly } = (await import(tool)) as { hasPlainly: (one: unknown, other: unknown) => boolean };
    expect(hasPlainly(one, other)).toBe(holds);
  });
});
