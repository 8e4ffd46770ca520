import { fieldsOf, GpuInfo, isObject, parseJson } from '#proto';

// What programs and files say of graphics cards, read tolerantly: a line that is not understood is no card, and a size that is not
// said is null. The formats are those that the vendors document.

const MIB = 1024 ** 2;
const NAME_CHARS_MAX = 128;

/** What `nvidia-smi` is asked for; a card is a line of these, with commas between. */
export const NVIDIA_QUERY = 'name,memory.total,driver_version';

/** `NVIDIA A100 80GB PCIe, 81920, 550.54.15`, one card a line, sizes in MiB. */
export function nvidiaCards(csv: string): GpuInfo[] {
  return csv.split('\n').flatMap((line) => {
    const fields = line.split(',').map((field) => field.trim());
    if (fields.length < 3) return [];
    const [driver = '', memory = ''] = fields.toReversed();
    const name = fields.slice(0, -2).join(', ');
    return card({ vendor: 'nvidia', name, memoryMb: mebibytes(memory, 1), ...driverOf(driver) });
  });
}

/** A file `/proc/driver/nvidia/gpus/<address>/information`: it names the model and not its memory. */
export function nvidiaModel(information: string, driver: string | undefined): GpuInfo[] {
  const name = /^Model:\s*(.+)$/mu.exec(information)?.[1]?.trim() ?? '';
  return card({ vendor: 'nvidia', name, memoryMb: null, ...driverOf(driver ?? '') });
}

/** Of `/proc/driver/nvidia/version`: `NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar ...`. */
export function nvidiaDriver(version: string): string | undefined {
  return /^NVRM version:.*?\s(\d+\.\d+(?:\.\d+)?)(?:\s|$)/mu.exec(version)?.[1];
}

/** Files of `/sys/class/drm/card<n>/device`; undefined where one is not there. */
export interface DrmFiles {
  readonly vendor: string | undefined;
  readonly device: string | undefined;
  readonly productName: string | undefined;
  readonly vramTotal: string | undefined;
}

/** A card of AMD, as the kernel describes it. */
export function amdCard({ vendor, device, productName, vramTotal }: DrmFiles): GpuInfo[] {
  if (vendor?.trim().toLowerCase() !== '0x1002') return [];
  const product = productName?.trim() ?? '';
  const name = product === '' ? `AMD ${device?.trim() ?? ''}`.trim() : product;
  return card({ vendor: 'amd', name, memoryMb: mebibytes(vramTotal ?? '', MIB) });
}

/** `rocm-smi --showproductname --showmeminfo vram --json`: a field for each card, whose sizes are texts in bytes. */
export function rocmCards(json: string): GpuInfo[] {
  const said = parseJson(json);
  if (!isObject(said)) return [];
  return Object.entries(said).flatMap(([key, value]) => {
    if (!/^card\d+$/u.test(key)) return [];
    // Older versions write "Card series", newer ones "Card Series".
    const fields = new Map(Object.entries(fieldsOf(value)).map(([name, text]) => [name.toLowerCase(), text]));
    const text = (name: string): string => {
      const found = fields.get(name);
      return typeof found === 'string' ? found : '';
    };
    const name = text('card series') || text('card model') || key;
    return card({ vendor: 'amd', name, memoryMb: mebibytes(text('vram total memory (b)'), MIB) });
  });
}

const driverOf = (driver: string): { driver?: string } => (/^\d[\d.]{0,63}$/u.test(driver) ? { driver } : {});

/** A size in MiB, of a text in such units. */
function mebibytes(text: string, unitsPerMib: number): number | null {
  return /^\s*\d{1,18}\s*$/u.test(text) ? Math.floor(Number(text) / unitsPerMib) : null;
}

/** Of what a program or file calls a card: no sign that moves a cursor, no half a character, and no end of it. */
export const plainName = (name: string): string =>
  name
    .replaceAll(/\p{Cc}/gu, '')
    .slice(0, NAME_CHARS_MAX)
    .toWellFormed()
    .trim();

function card(given: GpuInfo): GpuInfo[] {
  const named = { ...given, name: plainName(given.name) };
  return named.name !== '' && GpuInfo.safeParse(named).success ? [named] : [];
}
