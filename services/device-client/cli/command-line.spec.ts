import { describe, expect, it } from '@jest/globals';
import { runCommandLine, type JoinOptions } from './command-line.js';

async function run(...args: string[]) {
  let [out, err] = ['', ''];
  const joined: JoinOptions[] = [];
  const output = { out: (text: string) => void (out += text), err: (text: string) => void (err += text) };
  const did: string[] = [];
  const does = (deed: string) => (options?: unknown) => {
    did.push(`${deed} ${JSON.stringify(options ?? {})}`);
    return Promise.resolve(0);
  };
  const join = (options: JoinOptions) => {
    joined.push(options);
    return Promise.resolve(0);
  };
  const code = await runCommandLine(args, output, {
    join,
    install: does('install'),
    run: does('run'),
    start: does('start'),
    status: does('status'),
    logs: does('logs'),
    upgrade: does('upgrade'),
    leave: does('leave'),
  });
  return { code, out, err, joined, did };
}

describe('orrery-device', () => {
  it('joins with what it is given', async () => {
    const { code, joined } = await run('join', '--url', 'ws://h:5000/ws', '--token-file', 't', '--data-dir', 'd');
    expect({ code, joined }).toMatchObject({
      code: 0,
      joined: [{ url: ['ws://h:5000/ws'], tokenFile: 't', dataDir: 'd' }],
    });
  });

  it('takes several servers, by repeating the option', async () => {
    const { joined } = await run('join', '--url', 'ws://a/ws', '--url', 'ws://b/ws,ws://c/ws');
    expect(joined).toMatchObject([{ url: ['ws://a/ws', 'ws://b/ws,ws://c/ws'] }]);
  });

  it('explains itself with examples', async () => {
    const { code, out } = await run('join', '--help');
    expect(code).toBe(0);
    expect(out).toContain('orrery-device join --url ws://10.0.0.5:5000/ws --token-file');
    expect(out).toContain('mcpServers:');
  });

  it.each([
    [['join'], "required option '--url <url>' not specified"],
    [['join', '--url'], "option '--url <url>' argument missing"],
    [['join', '--url', 'ws://h', '--token', 'secret'], "unknown option '--token'"],
    [['join', '--url', 'ws://h', 'extra'], 'too many arguments'],
    [['jion'], "unknown command 'jion'"],
  ])('refuses %j with one sentence and exit code 3', async (args, sentence) => {
    const { code, err, joined } = await run(...args);
    expect({ code, joined }).toEqual({ code: 3, joined: [] });
    expect(err).toContain(sentence);
    expect(err).not.toContain('    at ');
  });

  it.each([
    [['status', '--json'], 'status {"json":true}'],
    [['logs', '-n', '5', '--follow'], 'logs {"lines":"5","follow":true}'],
    [['start'], 'start {}'],
    [['upgrade'], 'upgrade {}'],
    [['leave'], 'leave {}'],
    [['run'], 'run {}'],
    [['install', '--url', 'ws://h/ws', '--dir', '/opt/x'], 'install {"url":["ws://h/ws"],"dir":"/opt/x"}'],
  ])('%j does that', async (args, deed) => {
    expect(await run(...args)).toMatchObject({ code: 0, did: [deed] });
  });

  it('shows its help and fails without a command', async () => {
    const { code, err } = await run();
    expect(code).toBe(3);
    expect(err).toContain('Usage: orrery-device');
  });
});
