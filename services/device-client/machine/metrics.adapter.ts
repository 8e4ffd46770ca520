import { access, readdir, readFile, statfs } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { DeviceMetrics } from '#proto';
import { programAnswer } from './ask-program.adapter.js';
import { plainName } from './gpus.js';

type Gpu = DeviceMetrics['gpus'][number];

const MIB = 1024 ** 2;
const GPUS_MAX = 32;
/** Asking for graphics cards starts a program or wakes them up: not at every heartbeat. */
const GPUS_EVERY_MS = 60_000;

export interface MachineMetricsOptions {
  /** The free space that is told of is that of its disk. */
  readonly dataDir: string;
  readonly monotonicMs: () => number;
  /** Where the kernel describes graphics cards and drivers. */
  readonly sysDir?: string;
  readonly procDir?: string;
  /** How long a program of a driver may take; absent: some seconds. */
  readonly answerMs?: number;
}

/**
 * How the machine is doing, cheap enough for every heartbeat. What has to be waited for, a slow disk or a graphics card, is
 * asked for in the background and told with the next heartbeat: nothing here ever holds a connection up.
 */
export class MachineMetrics {
  #diskFreeMb = 0;
  #gpus: Gpu[] = [];
  #gpusAtMs = -Infinity;
  #refreshing = false;

  readonly #options: MachineMetricsOptions;

  constructor(options: MachineMetricsOptions) {
    this.#options = options;
  }

  /** As of now for load and memory, as of the last `refresh` for the rest. */
  current(): DeviceMetrics {
    return {
      load1: Math.max(0, loadavg()[0] ?? 0),
      // Within the limits of a container, when there are some.
      memoryFreeMb: Math.floor(process.availableMemory() / MIB),
      diskFreeMb: this.#diskFreeMb,
      gpus: this.#gpus,
    };
  }

  /** Measures what takes a moment; a call during another one does nothing. Never rejects. */
  async refresh(): Promise<void> {
    if (this.#refreshing) return;
    this.#refreshing = true;
    try {
      const { bavail, bsize } = await statfs(this.#options.dataDir);
      this.#diskFreeMb = Math.floor((bavail * bsize) / MIB);
      await this.#refreshGpus();
    } catch {
      // A view of the machine: what cannot be read now stays as it was.
    } finally {
      this.#refreshing = false;
    }
  }

  async #refreshGpus(): Promise<void> {
    const { monotonicMs, sysDir = '/sys', procDir = '/proc', answerMs } = this.#options;
    if (monotonicMs() - this.#gpusAtMs < GPUS_EVERY_MS) return;
    this.#gpusAtMs = monotonicMs();
    const found = await Promise.all([nvidiaGpus(procDir, answerMs), amdGpus(sysDir)]);
    this.#gpus = found.flat().slice(0, GPUS_MAX);
  }
}

/** Only where its driver is loaded: elsewhere the program would be looked for in vain every minute. */
async function nvidiaGpus(procDir: string, answerMs: number | undefined): Promise<Gpu[]> {
  const driver = await access(`${procDir}/driver/nvidia/version`).then(
    () => true,
    () => false,
  );
  if (!driver) return [];
  const query = 'name,memory.total,memory.free,utilization.gpu';
  // Not through `systeminformation`, which stops the whole process until the program has answered.
  const said = await programAnswer('nvidia-smi', [`--query-gpu=${query}`, '--format=csv,noheader,nounits'], answerMs);
  return said.split('\n').flatMap((line) => {
    const fields = line.split(',').map((field) => field.trim());
    const [used, free, total] = fields.toReversed().map((field) => (field === '' ? Number.NaN : Number(field)));
    // A name may have a comma in it.
    const name = fields.slice(0, -3).join(', ');
    if (used === undefined || free === undefined || total === undefined || name === '') return [];
    return gpu({ name, memoryMb: total, memoryFreeMb: free, utilisation: used / 100 });
  });
}

/** The kernel's own files: reading them costs nothing. */
async function amdGpus(sysDir: string): Promise<Gpu[]> {
  const root = `${sysDir}/class/drm`;
  const cards = (await readdir(root).catch(() => [])).filter((name) => /^card\d+$/.test(name)).slice(0, GPUS_MAX);
  const found = await Promise.all(
    cards.map(async (card) => {
      const read = (name: string): Promise<string> => readFile(`${root}/${card}/device/${name}`, 'utf8');
      try {
        const [total, used, busy] = await Promise.all([
          read('mem_info_vram_total'),
          read('mem_info_vram_used'),
          read('gpu_busy_percent'),
        ]);
        const name = (await read('product_name').catch(() => '')).trim();
        return gpu({
          name: name === '' ? card : name,
          memoryMb: Number(total) / MIB,
          memoryFreeMb: (Number(total) - Number(used)) / MIB,
          utilisation: Number(busy) / 100,
        });
      } catch {
        return [];
      }
    }),
  );
  return found.flat();
}

/** A card that cannot say how it is doing is left out: no number is better than a wrong one. */
function gpu({ name, memoryMb, memoryFreeMb, utilisation }: Gpu): Gpu[] {
  const given: Gpu = {
    name: plainName(name),
    memoryMb: Math.floor(memoryMb),
    memoryFreeMb: Math.floor(memoryFreeMb),
    utilisation,
  };
  return DeviceMetrics.shape.gpus.safeParse([given]).success ? [given] : [];
}
