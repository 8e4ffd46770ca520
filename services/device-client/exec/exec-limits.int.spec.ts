import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execSettings } from '../connection/hardening.runner.js';
import { DeviceConfig } from '../settings/index.js';
import { pathOfTests } from '../testing/programs.js';
import { type Executed, ExecCli, ExecCliInput } from './index.js';

/*
 * Commands that would take a machine down, really run. Without a wall nothing but the client counts processes of root: there a bomb
 * has an end of its own.
 */
const LIMITS = { processes: 100, cpuSeconds: 2, fileMb: 1, writtenMb: 3, residentMb: 64 };
/** What burns processor time on purpose burns no more of it than there has to be. */
const BURNING = { ...LIMITS, cpuSeconds: 1 };
const burning = 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done';
/** What has been refused a process ends, so there is somebody who asks for none any more. */
const BOMB = 'sleep 30 & (while :; do sleep 30 & done) & wait';
const bombOf = (kind: string): string =>
  kind === 'none' ? 'i=0; while [ $i -lt 120 ]; do sleep 30 & i=$((i+1)); done; wait' : BOMB;
const COMMANDS = {
  'a fork bomb': [bombOf, 'exec.limits.processes'],
  'a loop that prints into a file': [() => 'while :; do echo xxxxxxxxxxxxxxx; done > flood', 'exec.limits.fileMb'],
  'a program that prints into a file': [() => 'yes > endless', 'exec.limits.fileMb'],
  // With pauses: else it is a question of the machine whether its processor time ends first.
  'many small files': [
    () => 'i=0; while :; do echo x > small$i; i=$((i+1)); [ $((i % 100)) -ne 0 ] || sleep 0.1; done',
    'exec.limits.writtenMb',
  ],
  'many programs that print into files': [
    () => 'i=0; while :; do head -c 1000000 /dev/zero > big$i; sync big$i; i=$((i+1)); done',
    'exec.limits.writtenMb',
  ],
  'forks that burn processor time': [() => `while :; do (${burning}); done`, 'exec.limits.cpuSeconds'],
  'a program that burns processor time': [() => 'while :; do :; done', 'exec.limits.cpuSeconds'],
  'a program that keeps what it reads': [
    () => 'head -c 200000000 /dev/zero | tail -n 1 | sleep 30',
    'exec.limits.residentMb',
  ],
} as const;
type Name = keyof typeof COMMANDS;
const NAMES = Object.keys(COMMANDS) as [Name, ...Name[]];
const limitsOf = (name: Name) => (COMMANDS[name][1] === 'exec.limits.cpuSeconds' ? BURNING : LIMITS);

describe.each(['none', 'bwrap', 'util-linux'])('behind %s', (kind) => {
  let root: string;
  const ended = new Map<Name, Executed>();
  const settled = new Map<typeof LIMITS, ReturnType<typeof execSettings>>();
  /** A client tries its wall when it starts, not for each command. */
  const settings = (limits: typeof LIMITS) => {
    const known = settled.get(limits);
    const made =
      known ??
      execSettings({
        dataDir: root,
        jailDir: join(root, 'jail'),
        confined: false,
        secretsDir: null,
        runAs: undefined,
        sandbox: kind,
        config: DeviceConfig.parse({ exec: { limits }, outputBytesMax: 0 }),
      });
    settled.set(limits, made);
    return made;
  };
  const run = async (command: string, limits: typeof LIMITS = LIMITS): Promise<Executed> => {
    const exec = new ExecCli({ settings: await settings(limits), env: process.env, now: () => 0 });
    return exec.runWhole(ExecCliInput.parse({ command }), {
      signal: new AbortController().signal,
      tell: () => Promise.resolve(),
      isAgents: true,
    });
  };
  beforeAll(async () => {
    process.env['PATH'] = pathOfTests();
    // Behind a wall the usual places for temporary files are other ones, and no disks.
    root = await realpath(await mkdtemp('/var/tmp/orrery-limits-'));
    // While one lasts, the kernel refuses new processes to all commands of the same user.
    const [bomb, ...others] = NAMES;
    for (const names of [[bomb], others])
      await Promise.all(names.map(async (name) => ended.set(name, await run(COMMANDS[name][0](kind), limitsOf(name)))));
  });
  afterAll(() => rm(root, { recursive: true, force: true }));

  it.each(NAMES)('%s ends, and the limit is named', (name) => {
    expect(ended.get(name)).toMatchObject({
      limit: expect.stringContaining(COMMANDS[name][1]),
      result: { status: 'ERROR' },
    });
  });

  it('other commands go on, and none of them is told of a limit', async () =>
    expect(await run('echo here; exit 3')).toMatchObject({
      result: { stdout: 'here\n', exit_code: 3 },
      limit: undefined,
    }));
});
