import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pino from 'pino';
import { InjectionFile } from './injection-file.adapter.js';

const open = (path: string) => InjectionFile.open(path, pino({ level: 'silent' }));

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
    const injection = await open(await file('linux_agent_1:\n  execute_command: { api_key: s3cret-key }\n'));
    expect(injection.injected('linux_agent_1', call).arguments).toEqual({ command: 'ls', api_key: 's3cret-key' });
  });

  it('is followed: a new key counts for the next command, and the old one is masked on', async () => {
    const injection = await open(await file('d:\n  execute_command: { api_key: old-s3cret }\n'));
    await file('d:\n  execute_command: { api_key: new-s3cret, cwd: /srv }\n');
    await injection.lookAgain();
    expect(injection.version).toBe(2);
    expect(injection.injected('d', call).arguments).toEqual({ command: 'ls', api_key: 'new-s3cret', cwd: '/srv' });
    expect(injection.maskedText('d', 'old-s3cret new-s3cret')).toBe('[injected] [injected]');
  });

  it('that becomes wrong leaves what was in use', async () => {
    const injection = await open(await file('d:\n  execute_command: { api_key: old-s3cret }\n'));
    await file('d: [');
    await injection.lookAgain();
    expect([injection.version, injection.injected('d', call).arguments['api_key']]).toEqual([1, 'old-s3cret']);
  });

  it.each([
    ['is no YAML', 'a: b: s3cret-key\n', 'is not YAML'],
    ['has aliases', 'd:\n  t: &x { api_key: s3cret-key }\n  u: *x\n', 'must not have aliases'],
    ['has another shape', 'd:\n  t: s3cret-key\n', 'd.t: '],
    ['is empty', '', 'must map device ids to tools'],
  ])('that %s stops the gateway with a sentence that shows no secret', async (_, text, sentence) => {
    const path = await file(text);
    const error: unknown = await open(path).catch((thrown: unknown) => thrown);
    expect(String(error)).toContain(`ORRERY_AIP_INJECT_FILE: ${path}`);
    expect(String(error)).toContain(sentence);
    expect(String(error)).not.toContain('s3cret-key');
  });

  it('that is not there stops the gateway, too', async () => {
    await expect(open(join(directory, 'nowhere.yaml'))).rejects.toThrow('cannot be read');
  });
});
