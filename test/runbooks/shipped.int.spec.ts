import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { checkTargets } from '#libs/constellation';
import { planOfRunbook, type Runbook } from '#libs/planner';
import { loadRunbooks, runbookDirectories } from '#libs/prompts';
import type { Json, TaskConstellation } from '#proto';
import { sysInfo as readSysInfo } from '../../services/device-client/exec/sys-info.adapter.js';
import { device, fleet } from '../../libs/constellation/testing/given.js';
import { Machine, runPlan } from './plan-on-shell.js';

const FLEET = fleet([
  device('db-1', { tags: ['db'] }),
  device('db-2', { status: 'lost' }),
  device('mac-1', { os: 'darwin' }),
  device('web-1'),
]);

let runbooks: readonly Runbook[];
beforeAll(async () => {
  const loaded = await loadRunbooks(runbookDirectories({}));
  expect(loaded.problems).toEqual([]);
  ({ runbooks } = loaded);
});

const machines: Machine[] = [];
afterEach(() => {
  for (const machine of machines.splice(0)) machine.remove();
});
function machine(programs: Readonly<Record<string, string>> = {}): Machine {
  const made = new Machine(programs);
  machines.push(made);
  return made;
}

function planOf(name: string, parameters: Readonly<Record<string, Json>> = {}): TaskConstellation {
  const runbook = runbooks.find(({ info }) => info.name === name);
  if (runbook === undefined) throw new Error(`there is no runbook ${name}`);
  const plan = planOfRunbook(runbook, parameters, { fleet: FLEET });
  if (!plan.ok) throw new Error(JSON.stringify(plan.issues));
  expect(checkTargets(plan.constellation, FLEET)).toEqual([]);
  return plan.constellation;
}

const DF = `cat <<'END'
Filesystem 1024-blocks Used Available Capacity Mounted on
/dev/sda1 1000 700 300 70% /
/dev/sdb1 4194304 4194304 1048576 95% /mnt/big data
END`;
const NOT_BOOTED = 'echo "System has not been booted with systemd" >&2; exit 1';
const MEMORY: Json = { info_type: 'memory', data: { total: '4GB', total_bytes: 4000, available_bytes: 1000 } };

describe('fleet-health', () => {
  it('says of every device how it is, those that need a look first, and of whom nothing is known', () => {
    const of = {
      'web-1': machine({ df: DF, systemctl: NOT_BOOTED }),
      'db-1': machine({
        df: DF,
        systemctl:
          '[ "$1" = show ] || printf "nginx.service loaded failed failed web\\nx.timer loaded failed failed x\\n"',
      }),
    };
    const ended = runPlan(planOf('fleet-health'), { any: of['web-1'], of, sysInfo: MEMORY });
    const text = ended.get('report')?.text ?? '';
    const [head, ...lines] = text.trimEnd().split('\n');
    expect(head).toBe('Fleet health: 2 of 2 devices answered, 2 need a look');
    expect(lines[0]).toMatch(
      /^look {2}db-1: load [\d.]+ on \d+ CPUs, memory 75 % used, \/mnt\/big data 95 % full, failed units: nginx\.service, x\.timer {2}<- disk.*, units$/u,
    );
    expect(lines[1]).toMatch(/^look {2}web-1: .*failed units: no systemd {2}<- disk/u);
    expect(lines[2]).toBe('Not asked: db-2 (lost)');
  });

  it('says so when a device does not answer, and when memory is not known', () => {
    const any = machine({ df: DF });
    const ended = runPlan(planOf('fleet-health', { percent: 100 }), { any, silent: ['db-1'], sysInfo: null });
    const text = ended.get('report')?.text ?? '';
    expect(text).toMatch(/^Fleet health: 1 of 2 devices answered/u);
    expect(text).toContain('look  db-1: no answer\n');
    expect(text).toMatch(/web-1: .*memory not known, \/mnt\/big data 95 % full/u);
  });

  it('works with the df and the SYS_INFO of this machine', async () => {
    const any = machine({ df: 'exec /bin/df "$@"' });
    const sysInfo = await readSysInfo('memory', Date.now);
    const ended = runPlan(planOf('fleet-health', { tags: 'db' }), { any, sysInfo });
    const text = ended.get('report')?.text;
    expect(text).toMatch(/^Fleet health: 1 of 1 devices answered/u);
    expect(text).toMatch(/db-1: load [\d.]+ on \d+ CPUs, memory \d+ % used, \S+ \d+ % full/u);
  });
});

describe('failed-ssh-logins', () => {
  /** It is the tenth of March. */
  const NOW = 'exec /bin/date -d "2026-03-10 12:00 UTC $2" "$3"';
  const LOG = [
    'Mar  7 01:00:00 h sshd[1]: Failed password for root from 203.0.113.9 port 1 ssh2',
    'Mar  8 01:00:00 h sshd[1]: Failed password for root from 203.0.113.1 port 1 ssh2',
    'Mar 10 01:00:00 h sshd[1]: message repeated 3 times: [ Failed password for root from 203.0.113.1 port 1 ssh2]',
    '2026-03-10T01:00:00.1+00:00 h sshd-session[2]: Failed publickey for invalid user a from 2001:db8::1 port 22 ssh2: RSA',
    'Mar 10 02:00:00 h sshd[1]: Failed none for invalid user x from 198.51.100.7 port 1 from 203.0.113.2 port 2 ssh2',
    'Mar 10 02:00:00 h sshd[1]: Accepted publickey for root from 203.0.113.3 port 1 ssh2',
    'Mar 10 02:00:00 h cron[1]: Failed password for root from 203.0.113.4 port 1 ssh2',
  ];

  it('counts by address over all devices, in the days that were asked for', () => {
    const any = machine({ date: NOW });
    const file = any.write(join(any.directory, 'auth.log'), LOG.join('\n'));
    const plan = planOf('failed-ssh-logins', { file, days: 3, top: 2 });
    const lines = runPlan(plan, { any }).get('report')?.text.trimEnd().split('\n') ?? [];
    expect(lines[0]).toBe('12 failed SSH logins from 3 addresses in 3 day(s)');
    expect(lines.slice(1, 3).map((line) => line.trim().split(/\s{2,}/u))).toEqual([
      ['8', '203.0.113.1', 'on db-1, web-1'],
      ['2', '2001:db8::1', 'on db-1, web-1'],
    ]);
    expect(lines.slice(3)).toEqual([`db-1: read ${file}`, `web-1: read ${file}`, 'Not asked: db-2 (lost)']);
  });

  it('reads the journal where there is one', () => {
    const journalctl = `case "$*" in *--since*2026-03-09*) echo '${LOG[1] ?? ''}' ;; *-n*) echo something ;; esac`;
    const of = { 'web-1': machine({ date: NOW, journalctl }), 'db-1': machine({ date: NOW, journalctl: 'exit 1' }) };
    const ended = runPlan(planOf('failed-ssh-logins', { days: 2 }), { any: of['web-1'], of });
    expect(ended.get('logins-web-1')?.text).toBe('web-1\t203.0.113.1\t1\nweb-1\t-\tread the journal\n');
    expect(ended.get('report')?.text).toContain('1 failed SSH logins from 1 addresses in 2 day(s)\n');
  });

  it('says that there are none, that a log is missing, and who did not answer', () => {
    const any = machine({ date: NOW });
    const file = any.write(join(any.directory, 'auth.log'), LOG.slice(-2).join('\n'));
    const quiet = runPlan(planOf('failed-ssh-logins', { file }), { any, silent: ['db-1'] }).get('report');
    expect(quiet).toMatchObject({ status: 'COMPLETED' });
    expect(quiet?.text).toMatch(
      /^0 failed SSH logins from 0 addresses in 1 day\(s\)\nweb-1: read .*\ndb-1: no answer\n/u,
    );
    const missing = runPlan(planOf('failed-ssh-logins', { file: '/nowhere/auth.log' }), { any }).get('report')?.text;
    expect(missing).toContain('web-1: no journal and no log of logins\n');
  });
});

describe('disk-space-alert', () => {
  it('alerts when a file system is above the threshold', () => {
    const ended = runPlan(planOf('disk-space-alert'), { any: machine({ df: DF }) });
    expect(ended.get('above')?.text).toBe(
      [
        'ABOVE 90 %: 2 of 4 file systems',
        'db-1: /mnt/big data 95 % used, 1.0 GiB free',
        'web-1: /mnt/big data 95 % used, 1.0 GiB free',
        'Not asked: db-2 (lost)\n',
      ].join('\n'),
    );
    expect(ended.get('alert')).toMatchObject({ status: 'COMPLETED' });
    expect(ended.get('alert')?.text).toMatch(/^ALERT, file systems at or above 90 %: 2 of 4/u);
  });

  it('does not alert when none is, nor when nobody answers', () => {
    const any = machine({ df: DF });
    const ended = runPlan(planOf('disk-space-alert', { threshold: 96 }), { any });
    expect(ended.get('above')?.text).toMatch(/^NONE of 4 file systems is at 96 % or above\n/u);
    expect(ended.get('alert')?.status).toBe('SKIPPED');
    const silent = runPlan(planOf('disk-space-alert'), { any, silent: ['db-1', 'web-1'] });
    expect(silent.get('above')?.text).toMatch(/^NONE of 0 .*\ndb-1: no answer\nweb-1: no answer\n/u);
    expect(silent.get('alert')?.status).toBe('SKIPPED');
  });
});

describe('restart-service', () => {
  const parameters = { service: 'nginx', device: 'web-1' };
  /** Knows nginx.service; `state` becomes active when it is restarted. */
  const SYSTEMCTL = `
    for last; do :; done
    case $1 in
      show) [ "$2" = --property=Version ] && exit 0
        if [ "$last" = nginx.service ]; then echo loaded; else echo not-found; fi ;;
      is-active) [ "$2" != --quiet ] || exec > /dev/null; cat state 2>/dev/null || { echo inactive; exit 3; } ;;
      restart) echo active > state; echo "$@" >> calls ;;
      status) echo "status of $last" ;;
    esac`;

  it('restarts what is there, and checks that it is active', () => {
    const any = machine({ systemctl: SYSTEMCTL });
    const ended = runPlan(planOf('restart-service', parameters), { any });
    expect([...ended].map(([id, { status, text }]) => [id, status, text])).toEqual([
      ['check', 'COMPLETED', 'nginx.service is there, it is inactive\n'],
      ['restart', 'COMPLETED', 'nginx.service was restarted\n'],
      ['status', 'COMPLETED', 'status of nginx.service\n'],
    ]);
  });

  it('fails when the service is not active afterwards, and shows its status all the same', () => {
    const any = machine({ systemctl: SYSTEMCTL.replace('echo active > state;', ''), sleep: ':' });
    const ended = runPlan(planOf('restart-service', parameters), { any });
    expect(ended.get('restart')).toMatchObject({ status: 'FAILED', text: 'nginx.service is inactive\n' });
    expect(ended.get('status')).toMatchObject({ status: 'COMPLETED' });
  });

  it('changes nothing and says why when there is no such service, or no systemd', () => {
    const unknown = runPlan(planOf('restart-service', { ...parameters, service: 'nginz' }), {
      any: machine({ systemctl: SYSTEMCTL }),
    });
    expect(unknown.get('check')?.stderr).toBe(
      'There is no service nginz.service on web-1 (systemd says: not-found): nothing was restarted.\n',
    );
    for (const programs of [{}, { systemctl: NOT_BOOTED }]) {
      const ended = runPlan(planOf('restart-service', parameters), { any: machine(programs) });
      expect([...ended.values()].map(({ status }) => status)).toEqual(['FAILED', 'SKIPPED', 'SKIPPED']);
      expect(ended.get('check')?.stderr).toBe('There is no systemd on web-1: nothing was restarted.\n');
    }
  });
});

describe('run-script', () => {
  it('goes to the least loaded device: it names none', () => {
    expect(planOf('run-script', { script: 'true' }).tasks[0]?.target).toEqual({ os: 'linux' });
    expect(planOf('run-script', { script: 'true', tags: 'db' }).tasks[0]?.target).toEqual({
      os: 'linux',
      tags: ['db'],
    });
    expect(planOf('run-script', { script: 'true', timeout: 5 }).tasks[0]?.command?.arguments['timeout']).toBe(5);
  });

  it('runs a text with arguments, none of which is expanded', () => {
    const any = machine();
    const script = 'for one; do printf "<%s>" "$one"; done; exit 3';
    const plan = planOf('run-script', { script, arguments: 'a * $(touch canary) "b' });
    expect(runPlan(plan, { any }).get('script')).toMatchObject({
      exitCode: 3,
      text: '<a><*><$(touch><canary)><"b>',
    });
  });

  it('runs a file of the device', () => {
    const any = machine();
    const path = any.write(join(any.directory, "it's here.sh"), '#!/bin/sh\necho "ran $1"\n');
    const plan = planOf('run-script', { path, arguments: 'x' });
    expect(runPlan(plan, { any }).get('script')).toMatchObject({ exitCode: 0, text: 'ran x\n' });
  });

  it.each([
    [{}, /Give script \(the text\) or path/u],
    [{ script: 'true', path: '/bin/true' }, /not both/u],
    [{ path: '/nowhere/script' }, /There is no script \/nowhere\/script on this device/u],
  ])('says what is missing: %j', (parameters, sentence) => {
    expect(runPlan(planOf('run-script', parameters), { any: machine() }).get('script')?.stderr).toMatch(sentence);
  });
});
