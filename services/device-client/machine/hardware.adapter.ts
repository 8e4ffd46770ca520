import { access, readdir, readFile, statfs } from 'node:fs/promises';
import { execa } from 'execa';
import type { GpuInfo } from '#proto';
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
}

const MIB = 1024 ** 2;
const GPUS_MAX = 32;
const ANSWER_MS = 5_000;
const ANSWER_BYTES_MAX = 64 * 1024;

/** Looks once, only reading: what cannot be read is not there. Programs are started only where their driver is loaded. Never rejects. */
export async function findHardware({
  dataDir,
  sysDir = '/sys',
  procDir = '/proc',
}: HardwareOptions): Promise<Hardware> {
  const [disk, nvidia, amd] = await Promise.all([
    statfs(dataDir).catch(() => undefined),
    nvidiaGpus(procDir),
    amdGpus(sysDir),
  ]);
  const diskMb = disk === undefined ? 0 : Math.floor((disk.blocks * disk.bsize) / MIB);
  return { gpus: [...nvidia, ...amd].slice(0, GPUS_MAX), diskMb };
}

async function nvidiaGpus(procDir: string): Promise<GpuInfo[]> {
  const root = `${procDir}/driver/nvidia`;
  const version = await text(`${root}/version`);
  if (version === undefined) return [];
  const query = [`--query-gpu=${NVIDIA_QUERY}`, '--format=csv,noheader,nounits'];
  const found = nvidiaCards(await answerOf('nvidia-smi', query));
  if (found.length > 0) return found;
  // In a container the driver may be there without its program: then the kernel names the cards, without their memory.
  const cards = (await readdir(`${root}/gpus`).catch(() => [])).slice(0, GPUS_MAX);
  const models = await Promise.all(cards.map((card) => text(`${root}/gpus/${card}/information`)));
  return models.flatMap((model) => nvidiaModel(model ?? '', nvidiaDriver(version)));
}

async function amdGpus(sysDir: string): Promise<GpuInfo[]> {
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
  const told = rocmCards(await answerOf('rocm-smi', ['--showproductname', '--showmeminfo', 'vram', '--json']));
  return told.length > 0 ? told : found;
}

const text = (file: string): Promise<string | undefined> => readFile(file, 'utf8').catch(() => undefined);

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

/** Nothing of a program that is not there, says nothing in time, or too much. */
async function answerOf(program: string, words: readonly string[]): Promise<string> {
  const limits = { timeout: ANSWER_MS, maxBuffer: ANSWER_BYTES_MAX } as const;
  const { stdout } = await execa(program, words, { ...limits, stdin: 'ignore', stderr: 'ignore', reject: false });
  return stdout ?? '';
}
