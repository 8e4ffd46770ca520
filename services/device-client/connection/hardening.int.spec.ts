import { spawnSync } from 'node:child_process';
import {
  chmod,
  chown,
  link,
  mkdir,
  mkdtemp,
  readdir,
  readlink,
  realpath,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { DeviceConfig } from '../settings/device-client.config.js';
import { ExecCliInput } from '../exec/exec-cli.js';
import { type CommandCaller, ExecCli } from '../exec/exec-cli.runner.js';
import type { ExecSettings } from '../exec/exec-settings.js';
import { pathOfTests } from '../testing/programs.js';
import { execSettings, type HardeningOptions } from './hardening.runner.js';

const isRoot = process.geteuid?.() === 0;
/** Reported as skipped where that needs root. */
const asRoot = isRoot ? it : it.skip;

let root: string;
let path: string | undefined;
beforeEach(async () => {
  path = process.env['PATH'];
  process.env['PATH'] = pathOfTests();
  root = await realpath(await mkdtemp(join(tmpdir(), 'orrery-hardening-')));
  await chmod(root, 0o755);
});
afterEach(async () => {
  process.env['PATH'] = path;
  await rm(root, { recursive: true, force: true });
});

const settings = (more: Partial<HardeningOptions> = {}, exec: object = {}): Promise<ExecSettings> =>
  execSettings({
    dataDir: join(root, 'data'),
    jailDir: join(root, 'jail'),
    confined: false,
    secretsDir: null,
    runAs: undefined,
    sandbox: 'none',
    config: DeviceConfig.parse({ exec }),
    ...more,
  });

function run(how: ExecSettings, command: string, more: object = {}, who: Partial<CommandCaller> = {}) {
  const exec = new ExecCli({ settings: { ...how, spool: null }, env: process.env, now: () => 0 });
  const caller = { signal: new AbortController().signal, tell: () => Promise.resolve(), isAgents: true, ...who };
  return exec.runWhole(ExecCliInput.parse({ command, ...more }), caller).then(({ result }) => result);
}

describe('how commands are run', () => {
  it('is without anything around them where nobody wants a wall', async () =>
    expect(await settings()).toEqual({
      jailDir: join(root, 'jail'),
      confined: false,
      spool: { dir: join(root, 'data', 'outputs'), bytesMax: 1024 * 1024 * 1024 },
      inputsDir: join(root, 'data', 'inputs'),
      secretsDir: null,
      runAs: null,
      umask: 0o022,
      limits: null,
      sandbox: null,
    }));

  it.each<[string, () => Promise<unknown>, string]>([
    [
      'another sandbox',
      () => settings({ sandbox: 'docker' }),
      '--sandbox must be one of auto, bwrap, util-linux, none, not "docker".',
    ],
    [
      'a user that is not there',
      () => settings({ runAs: 'no-such-user' }),
      '--run-as: there is no user "no-such-user" on this machine.',
    ],
    [
      'secrets in the jail',
      () => settings({ secretsDir: join(root, 'jail', 's') }),
      'where files may be read and written.',
    ],
  ])('is refused with %s', async (_, make, sentence) => {
    await expect(make()).rejects.toThrow(sentence);
  });

  it('is refused where the programs for it are missing', async () => {
    process.env['PATH'] = root;
    await expect(settings({ sandbox: 'bwrap' })).rejects.toThrow(
      '--sandbox bwrap needs the program bwrap (package bubblewrap), which is not here.',
    );
    await expect(settings({}, { limits: { cpuSeconds: 1 } })).rejects.toThrow('exec.limits needs the program prlimit');
  });

  it('is refused where they do not work, and without a wall only where that may be, and is said', async () => {
    for (const program of ['bwrap', 'setpriv', 'prlimit', 'unshare', 'mount']) {
      await writeFile(join(root, program), '#!/bin/sh\necho "no permissions to create a new namespace" >&2\nexit 1\n');
      await chmod(join(root, program), 0o755);
    }
    process.env['PATH'] = root;
    const sentence = '--sandbox bwrap does not work on this machine: no permissions to create a new namespace.';
    await expect(settings({ sandbox: 'bwrap' })).rejects.toThrow(sentence);
    const said: string[] = [];
    const how = await settings({ sandbox: 'auto', warn: (one) => said.push(one) });
    expect(how.sandbox).toBeNull();
    expect(said).toEqual([
      expect.stringMatching(/^commands of agents run without a wall, .*: --sandbox bwrap .* --sandbox util-linux /u),
    ]);
    expect((await settings({ sandbox: 'none', warn: (one) => said.push(one) })).sandbox).toBeNull();
    expect(said).toHaveLength(1);
  });

  it.each(['auto', undefined])('is behind the first wall that works (%s)', async (sandbox) => {
    expect((await settings({ sandbox })).sandbox).toMatchObject({ kind: 'bwrap', commands: 'agents' });
  });
});

it('does not take the small versions of BusyBox for the programs of a wall', async () => {
  await writeFile(join(root, 'busybox'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  for (const program of ['setpriv', 'prlimit', 'unshare']) await symlink(join(root, 'busybox'), join(root, program));
  process.env['PATH'] = `${root}:${pathOfTests()}`;
  expect((await settings({ sandbox: 'bwrap' })).sandbox?.kind).toBe('bwrap');
});

describe('the jail of a client that is root', () => {
  const COMMANDS_UID = 65_533;
  const owners = (paths: readonly string[]): Promise<number[]> =>
    Promise.all(paths.map(async (path) => (await stat(path)).uid));

  asRoot(
    'that lies with its data goes to the user of commands, with what an earlier version has left in it',
    async () => {
      const jailDir = join(root, 'data', 'jail');
      await mkdir(join(jailDir, 'old'), { recursive: true, mode: 0o700 });
      const [outside, linked] = [join(root, 'outside'), join(jailDir, 'linked')];
      for (const file of [outside, join(jailDir, 'old', 'report')]) await writeFile(file, 'old\n');
      await link(outside, linked);
      await symlink(outside, join(jailDir, 'symbolic'));
      const how = await settings({ sandbox: undefined, jailDir });
      const { stdout, stderr } = await run(how, 'echo new >> old/report && cat old/report');
      expect({ stdout, stderr }).toEqual({ stdout: 'old\nnew\n', stderr: '' });
      expect(await owners([outside, linked, join(jailDir, 'old'), jailDir])).toEqual([
        0,
        0,
        COMMANDS_UID,
        COMMANDS_UID,
      ]);

      // By now it is theirs: what lies in it is nobody's to give away any more.
      await mkdir(join(jailDir, 'root-made'));
      await settings({ sandbox: undefined, jailDir });
      expect(await owners([join(jailDir, 'root-made')])).toEqual([0]);
    },
  );

  asRoot(
    'that was there before the client stays whose it is, and nothing is run behind a wall until it is given',
    async () => {
      const jailDir = join(root, 'app');
      await mkdir(jailDir, { mode: 0o755 });
      const said: string[] = [];
      const warn = (sentence: string): void => void said.push(sentence);
      expect((await settings({ sandbox: undefined, jailDir, warn })).sandbox).toBeNull();
      expect(said.join('\n')).toContain(
        `user ${COMMANDS_UID}, as whom commands run behind it, cannot write to ${jailDir}; --jail gives it to that user`,
      );
      expect(await owners([jailDir])).toEqual([0]);

      expect((await settings({ sandbox: undefined, jailDir, confined: true, warn })).sandbox?.kind).toBe('bwrap');
      expect(await owners([jailDir])).toEqual([COMMANDS_UID]);
    },
  );

  asRoot('is never the whole machine', async () => {
    const said: string[] = [];
    const jail = { jailDir: '/', warn: (sentence: string): void => void said.push(sentence) };
    expect((await settings({ sandbox: undefined, ...jail })).sandbox).toBeNull();
    expect(said).toHaveLength(1);
    await expect(settings({ sandbox: 'auto', ...jail })).rejects.toThrow('commands start in /, which is not given');
    expect(await owners(['/'])).toEqual([0]);
  });
});

describe('a working directory', () => {
  it('outside of the jail is refused where there are walls, also behind a link', async () => {
    const how = await settings({ confined: true });
    await mkdir(join(root, 'jail', 'sub'));
    await symlink('/etc', join(root, 'jail', 'out'));
    await symlink(join(root, 'jail', 'sub'), join(root, 'jail', 'in'));
    for (const directory of ['/etc', '..', 'out', join(root, 'jail', 'out'), `${root}/jail-2`]) {
      await expect(run(how, 'pwd', { working_directory: directory })).rejects.toThrow('is outside of');
    }
    expect((await run(how, 'pwd -P', { working_directory: 'in' })).stdout).toBe(`${root}/jail/sub\n`);
    expect((await run(await settings(), 'pwd', { working_directory: '/etc' })).stdout).toBe('/etc\n');
  });
});

describe('limits', () => {
  it("of memory, time and files hold for a command, and its exit code is the shell's", async () => {
    const how = await settings({}, { limits: { cpuSeconds: 1, memoryMb: 256, fileMb: 1 } });
    expect(await run(how, 'ulimit -v; ulimit -t; exit 7')).toMatchObject({ stdout: '262144\n1\n', exit_code: 7 });
    expect((await run(how, 'head -c 2000000 /dev/zero > big; ls -l big | cut -d" " -f5')).stdout).toBe('1048576\n');
    expect(await run(how, 'while :; do :; done')).toMatchObject({ exit_code: 152, status: 'ERROR' });
  });
});

describe('another user', () => {
  asRoot('runs the command, with none of the groups of the client, and may use the jail', async () => {
    const how = await settings({ runAs: 'nobody' });
    const { stdout, stderr } = await run(
      how,
      'id -un; id -G; umask; touch mine && ls -l mine | cut -d" " -f3; echo $HOME $USER',
    );
    expect(stderr).toBe('');
    const [user, groups, , owner, names] = stdout.split('\n');
    expect({ user, owner, count: groups?.split(' ').length }).toEqual({ user: 'nobody', owner: 'nobody', count: 1 });
    expect(names).toMatch(/ nobody$/);
    expect((await run(how, 'cat /etc/shadow')).exit_code).not.toBe(0);
  });

  asRoot('is refused where it cannot enter the jail', async () => {
    await mkdir(join(root, 'closed'), { mode: 0o700 });
    await expect(settings({ runAs: 'nobody', jailDir: join(root, 'closed', 'jail') })).rejects.toThrow(
      '--run-as nobody does not work',
    );
    await expect(settings({ runAs: 'root' })).rejects.toThrow('--run-as must name a user that is not root.');
  });
});

describe.each(['bwrap', 'util-linux'])('a wall by %s', (kind) => {
  it('lets a command write to the jail and where it may, and hides what is of the client', async () => {
    const [app, data, secrets, keys] = ['app', 'data', 'secrets', 'keys'].map((name) => join(root, name));
    for (const directory of [app, data, secrets, keys]) await mkdir(directory ?? '', { mode: 0o777 });
    for (const directory of [data, secrets, keys])
      await writeFile(join(directory ?? '', 'key'), 'canary', { mode: 0o644 });
    if (isRoot) await chown(app ?? '', 65_533, 65_533);
    const sandbox = { writable: [app], hidden: [keys] };
    const how = await settings({ sandbox: kind, secretsDir: secrets ?? null, dataDir: data ?? '' }, { sandbox });
    const { stdout, exit_code: code } = await run(
      how,
      `touch in ${app}/in && echo written; touch /etc/out 2>/dev/null || echo refused; ` +
        `cat ${data}/key ${secrets}/key ${keys}/key; touch /tmp/private; pwd; exit 5`,
    );
    expect({ stdout, code }).toEqual({ stdout: `written\nrefused\n${root}/jail\n`, code: 5 });
    expect(await Promise.all([readdir(app ?? ''), readdir(join(root, 'jail'))])).toEqual([['in'], ['in']]);
  });

  it('lets a command that reads write nothing, and has what it needs', async () => {
    const how = await settings({ sandbox: kind });
    const reads = { kind: 'read', views: [] } as const;
    const { stdout } = await run(
      how,
      'touch in 2>/dev/null || echo refused; cat; echo $V',
      { stdin: 'given\n', env: { V: 'v' } },
      { wall: reads },
    );
    expect(stdout).toBe('refused\ngiven\nv\n');
    expect(await readdir(join(root, 'jail'))).toEqual([]);
  });

  asRoot('has the user that root gives it, and a home that is there', async () => {
    const how = await settings({ sandbox: kind });
    expect((await run(how, 'id -u; echo $USER; cd ~ && pwd; cat /etc/shadow')).stdout).toBe(
      `65533\norrery-command\n${root}/jail\n`,
    );
  });

  it('ends with its time, and with everything that it started', async () => {
    const how = await settings({ sandbox: kind });
    const mark = `6${process.pid}`;
    expect(await run(how, `env -i setsid -f sleep ${mark}; sleep 60`, { timeout: 0.3 })).toMatchObject({
      status: 'TIMEOUT',
    });
    expect(spawnSync('pgrep', ['-fx', `sleep ${mark}`]).stdout.toString()).toBe('');
  });

  it('is for commands of agents, unless it is for all', async () => {
    const of = async (commands: string): Promise<string> =>
      (
        await run(
          await settings({ sandbox: kind }, { sandbox: { commands } }),
          'readlink /proc/self/ns/mnt',
          {},
          { isAgents: false },
        )
      ).stdout;
    const ours = await readlink('/proc/self/ns/mnt');
    expect([await of('agents'), await of('all')]).toEqual([`${ours}\n`, expect.not.stringContaining(ours)]);
  });
});
