import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { LogOptions, Output } from '../cli/index.js';
import { InputError } from '../faults/index.js';
import { askStatus, type ClientStatus } from '../status/index.js';
import { ownInstallation, readSettings } from './installed.adapter.js';
import { clientSupervisor } from './supervisor.adapter.js';

const EXIT_NOT_CONNECTED = 1;
const LINES_MAX = 100_000;

/** `orrery-device status`. Exit code 0: connected. */
export async function tellStatus({ json }: { readonly json?: true }, { out }: Output): Promise<number> {
  const { places, release } = await ownInstallation();
  await readSettings(places);
  const status = await askStatus(places.dataDir);
  if (json) out(`${JSON.stringify({ dir: places.dir, release, client: status ?? null }, null, 2)}\n`);
  else for (const [name, text] of statusLines(status, release)) out(`${name.padEnd(11)} ${text}\n`);
  return status?.connected === true ? 0 : EXIT_NOT_CONNECTED;
}

/** `release`: the installed one. */
export function statusLines(status: ClientStatus | undefined, release: string): [name: string, text: string][] {
  if (status === undefined) {
    return [
      ['state', 'does not run: see orrery-device logs, or orrery-device start'],
      ['release', release],
    ];
  }
  const { connected, server, since, reason, deviceId, wall, pid, commands } = status;
  const link = connected
    ? `connected to ${server} since ${since}`
    : `not connected since ${since}: ${reason ?? 'it has not joined yet'}`;
  return [
    ['device', deviceId ?? 'none yet'],
    ['state', link],
    [
      'release',
      status.release === release ? release : `${status.release}; ${release} is installed: orrery-device start`,
    ],
    ['wall', wall],
    ['process', String(pid)],
    ['commands', commands.length === 0 ? 'none: it is idle' : String(commands.length)],
    ...commands.map(({ tool, run, task, state }): [string, string] => ['', `${state} ${tool}, task ${task} of ${run}`]),
  ];
}

/** `orrery-device logs`: with the program that knows them. */
export async function showLogs({ lines, follow }: LogOptions): Promise<number> {
  const number = /^\d{1,6}$/u.test(lines) ? Number(lines) : NaN;
  if (!(number <= LINES_MAX)) throw new InputError(`--lines must be a number up to ${LINES_MAX}.`);
  const { places } = await ownInstallation();
  const [program, ...args] = (await clientSupervisor(places)).logs(number, follow === true);
  const child = spawn(program, args, { stdio: 'inherit' });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? 0;
}

/** `orrery-device start`: of what runs already, and is the installed release, nothing changes. */
export async function startClient({ out }: Output): Promise<number> {
  const { places, release } = await ownInstallation();
  await readSettings(places);
  if ((await askStatus(places.dataDir))?.release === release) {
    out('orrery-device: it runs already\n');
    return 0;
  }
  const supervisor = await clientSupervisor(places);
  await supervisor.restart();
  out(`orrery-device: started as ${supervisor.words}\n`);
  return 0;
}
