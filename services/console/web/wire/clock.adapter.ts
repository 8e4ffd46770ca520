/** Below this the clocks agree: what the console says of its own is as of a whole second, and was under way. */
const AGREE_MS = 5_000;
const HALF_A_SECOND_MS = 500;
let aheadMs = 0;

/** Hears what time it is at the console, as its answers say it: how long something takes is told by the clock that wrote down when it began. */
export function hearTime(date: string | null): void {
  const there = Date.parse(date ?? '') + HALF_A_SECOND_MS;
  if (Number.isNaN(there)) return;
  const differs = there - Date.now();
  aheadMs = Math.abs(differs) > AGREE_MS ? differs : 0;
}

/** What time it is at the console. */
export function timeThere(): number {
  return Date.now() + aheadMs;
}
