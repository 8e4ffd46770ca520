import { readdirSync, readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { exec, ROOT } from './system.js';

const SERVICES = readdirSync(join(ROOT, 'services')).filter((name) => name !== 'cli');
/** As it is written without white space. */
const OF_OURS = /(?:from|import)\(?"(?:\.{1,2}\/|#)/u;

const built = (name: string, file = 'main.js'): string => join(ROOT, 'dist/services', name, file);

describe.each(SERVICES)('%s as it is shipped', (name) => {
  const code = readFileSync(built(name), 'utf8');
  const payload = JSON.parse(readFileSync(built(name, 'main.js.map'), 'utf8')) as SourceMapPayload;

  it('is one file', () => expect(OF_OURS.exec(code)?.[0]).toBeUndefined());

  it('knows the line of its source from which each of its own came', () => {
    const [line = '', ...before] = code
      .slice(0, code.lastIndexOf('//# sourceMappingURL'))
      .trimEnd()
      .split('\n')
      .toReversed();
    const end = new SourceMap(payload).findEntry(before.length, line.length - 4);
    expect(end).toMatchObject({ originalSource: expect.stringMatching(new RegExp(`services/${name}/.*\\.ts$`, 'u')) });
  });
});

it('a stack names sources', async () => {
  const thread = join(ROOT, 'dist/libs/judging/condition-thread.runner.js');
  // It is no thread here: that is thrown at once.
  const { stderr } = await exec(process.execPath, [thread]);
  expect(stderr).toMatch(/libs\/judging\/condition-thread\.runner\.ts:\d+/u);
});
