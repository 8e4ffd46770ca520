import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readInjection } from './injection-file.adapter.js';

describe('the file of injected parameters', () => {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'orrery-test-inject-'));
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  const file = async (text: string): Promise<string> => {
    const path = join(directory, 'inject.yaml');
    await writeFile(path, text);
    return path;
  };
  const call = { tool: 'execute_command', arguments: { command: 'ls' } };

  it('is read', async () => {
    const injection = await readInjection(await file('linux_agent_1:\n  execute_command: { api_key: s3cret-key }\n'));
    expect(injection.injected('linux_agent_1', call).arguments).toEqual({ command: 'ls', api_key: 's3cret-key' });
  });

  it('may be absent', async () => {
    expect((await readInjection(undefined)).injected('linux_agent_1', call)).toBe(call);
  });

  it.each([
    ['is no YAML', 'a: b: s3cret-key\n', 'is not YAML'],
    ['has aliases', 'd:\n  t: &x { api_key: s3cret-key }\n  u: *x\n', 'must not have aliases'],
    ['has another shape', 'd:\n  t: s3cret-key\n', 'd.t: '],
    ['is empty', '', 'must map device ids to tools'],
  ])('that %s stops the gateway with a sentence that shows no secret', async (_, text, sentence) => {
    const path = await file(text);
    const error: unknown = await readInjection(path).catch((thrown: unknown) => thrown);
    expect(String(error)).toContain(`ORRERY_AIP_INJECT_FILE: ${path}`);
    expect(String(error)).toContain(sentence);
    expect(String(error)).not.toContain('s3cret-key');
  });

  it('that is not there stops the gateway, too', async () => {
    await expect(readInjection(join(directory, 'nowhere.yaml'))).rejects.toThrow('cannot be read');
  });
});
