/** `0.4 s`, `12 s`, `3 min 5 s`, `2 h 4 min`: short enough for a label. */
export function durationText(ms: number): string {
  if (ms < 10_000) return `${(Math.max(0, ms) / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** `0:07`, `12:31`, `1:02:03`: as wide from one second to the next, for what is drawn again and again. */
export function stopwatchText(ms: number): string {
  const seconds = Math.floor(Math.max(0, ms) / 1000);
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  const [mm, ss] = [String(minutes), String(seconds % 60).padStart(2, '0')];
  return hours === 0 ? `${mm}:${ss}` : `${hours}:${mm.padStart(2, '0')}:${ss}`;
}
