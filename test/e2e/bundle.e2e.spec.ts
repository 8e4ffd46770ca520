import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { CLI, exec, type Ran, ROOT } from './system.js';

const SERVICES = readdirSync(join(ROOT, 'services'));
/** As it is written without white space. */
const OF_OURS = /(?:require|import)\("(?:\.{1,2}\/|#)/u;

const built = (name: string, file = 'main.cjs'): string => join(ROOT, 'dist/services', name, file);

describe.each(SERVICES)('%s as it is shipped', (name) => {
  const code = readFileSync(built(name), 'utf8');
  const payload = JSON.parse(readFileSync(built(name, 'main.cjs.map'), 'utf8')) as SourceMapPayload;

  it('is one file', () => expect(OF_OURS.exec(code)?.[0]).toBeUndefined());

  it('knows the line of its source from which each of its own came', () => {
    const [line = '', ...before] = code
      .slice(0, code.lastIndexOf('//# sourceMappingURL'))
      .trimEnd()
      .split('\n')
      .toReversed();
    const end = new SourceMap(payload).findEntry(before.length, line.length - 8);
    expect(end).toMatchObject({ originalSource: expect.stringMatching(new RegExp(`services/${name}/.*\\.ts$`, 'u')) });
  });
});

it.each([
  // Nobody started it to judge conditions: that is thrown at once.
  ['a part of a program', 'libs/judging/condition-process.runner', []],
  ['a program', 'services/device-client/tools/device-mcp.main', ['{}']],
])('a stack of %s names sources', async (_, file, args) => {
  const { stderr } = await exec(process.execPath, [join(ROOT, `dist/${file}.js`), ...args]);
  expect(stderr).toMatch(new RegExp(`${file}\\.ts:\\d+`, 'u'));
});

it.each(['aip-gateway', 'device-client'])('%s masks frames in words', (name) =>
  expect(readFileSync(built(name), 'utf8')).not.toMatch(/require\("bufferutil"\)/u),
);

describe('the code that V8 makes of a program', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'orrery-code-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const help = (cache = folder): Promise<Ran> =>
    exec(process.execPath, [CLI, 'submit', '--help'], { NODE_COMPILE_CACHE: cache });
  const kept = (): string[] => readdirSync(folder).filter((name) => name.endsWith('.code'));
  const nodeOf = (name: string): number => statSync(join(folder, name)).ino;

  it('is kept by the first that ends well, for its command, and read by the next', async () => {
    const first = await help();
    const [name = '', ...others] = kept();
    expect([name, others]).toEqual(['cli-main-submit.code', []]);
    const before = nodeOf(name);
    // It would be written anew if it could not be read.
    expect(await help()).toEqual(first);
    expect(nodeOf(name)).toBe(before);
  });

  it('is kept of nothing that failed', async () => {
    const { code } = await exec(process.execPath, [CLI, 'submitt'], { NODE_COMPILE_CACHE: folder });
    expect([code, kept()]).toEqual([3, []]);
  });

  it('is made anew where it is of another text, or cut, or no code at all', async () => {
    const first = await help();
    const file = join(folder, 'cli-main-submit.code');
    const whole = readFileSync(file);
    const differsAt = (at: number): Buffer => Buffer.from(whole.with(at, (whole[at] ?? 0) ^ 1));
    for (const bytes of [
      differsAt(0),
      differsAt(100_000),
      whole.subarray(0, whole.length / 2),
      whole.subarray(0, 80),
      Buffer.from('code'),
    ]) {
      writeFileSync(file, bytes);
      expect(await help()).toEqual(first);
      expect(readFileSync(file).length).toBeGreaterThan(whole.length / 2);
    }
  });

  it('is not needed: where it can be neither read nor written, the program runs all the same', async () => {
    const first = await help();
    rmSync(join(folder, 'cli-main-submit.code'));
    mkdirSync(join(folder, 'cli-main-submit.code'));
    expect(await help()).toEqual(first);
    expect(readdirSync(folder).filter((name) => name.startsWith('cli-'))).toEqual(['cli-main-submit.code']);
    expect(await help('/dev/null/none')).toEqual(first);
  });
});
