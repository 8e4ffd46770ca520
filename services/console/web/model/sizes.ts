const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

/** `640 B`, `1.5 KiB`, `12 MiB`. */
export function bytesText(bytes: number): string {
  const steps = bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10));
  const size = bytes / 1_024 ** steps;
  return `${steps === 0 || size >= 10 ? Math.round(size) : size.toFixed(1)} ${UNITS[steps] ?? ''}`;
}
