import { describe, expect, it } from '@jest/globals';
import { ExecSettings, wrapped } from './exec-settings.js';

const place = { command: 'echo "$X"', cwd: '/srv/jail/sub', isAgents: true, env: { A: 'b' }, given: ['A'] };
const settings = (more: object = {}): ExecSettings => ExecSettings.parse({ jailDir: '/srv/jail', ...more });
const limits = { cpuSeconds: 5, memoryMb: 64, processes: 9, fileMb: 1 };
const sandbox = {
  kind: 'bwrap',
  programs: { bwrap: '/usr/bin/bwrap', setpriv: '/usr/bin/setpriv', prlimit: '/usr/bin/prlimit' },
  commands: 'agents',
  writable: [],
  network: false,
  hidden: [],
  closedFile: '/data/wall/closed',
  rootDir: '/data/wall/root',
  limits: { tmpMb: 1 },
  user: { name: 'orrery', uid: 7, gid: 8, home: '/srv/jail', isOther: false },
};

describe('the command line of a command', () => {
  it('is the shell with it, and nothing else, by default', async () =>
    expect(await wrapped(settings(), place)).toEqual({
      file: '/bin/sh',
      args: ['-c', 'echo "$X"'],
      env: { A: 'b' },
      runAs: null,
      isWalled: false,
      limits: {},
    }));

  it('has the limits that are set', async () =>
    expect(await wrapped(settings({ limits: { program: '/usr/bin/prlimit', ...limits } }), place)).toMatchObject({
      file: '/usr/bin/prlimit',
      args: ['--cpu=5:10', '--as=67108864', '--nproc=18', '--fsize=1048576', '--', '/bin/sh', '-c', 'echo "$X"'],
    }));

  it.each([
    ['all', false, { kind: 'none', views: [] } as const],
    ['agents', true, { kind: 'none', views: [] } as const],
    ['agents', false, { kind: 'read', views: [] } as const],
  ])('of %s, an agent (%s), judged %j, stands before no wall', async (commands, isAgents, wall) =>
    expect((await wrapped(settings({ sandbox: { ...sandbox, commands } }), { ...place, isAgents, wall })).file).toBe(
      '/bin/sh',
    ),
  );
});
