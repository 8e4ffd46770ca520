import { spawnSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { DeviceConfig } from '../settings/device-client.config.js';
import { ExecCliInput } from '../exec/exec-cli.js';
import { ExecCli } from '../exec/exec-cli.runner.js';
import type { ExecSettings } from '../exec/exec-settings.js';
import { execSettings, type HardeningOptions } from './hardening.runner.js';

const has = (program: string): boolean => spawnSync('/bin/sh', ['-c', `command -v ${program}`]).status === 0;
const isRoot = process.geteuid?.() === 0;
/** Reported as skipped where the machine has no such program, or where that needs root. */
const withBwrap = has('bwrap') ? it : it.skip;
const withoutBwrap = has('bwrap') ? it.skip : it;
const withPrlimit = has('prlimit') ? it : it.skip;
const asRoot = isRoot ? it : it.skip;

let root: string;
let path: string | undefined;
beforeEach(async () => {
  path = process.env['PATH'];
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
    sandbox: undefined,
    config: DeviceConfig.parse({ exec }),
    ...more,
  });

function run(how: ExecSettings, command: string, more: object = {}, isAgents = true) {
  const exec = new ExecCli({ settings: { ...how, spool: null }, env: process.env, now: () => 0 });
  const caller = { signal: new AbortController().signal, tell: () => Promise.resolve(), isAgents };
  return exec.runWhole(ExecCliInput.parse({ command, ...more }), caller).then(({ result }) => result);
}

describe('how commands are run', () => {
  it('is without anything around them, unless it was asked for', async () =>
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
    ['another sandbox', () => settings({ sandbox: 'docker' }), '--sandbox must be bwrap or off, not "docker".'],
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

  it('is refused where they do not work', async () => {
    await writeFile(
      join(root, 'bwrap'),
      '#!/bin/sh\necho "bwrap: No permissions to create a new namespace" >&2\nexit 1\n',
    );
    await chmod(join(root, 'bwrap'), 0o755);
    process.env['PATH'] = root;
    await expect(settings({ sandbox: 'bwrap' })).rejects.toThrow(
      '--sandbox bwrap does not work on this machine: bwrap: No permissions to create a new namespace.',
    );
  });

  withoutBwrap('has no sandbox on this machine', async () => {
    await expect(settings({ sandbox: 'bwrap' })).rejects.toThrow('which is not here');
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
  withPrlimit("of memory, time and files hold for a command, and its exit code is the shell's", async () => {
    const how = await settings({}, { limits: { cpuSeconds: 1, memoryMb: 256, fileMb: 1 } });
    expect(await run(how, 'ulimit -v; ulimit -t; exit 7')).toMatchObject({ stdout: '262144\n1\n', exit_code: 7 });
    expect((await run(how, 'head -c 2000000 /dev/zero > big; ls -l big | cut -d" " -f5')).stdout).toBe('1048576\n');
    expect(await run(how, 'while :; do :; done')).toMatchObject({ exit_code: 137, status: 'ERROR' });
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

describe('a sandbox', () => {
  withBwrap('lets a command write to the jail and where it may, and nowhere else', async () => {
    const [app, data, secrets] = [join(root, 'app'), join(root, 'data'), join(root, 'secrets')];
    for (const directory of [app, data, secrets]) await mkdir(directory);
    await writeFile(join(data, 'identity.json'), 'canary');
    await writeFile(join(secrets, 'key'), 'canary');
    const how = await settings({ sandbox: 'bwrap', secretsDir: secrets }, { sandbox: { writable: [app] } });
    const { stdout, exit_code: code } = await run(
      how,
      `touch in ${app}/in && echo written; touch /etc/out 2>/dev/null || echo refused; ls ${data} ${secrets} | grep -c canary; ` +
        `cat ${data}/identity.json ${secrets}/key; touch /tmp/private; pwd; exit 5`,
    );
    expect({ stdout, code }).toEqual({ stdout: `written\nrefused\n0\n${root}/jail\n`, code: 5 });
    expect(spawnSync('/bin/ls', [join(root, 'jail'), app]).stdout.toString()).toContain('in');
  });

  withBwrap('cannot be opened from inside, not even by root', async () => {
    const how = await settings({ sandbox: 'bwrap' });
    // Not below /tmp, of which a sandbox has its own.
    const outside = `/var/tmp/orrery-outside-${process.pid}`;
    const remount = 'mount -o remount,rw,bind /';
    await run(how, `${remount}; unshare -Urm ${remount}; touch ${outside}`);
    expect(await readdir('/var/tmp')).not.toContain(basename(outside));
    expect((await run(how, 'grep CapEff /proc/self/status')).stdout).toMatch(/^CapEff:\s+0+\n$/);
  });

  withBwrap('has no network and sees no processes of others, ends all of its own, and is for agents only', async () => {
    const how = await settings({ sandbox: 'bwrap' });
    const { stdout } = await run(
      how,
      'ls /sys/class/net /proc | grep -cE "^[0-9]+$"; tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d " "',
    );
    const [processes, ...networks] = stdout.trim().split('\n');
    expect(Number(processes)).toBeLessThan(12);
    expect(networks).toEqual(['lo']);
    const mark = `sleep 6${process.pid}`;
    await run(how, `env -i setsid ${mark} & sleep 0.1`);
    const left = spawnSync('/bin/sh', ['-c', `ps -eo stat,args | grep -v grep | grep -v "^Z" | grep -c "${mark}"`]);
    expect(left.stdout.toString().trim()).toBe('0');
    expect(
      (await run(how, 'touch /tmp/orrery-outside && rm /tmp/orrery-outside && ls /proc | wc -l', {}, false)).exit_code,
    ).toBe(0);
  });
});
