import { access, readdir, readFile, statfs } from 'node:fs/promises';
import type { GpuInfo } from '#proto';
import { programAnswer } from './ask-program.adapter.js';
import { amdCard, NVIDIA_QUERY, nvidiaCards, nvidiaDriver, nvidiaModel, rocmCards } from './gpus.js';

/** What does not change while the client runs. */
export interface Hardware {
  /** Empty: there are none that this client knows of. */
  readonly gpus: readonly GpuInfo[];
  /** Size of the disk that has the data of the device. */
  readonly diskMb: number;
}

export interface HardwareOptions {
  readonly dataDir: string;
  /** Where the kernel describes graphics cards and drivers. */
  readonly sysDir?: string;
  readonly procDir?: string;
  /** How long a program of a driver may take; absent: some seconds. */
  readonly answerMs?: number;
}

const MIB = 1024 ** 2;
const GPUS_MAX = 32;

/** Looks once, only reading: what cannot be read is not there. Programs are started only where their driver is loaded. Never rejects. */
export async function findHardware({
  dataDir,
  sysDir = '/sys',
  procDir = '/proc',
  answerMs,
}: HardwareOptions): Promise<Hardware> {
  const [disk, nvidia, amd] = await Promise.all([
    statfs(dataDir).catch(() => undefined),
    nvidiaGpus(procDir, answerMs),
    amdGpus(sysDir, answerMs),
  ]);
  const diskMb = disk === undefined ? 0 : Math.floor((disk.blocks * disk.bsize) / MIB);
  return { gpus: [...nvidia, ...amd].slice(0, GPUS_MAX), diskMb };
}

async function nvidiaGpus(procDir: string, answerMs: number | undefined): Promise<GpuInfo[]> {
  const root = `${procDir}/driver/nvidia`;
  const version = await text(`${root}/version`);
  if (version === undefined) return [];
  const query = [`--query-gpu=${NVIDIA_QUERY}`, '--format=csv,noheader,nounits'];
  const found = nvidiaCards(await programAnswer('nvidia-smi', query, answerMs));
  if (found.length > 0) return found;
  // In a container the driver may be there without its program: then the kernel names the cards, without their memory.
  const cards = (await readdir(`${root}/gpus`).catch(() => [])).slice(0, GPUS_MAX);
  const models = await Promise.all(cards.map((card) => text(`${root}/gpus/${card}/information`)));
  return models.flatMap((model) => nvidiaModel(model ?? '', nvidiaDriver(version)));
}

async function amdGpus(sysDir: string, answerMs: number | undefined): Promise<GpuInfo[]> {
  const root = `${sysDir}/class/drm`;
  const names = (await readdir(root).catch(() => [])).filter((name) => /^card\d+$/u.test(name)).slice(0, GPUS_MAX);
  const read = async (name: string): Promise<GpuInfo[]> => {
    const file = (one: string) => text(`${root}/${name}/device/${one}`);
    const [vendor, device, productName, vramTotal] = await Promise.all(
      ['vendor', 'device', 'product_name', 'mem_info_vram_total'].map(file),
    );
    return amdCard({ vendor, device, productName, vramTotal });
  };
  const found = (await Promise.all(names.map(read))).flat();
  const isKnown = found.every(({ memoryMb }) => memoryMb !== null);
  if (isKnown || !(await isThere(`${sysDir}/module/amdgpu`))) return found;
  const told = rocmCards(
    await programAnswer('rocm-smi', ['--showproductname', '--showmeminfo', 'vram', '--json'], answerMs),
  );
  return told.length > 0 ? told : found;
}

const text = (file: string): Promise<string | undefined> => readFile(file, 'utf8').catch(() => undefined);

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
