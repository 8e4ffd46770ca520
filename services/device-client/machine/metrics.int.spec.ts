import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { DeviceMetrics } from '#proto';
import { findHardware } from './hardware.adapter.js';
import { MachineMetrics } from './metrics.adapter.js';

let dir: string;
let path: string | undefined;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'orrery-metrics-'));
  path = process.env['PATH'];
});
afterEach(async () => {
  process.env['PATH'] = path;
  await rm(dir, { recursive: true, force: true });
});

const put = async (name: string, text: string, mode = 0o600): Promise<void> => {
  const file = join(dir, name);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text, { mode });
};
const place = () => ({ sysDir: join(dir, 'sys'), procDir: join(dir, 'proc') });
/** It hears of no signal, and what it has started has its output open when it is gone. */
const HANGING = 'trap "" TERM; sleep 600 & echo "NVIDIA A100, 81920, 550.54.15"; wait; sleep 600';
const metrics = (monotonicMs = () => 0): MachineMetrics =>
  new MachineMetrics({ ...place(), dataDir: dir, monotonicMs });
const card = async (name: string, files: Record<string, string>): Promise<void> => {
  for (const [file, text] of Object.entries(files)) await put(`sys/class/drm/${name}/device/${file}`, text);
};
/** A machine with NVIDIA's driver, and a program that says this. */
const nvidia = async (script: string): Promise<void> => {
  await put('proc/driver/nvidia/version', 'NVRM version: x');
  await put('bin/nvidia-smi', `#!/bin/sh\n${script}\n`, 0o700);
  process.env['PATH'] = `${join(dir, 'bin')}${delimiter}${path}`;
};

describe('the metrics of a machine', () => {
  it('are there at once, and complete when they were measured', async () => {
    const machine = metrics();
    expect(DeviceMetrics.parse(machine.current())).toMatchObject({ diskFreeMb: 0, gpus: [] });
    await machine.refresh();
    const { load1, memoryFreeMb, diskFreeMb, gpus } = DeviceMetrics.parse(machine.current());
    expect(load1).toBeGreaterThanOrEqual(0);
    expect(memoryFreeMb).toBeGreaterThan(0);
    expect(diskFreeMb).toBeGreaterThan(0);
    expect(gpus).toEqual([]);
  });

  it('name graphics cards of which the kernel knows how they are', async () => {
    await card('card0', {
      mem_info_vram_total: '17163091968\n',
      mem_info_vram_used: '1073741824\n',
      gpu_busy_percent: '37\n',
      product_name: 'Radeon\n',
    });
    await card('card1', { mem_info_vram_total: '1048576\n', mem_info_vram_used: 'n/a\n', gpu_busy_percent: '1\n' });
    await card('card2', { vendor: '0x8086\n' });
    await card('card0-HDMI-A-1', { status: 'connected\n' });
    const machine = metrics();
    await machine.refresh();
    expect(machine.current().gpus).toEqual([
      { name: 'Radeon', memoryMb: 16_368, memoryFreeMb: 15_344, utilisation: 0.37 },
    ]);
  });

  it('name those of NVIDIA, and are not broken by what their program says', async () => {
    await nvidia(
      'echo "NVIDIA A100 80G, 81920, 81000, 5"; echo "NVIDIA H100, PCIe, 81559, 80000, 50"; ' +
        'echo "Tesla, [N/A], [N/A], [N/A]"; echo "Tesla, , , "; echo ", 1, 1, 1"; echo nonsense',
    );
    const machine = metrics();
    await machine.refresh();
    expect(machine.current().gpus).toEqual([
      { name: 'NVIDIA A100 80G', memoryMb: 81_920, memoryFreeMb: 81_000, utilisation: 0.05 },
      { name: 'NVIDIA H100, PCIe', memoryMb: 81_559, memoryFreeMb: 80_000, utilisation: 0.5 },
    ]);
  });

  it('are those of the rest where the program of a driver never answers', async () => {
    await nvidia(HANGING);
    const machine = new MachineMetrics({ ...place(), dataDir: dir, monotonicMs: () => 0, answerMs: 100 });
    await machine.refresh();
    const { gpus, diskFreeMb } = machine.current();
    expect(gpus).toEqual([]);
    expect(diskFreeMb).toBeGreaterThan(0);
    await rm(join(dir, 'proc'), { recursive: true });
    await machine.refresh();
  });

  it('are asked for once a minute where a program has to be run', async () => {
    await nvidia(`echo x >> ${join(dir, 'asked')}; echo "A, 1, 1, 1"`);
    let nowMs = 0;
    const machine = metrics(() => nowMs);
    const asked = async (): Promise<number> => {
      await machine.refresh();
      return machine.current().gpus.length;
    };
    expect(await asked()).toBe(1);
    await rm(join(dir, 'bin'), { recursive: true });
    nowMs = 59_999;
    expect(await asked()).toBe(1);
    nowMs = 60_000;
    expect(await asked()).toBe(0);
  });

  it('are not measured twice at the same time', async () => {
    const machine = metrics();
    const first = machine.refresh();
    await machine.refresh();
    expect(machine.current().diskFreeMb).toBe(0);
    await first;
    expect(machine.current().diskFreeMb).toBeGreaterThan(0);
  });
});

describe('the hardware of a machine', () => {
  const found = (answerMs?: number) =>
    findHardware({ ...place(), dataDir: dir, ...(answerMs !== undefined && { answerMs }) });

  it('has no cards where there are none, and the size of the disk', async () => {
    const { gpus, diskMb } = await found();
    expect(gpus).toEqual([]);
    expect(diskMb).toBeGreaterThan(0);
  });

  it('has the cards of both vendors', async () => {
    await nvidia('echo "NVIDIA A100 80GB PCIe, 81920, 550.54.15"; echo "NVIDIA GB10, [N/A], 580.95.05"');
    await card('card1', { vendor: '0x1002\n', device: '0x73bf\n', mem_info_vram_total: '17163091968\n' });
    await card('card2', { vendor: '0x8086\n' });
    expect((await found()).gpus).toEqual([
      { vendor: 'nvidia', name: 'NVIDIA A100 80GB PCIe', memoryMb: 81_920, driver: '550.54.15' },
      { vendor: 'nvidia', name: 'NVIDIA GB10', memoryMb: null, driver: '580.95.05' },
      { vendor: 'amd', name: 'AMD 0x73bf', memoryMb: 16_368 },
    ]);
  });

  it('has what the kernel names where the program of the driver fails', async () => {
    await nvidia('echo "NVIDIA-SMI has failed because it could not communicate with the NVIDIA driver."; exit 9');
    await put('proc/driver/nvidia/version', 'NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.129.03  Thu Oct 19\n');
    await put(
      'proc/driver/nvidia/gpus/0000:01:00.0/information',
      'Model: \t\t NVIDIA GeForce RTX 3090\nIRQ:   \t\t 189\n',
    );
    expect((await found()).gpus).toEqual([
      { vendor: 'nvidia', name: 'NVIDIA GeForce RTX 3090', memoryMb: null, driver: '535.129.03' },
    ]);
  });

  it('has no cards where there is a driver and none', async () => {
    await nvidia('echo "No devices were found"; exit 6');
    expect((await found()).gpus).toEqual([]);
  });

  it('has what the kernel names where the program of the driver never answers', async () => {
    await nvidia(HANGING);
    await put('proc/driver/nvidia/gpus/0000:01:00.0/information', 'Model: \t\t Tesla T4\nIRQ:   \t\t 189\n');
    await put('proc/driver/nvidia/gpus/0000:02:00.0/information', 'Model: \t\t Tesla T4\n');
    expect((await found(100)).gpus).toEqual([
      { vendor: 'nvidia', name: 'Tesla T4', memoryMb: null },
      { vendor: 'nvidia', name: 'Tesla T4', memoryMb: null },
    ]);
  });

  it('is not broken by a program that says no end of anything, or what nobody may print', async () => {
    await nvidia('yes "NVIDIA A100, 81920, 550.54.15"');
    expect((await found()).gpus).toHaveLength(32);
    await nvidia(`printf 'A\\033[2J\\000B\\t${'x'.repeat(500)}, 99999999999999999999, 1;rm\\n'`);
    const [odd] = (await found()).gpus;
    expect(odd).toMatchObject({ vendor: 'nvidia', memoryMb: null });
    expect(odd?.name).toMatch(/^A\[2JBx+$/u);
    expect(odd).not.toHaveProperty('driver');
  });

  it('asks the program of AMD where the kernel does not say how large a card is', async () => {
    await card('card0', { vendor: '0x1002\n', device: '0x740f\n' });
    await put('sys/module/amdgpu/version', 'x');
    await put(
      'bin/rocm-smi',
      '#!/bin/sh\necho \'{"card0":{"VRAM Total Memory (B)":"68702699520","Card Series":"AMD Instinct MI210"}}\'\n',
      0o700,
    );
    process.env['PATH'] = `${join(dir, 'bin')}${delimiter}${path}`;
    expect((await found()).gpus).toEqual([{ vendor: 'amd', name: 'AMD Instinct MI210', memoryMb: 65_520 }]);
  });
});
