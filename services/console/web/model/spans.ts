const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** `0.4 s`, `12 s`, `3 min 05 s`, `2 h 07 min`, `3 d 4 h`. */
export function tookText(ms: number): string {
  const span = Math.max(0, ms);
  const two = (value: number): string => String(Math.floor(value)).padStart(2, '0');
  if (span < 10 * SECOND) return `${(span / SECOND).toFixed(1)} s`;
  if (span < MINUTE) return `${Math.floor(span / SECOND)} s`;
  if (span < HOUR) return `${Math.floor(span / MINUTE)} min ${two((span % MINUTE) / SECOND)} s`;
  if (span < DAY) return `${Math.floor(span / HOUR)} h ${two((span % HOUR) / MINUTE)} min`;
  return `${Math.floor(span / DAY)} d ${Math.floor((span % DAY) / HOUR)} h`;
}

/** `12 s ago`, as far as a glance needs it. */
export function agoWords(ms: number): string {
  if (ms < 5 * SECOND) return 'just now';
  if (ms < MINUTE) return `${Math.floor(ms / SECOND)} s ago`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min ago`;
  if (ms < DAY) return `${Math.floor(ms / HOUR)} h ago`;
  return `${Math.floor(ms / DAY)} d ago`;
}
