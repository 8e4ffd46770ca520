import { ToolFailure } from '#libs/mcp';
import { SysInfoResult, SysInfoType, type Json } from '#proto';
import type { Systeminformation } from 'systeminformation';
import { z } from 'zod';

/** Lists from the machine (mounts, interfaces, disks) are cut here: a container host may have thousands. */
const ITEMS_MAX = 64;
const COLLECT_MS_MAX = 15_000;

export const SysInfoInput = z.strictObject({
  info_type: SysInfoType.describe('memory, disk, cpu, network, hardware or os'),
});

export const SYS_INFO = {
  name: 'SYS_INFO',
  title: 'System information',
  description:
    'Reads facts about this machine without running a command. Sizes come as text and, under `_bytes`, as numbers.',
  input: SysInfoInput,
  output: SysInfoResult,
  readOnly: true,
} as const;

/** The calls of the library that are used here. */
interface Library {
  mem(): Promise<Systeminformation.MemData>;
  fsSize(): Promise<Systeminformation.FsSizeData[]>;
  cpu(): Promise<Systeminformation.CpuData>;
  currentLoad(): Promise<Systeminformation.CurrentLoadData>;
  networkInterfaces(): Promise<Systeminformation.NetworkInterfacesData | Systeminformation.NetworkInterfacesData[]>;
  system(): Promise<Systeminformation.SystemData>;
  diskLayout(): Promise<Systeminformation.DiskLayoutData[]>;
  osInfo(): Promise<Systeminformation.OsData>;
  time(): Systeminformation.TimeData;
}

/** Reads one kind of facts; the library is loaded at the first call, because most commands never need it. */
export async function sysInfo(infoType: SysInfoType, now: () => number): Promise<SysInfoResult> {
  const { default: library } = await import('systeminformation');
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new ToolFailure('The machine did not answer in time.')), COLLECT_MS_MAX);
  try {
    const data = await Promise.race([COLLECTORS[infoType](library), late]);
    return { info_type: infoType, data, timestamp: new Date(now()).toISOString() };
  } finally {
    clearTimeout(timer);
  }
}

const COLLECTORS: Record<SysInfoType, (library: Library) => Promise<Json>> = {
  memory: async (library) => {
    const { total, active, free, available, swaptotal, swapused } = await library.mem();
    // "used" without caches: what cannot be given back to programs.
    return sizes({ total, used: active, free, available, swap_total: swaptotal, swap_used: swapused });
  },
  disk: async (library) => ({
    filesystems: (await library.fsSize())
      .slice(0, ITEMS_MAX)
      .map(({ fs, type, size, used, available, use, mount }) => ({
        device: fs,
        type,
        mount_point: mount,
        ...sizes({ size, used, available }),
        use_percent: percent(use),
      })),
  }),
  cpu: async (library) => {
    const [{ manufacturer, brand, physicalCores, cores }, load, { loadavg }] = await Promise.all([
      library.cpu(),
      library.currentLoad(),
      import('node:os'),
    ]);
    return {
      model: `${manufacturer} ${brand}`.trim(),
      cores: physicalCores,
      threads: cores,
      architecture: process.arch,
      current_usage: percent(load.currentLoad),
      load_average: loadavg().map((value) => Math.round(value * 100) / 100),
    };
  },
  network: async (library) => {
    const interfaces = [await library.networkInterfaces()].flat();
    return {
      interfaces: interfaces.slice(0, ITEMS_MAX).map(({ iface, ip4, ip6, mac, operstate, type, mtu }) => ({
        name: iface,
        ip4,
        ip6,
        mac,
        status: operstate,
        type,
        mtu: mtu ?? null,
      })),
    };
  },
  hardware: async (library) => {
    const [machine, processor, memory, disks] = await Promise.all([
      library.system(),
      library.cpu(),
      library.mem(),
      library.diskLayout(),
    ]);
    return {
      manufacturer: machine.manufacturer,
      model: machine.model,
      virtual: machine.virtual ?? false,
      cpu: { model: `${processor.manufacturer} ${processor.brand}`.trim(), threads: processor.cores },
      memory: sizes({ total: memory.total }),
      disks: disks
        .slice(0, ITEMS_MAX)
        .map(({ name, type, vendor, size }) => ({ name, type, vendor, ...sizes({ size }) })),
    };
  },
  os: async (library) => {
    const { platform, distro, release, codename, kernel, arch, hostname } = await library.osInfo();
    return {
      platform,
      distribution: distro,
      release,
      codename,
      kernel,
      architecture: arch,
      hostname,
      uptime_seconds: Math.round(library.time().uptime),
    };
  },
};

/** `used` becomes `used: "8.2GB"` for readers and `used_bytes` for conditions. */
function sizes(given: Readonly<Record<string, number>>): Record<string, Json> {
  return Object.fromEntries(
    Object.entries(given).flatMap(([name, bytes]): [string, Json][] => [
      [name, sizeText(bytes)],
      [`${name}_bytes`, Number.isFinite(bytes) ? bytes : null],
    ]),
  );
}

function sizeText(bytes: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB', 'PB'] as const;
  const power = bytes >= 1 ? Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10)) : 0;
  return `${Math.round((bytes / 1024 ** power) * 10) / 10}${units[power]}`;
}

function percent(value: number): string {
  return `${Math.round(Number.isFinite(value) ? value : 0)}%`;
}
