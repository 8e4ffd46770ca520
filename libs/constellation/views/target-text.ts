import type { Target } from '#proto';

/** Which device is wanted, as people are told: `web-1`, or `os linux, tags db+eu`. */
export function targetText(target: Target): string {
  if ('device' in target) return target.device;
  return Object.entries(target)
    .map(([name, value]) => `${name} ${valueText(value)}`)
    .join(', ');
}

const valueText = (value: unknown): string =>
  Array.isArray(value) ? value.join('+') : typeof value === 'string' ? value : JSON.stringify(value);
