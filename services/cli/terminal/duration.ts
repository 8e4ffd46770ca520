/** `0.4 s`, `12 s`, `3 min 5 s`, `2 h 4 min`: short enough for a label. */
export function durationText(ms: number): string {
  if (ms < 10_000) return `${(Math.max(0, ms) / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** `12:01:02`, in UTC like every instant of the log. */
export function clockText(instant: string): string {
  return new Date(instant).toISOString().slice(11, 19);
}
