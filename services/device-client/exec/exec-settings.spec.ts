import { describe, expect, it } from '@jest/globals';
import { ExecSettings, wrapped } from './exec-settings.js';

const place = { command: 'echo "$X"', cwd: '/srv/jail/sub', isAgents: true };
const settings = (more: object = {}): ExecSettings => ExecSettings.parse({ jailDir: '/srv/jail', ...more });
const sandbox = {
  program: '/usr/bin/bwrap',
  commands: 'agents',
  writable: ['/srv/app'],
  network: false,
  hidden: ['/data'],
};

describe('the command line of a command', () => {
  it('is the shell with it, and nothing else, by default', () =>
    expect(wrapped(settings(), place)).toEqual({ file: '/bin/sh', args: ['-c', 'echo "$X"'] }));

  it('has the limits that are set', () =>
    expect(
      wrapped(
        settings({ limits: { program: '/usr/bin/prlimit', cpuSeconds: 5, memoryMb: 64, processes: 9, fileMb: 1 } }),
        place,
      ),
    ).toEqual({
      file: '/usr/bin/prlimit',
      args: ['--cpu=5', '--as=67108864', '--nproc=9', '--fsize=1048576', '--', '/bin/sh', '-c', 'echo "$X"'],
    }));

  it('is a sandbox, in which only the jail and what was named can be written to', () => {
    const { file, args } = wrapped(settings({ sandbox }), place);
    expect(file).toBe('/usr/bin/bwrap');
    expect(args.join(' ')).toBe(
      '--ro-bind / / --dev /dev --proc /proc --tmpfs /tmp --tmpfs /data --bind /srv/jail /srv/jail --bind /srv/app /srv/app ' +
        '--unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try --unshare-net --cap-drop ALL --die-with-parent ' +
        '--chdir /srv/jail/sub -- /bin/sh -c echo "$X"',
    );
  });

  it.each([
    ['agents', true, true],
    ['agents', false, false],
    ['all', false, true],
  ])('for commands of %s and one of an agent (%s) is a sandbox: %s', (commands, isAgents, isInside) =>
    expect(
      wrapped(settings({ sandbox: { ...sandbox, commands } }), { ...place, isAgents }).file === '/usr/bin/bwrap',
    ).toBe(isInside),
  );

  it('has a network where it was asked for', () =>
    expect(wrapped(settings({ sandbox: { ...sandbox, network: true } }), place).args).not.toContain('--unshare-net'));
});
