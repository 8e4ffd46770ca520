import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeTestAuthority } from '#libs/testing';
import { readConfig, serverUrl, serverUrls, tlsSource, tokenSource, toolServersOf } from './device-client.config.js';
import { InputError } from '../faults/input-error.js';

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
    const defaults = {
      mcpServers: {},
      tools: {},
      deadAfterMs: 45_000,
      reconnectMsMax: 10_000,
      commandsMax: 16,
      onDisconnect: 'finish',
      disconnectGraceMs: 60_000,
      files: { paths: [] },
      exec: { umask: '022', limits: {}, sandbox: { commands: 'agents', writable: [], network: false, hidden: [] } },
      outputBytesMax: 1024 * 1024 * 1024,
      credentialIn: 'header',
    };
    expect(await readConfig(undefined)).toEqual(defaults);
    expect(await readConfig(await file(''))).toEqual(defaults);
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
    ['tools: { desktop: {} }', 'tools.desktop.display: '],
    ['tools: { desktop: { display: ":7" } }', 'tools.desktop.bus: '],
    [
      'tools: { desktop: { display: "other:0", bus: "unix:path=/b" } }',
      'tools.desktop.display: must be the name of a display of this machine',
    ],
    [
      'tools: { desktop: { display: ":7", bus: "unixexec:path=/bin/sh" } }',
      'tools.desktop.bus: must be the address of a bus of this machine',
    ],
    [
      'tools: { mobile: { serial: a }, desktop: { display: ":7", bus: "unix:path=/b" } }',
      'tools: must have desktop or mobile, not both',
    ],
    ['tools: { mobile: {} }', 'tools.mobile.serial: '],
    ['tools: { mobile: { serial: "a; reboot" } }', 'tools.mobile.serial: must be the serial of a device'],
    [
      'tools: { mobile: { serial: a, server: "10.0.0.1:5037" } }',
      'tools.mobile.server: must be an adb server of this machine',
    ],
    [
      'tools: { mobile: { serial: a, applications: [Notes] } }',
      'tools.mobile.applications[0]: must be the name of a package',
    ],
    ['servers: {}', 'servers: unknown field'],
    ['mcpServers: { a: { comand: x } }', 'mcpServers.a: must be {command,'],
    ['mcpServers: { a: { url: "file:///etc/passwd" } }', 'mcpServers.a'],
    ['mcpServers: { "a b": { command: x } }', 'mcpServers.a b: '],
    ['commandsMax: 0', 'commandsMax: '],
    ['onDisconnect: stop', 'onDisconnect: '],
    ['disconnectGraceMs: -1', 'disconnectGraceMs: '],
    ['credentialIn: cookie', 'credentialIn: '],
    ['files: { paths: [tmp] }', 'files.paths[0]: must be an absolute path'],
    ['files: { write: [/srv] }', 'files.write: unknown field'],
    ['outputBytesMax: -1', 'outputBytesMax: '],
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

  it('may be one of several, in lists and alone, each once', () =>
    expect(serverUrls(['ws://a/ws, ws://b/ws', 'ws://c/ws', 'ws://a/ws'])).toEqual([
      'ws://a/ws',
      'ws://b/ws',
      'ws://c/ws',
    ]));

  it('is not left out of a list', () => expect(() => serverUrls(['ws://a/ws,,ws://b/ws'])).toThrow(InputError));

  it('does not take a token along', () => {
    expect(() => serverUrl('ws://h/ws?token=canary')).toThrow('--token-file');
    expect(() => serverUrl('ws://h/ws?token=canary')).not.toThrow('canary');
  });

  it.each(['http://h/ws', 'h:5000', '', 'ws://user:secret@h/ws', 'ws://secret@h/ws'])('%j is refused', (text) => {
    expect(() => serverUrl(text)).toThrow(InputError);
  });

  it('is not repeated when it holds a password', () => {
    expect(() => serverUrl('ws://user:hunter2@h/ws')).not.toThrow('hunter2');
  });
});

describe('the token', () => {
  it('is read again when it is needed again', async () => {
    const token = tokenSource(await file(' one\n'));
    expect(await token.read(true)).toBe('one');
    await file('two');
    expect(await token.again()).toBe('two');
  });

  it('may be gone when it is not needed, and only then', async () => {
    const gone = tokenSource(join(dir, 'gone'));
    expect(await gone.read(false)).toBeUndefined();
    await expect(gone.read(true)).rejects.toThrow(`--token-file: the file ${join(dir, 'gone')} does not exist.`);
  });

  it('on standard input is left there when it is not needed', async () => {
    expect(await tokenSource(undefined).read(false)).toBeUndefined();
  });

  it.each(['', ' \n', 'two words', 'über'])('%j is refused without being repeated', async (text) => {
    const failure = await tokenSource(await file(text))
      .read(true)
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ message: expect.stringContaining('token in') });
    if (text.trim() !== '') expect(String(failure)).not.toContain(text);
  });
});

describe('the files for TLS', () => {
  const authority = makeTestAuthority();
  const inFile = async (name: string, text: string): Promise<string> => {
    const path = join(dir, name);
    await writeFile(path, text);
    return path;
  };

  it('are not needed', async () => expect(await (await tlsSource({}))()).toEqual({}));

  it('are read again for every connection', async () => {
    const caFile = await inFile('ca', authority.cert);
    const tls = await tlsSource({ caFile });
    const other = makeTestAuthority().cert;
    await inFile('ca', other);
    expect(await tls()).toEqual({ ca: other });
  });

  it('are refused when they do not belong together, or are none', async () => {
    const [one, other] = [authority.issue('a'), authority.issue('b')];
    const [certFile, keyFile] = [await inFile('cert', one.cert), await inFile('key', other.key)];
    await expect(tlsSource({ certFile })).rejects.toThrow('--cert-file and --key-file must be given together.');
    await expect(tlsSource({ certFile, keyFile })).rejects.toThrow('must be PEM files');
    await expect(tlsSource({ caFile: await inFile('ca', 'no certificate') })).rejects.toThrow('is not a PEM file.');
    await expect(tlsSource({ caFile: join(dir, 'gone') })).rejects.toThrow('--ca-file: the file');
  });
});
