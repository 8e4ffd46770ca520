import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InputError, readConfig, serverUrl, tokenSource, toolServersOf } from './device-client.config.js';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'orrery-config-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));
const file = async (text: string): Promise<string> => {
  const path = join(dir, 'file');
  await writeFile(path, text);
  return path;
};

describe('the configuration', () => {
  it('is not needed', async () => {
    expect(await readConfig(undefined)).toEqual({ mcpServers: {}, commandsMax: 16 });
    expect(await readConfig(await file(''))).toEqual({ mcpServers: {}, commandsMax: 16 });
  });

  it('names tool servers, whose variables come from the environment', async () => {
    const config = await readConfig(
      await file(`
mcpServers:
  files: { command: npx, args: [-y, server], env: { KEY: "\${THE_KEY}", PLAIN: "a$b" } }
  web: { url: "https://tools.example.org/mcp", headers: { Authorization: "Bearer \${THE_KEY}" }, timeoutMs: 5000 }
`),
    );
    expect(toolServersOf(config, { THE_KEY: 'k' })).toEqual([
      {
        name: 'files',
        timeoutMs: 600_000,
        spec: {
          kind: 'stdio',
          command: 'npx',
          args: ['-y', 'server'],
          env: { KEY: 'k', PLAIN: 'a$b' },
          cwd: undefined,
        },
      },
      {
        name: 'web',
        timeoutMs: 5_000,
        spec: { kind: 'http', url: 'https://tools.example.org/mcp', headers: { Authorization: 'Bearer k' } },
      },
    ]);
    expect(() => toolServersOf(config, {})).toThrow('mcpServers.files: the environment has no variable THE_KEY.');
  });

  it.each([
    ['mcpServers: [', 'is not valid YAML'],
    ['mcpServers: 5', 'mcpServers: '],
    ['servers: {}', 'servers: unknown field'],
    ['mcpServers: { a: { comand: x } }', 'mcpServers.a: must be {command,'],
    ['mcpServers: { a: { url: "file:///etc/passwd" } }', 'mcpServers.a'],
    ['mcpServers: { "a b": { command: x } }', 'mcpServers.a b: '],
    ['commandsMax: 0', 'commandsMax: '],
  ])('that says %j is refused with a sentence that names the place', async (text, sentence) => {
    const path = await file(text);
    await expect(readConfig(path)).rejects.toThrow(InputError);
    await expect(readConfig(path)).rejects.toThrow(sentence);
  });

  it('that does not exist is named', async () => {
    await expect(readConfig(join(dir, 'nope'))).rejects.toThrow(
      `--config: the file ${join(dir, 'nope')} does not exist.`,
    );
  });
});

describe('the address of the server', () => {
  it('is a WebSocket address', () => expect(serverUrl('wss://example.org/ws')).toBe('wss://example.org/ws'));

  it.each(['http://h/ws', 'h:5000', '', 'ws://user:secret@h/ws', 'ws://secret@h/ws'])('%j is refused', (text) => {
    expect(() => serverUrl(text)).toThrow(InputError);
  });

  it('is not repeated when it holds a password', () => {
    expect(() => serverUrl('ws://user:hunter2@h/ws')).not.toThrow('hunter2');
  });
});

describe('the token', () => {
  it('is read again when it is needed again', async () => {
    const token = await tokenSource(await file(' one\n'));
    expect(await token()).toBe('one');
    await file('two');
    expect(await token()).toBe('two');
  });

  it.each(['', ' \n', 'two words', 'über'])('%j is refused without being repeated', async (text) => {
    const failure = await tokenSource(await file(text)).catch((error: unknown) => error);
    expect(failure).toMatchObject({ message: expect.stringContaining('token in') });
    if (text.trim() !== '') expect(String(failure)).not.toContain(text);
  });
});
