import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execSettings } from '../../services/device-client/connection/hardening.runner.js';
import { ExecCli, ExecCliInput, type ExecSettings } from '../../services/device-client/exec/index.js';
import { DeviceConfig } from '../../services/device-client/settings/index.js';
import type { CoreFigure } from './core-figures.js';
import { spreadOf } from './statistics.js';

const COMMANDS = 150;
const ADDED_MS_MAX = 15;
const WALLS = ['bwrap', 'util-linux'] as const;

/** What a wall adds to a command that does nothing: each behind every wall in turn, so that what else the machine does hits all of them. */
export async function wallFigures(): Promise<CoreFigure[]> {
  const root = await mkdtemp(join(tmpdir(), 'orrery-walls-'));
  try {
    const settings: ExecSettings[] = [];
    for (const sandbox of ['none', ...WALLS]) settings.push(await settingsFor(root, sandbox));
    const times = settings.map((): number[] => []);
    const runs = settings.map((one) => new ExecCli({ settings: one, env: process.env, now: () => Date.now() }));
    for (let count = 0; count < COMMANDS; count++) {
      for (const [index, exec] of runs.entries()) times[index]?.push(await millisecondsOf(exec));
    }
    const [without, ...behind] = times.map((values) => spreadOf(values).median);
    return behind.map((median, index) => ({
      what: `a command behind the wall by ${WALLS[index]}, p50 of ${COMMANDS}, more than without`,
      value: median - (without ?? 0),
      unit: 'ms',
      beside: { what: 'the command without a wall', value: without ?? 0 },
      aim: { limit: ADDED_MS_MAX, atLeast: false, ofRatio: false },
    }));
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

function settingsFor(root: string, sandbox: string): Promise<ExecSettings> {
  const dataDir = join(root, sandbox);
  const places = { dataDir, jailDir: join(dataDir, 'jail'), confined: false, secretsDir: null };
  return execSettings({ ...places, runAs: undefined, sandbox, config: DeviceConfig.parse({}) });
}

async function millisecondsOf(exec: ExecCli): Promise<number> {
  const caller = { signal: new AbortController().signal, tell: () => Promise.resolve(), isAgents: true };
  const began = performance.now();
  const { result } = await exec.runWhole(ExecCliInput.parse({ command: 'true' }), caller);
  if (result.exit_code !== 0) throw new Error(`a command did not run: ${result.stderr}`);
  return performance.now() - began;
}
