import { commonRect, isEmptyRect, type Rect } from '#libs/screen';
import type { XScreen } from '../display/index.js';
import { DesktopFault, pause } from '../faults/index.js';

/** A program that has not begun to answer looks as if it rested. */
const FIRST_MS = 150;
const BETWEEN_MS = 60;
export const SETTLE_MS = 1_500;

/** Waits until two pictures of a place are the same, at most so long; false when it still changes then. */
export async function settled(screen: XScreen, rect: Rect, msMax = SETTLE_MS): Promise<boolean> {
  const end = performance.now() + msMax;
  const seen = (): Promise<{ readonly data: Buffer } | undefined> =>
    isEmptyRect(commonRect(rect, screen.rect)) ? Promise.resolve(undefined) : screen.bytesOf(rect).catch(gone);
  await pause(Math.min(FIRST_MS, msMax));
  let last = await seen();
  while (performance.now() < end) {
    await pause(BETWEEN_MS);
    const next = await seen();
    if (next === undefined || last === undefined || next.data.equals(last.data)) return true;
    last = next;
  }
  return false;
}

/** A window that closes while it is looked at rests for ever. */
function gone(error: unknown): undefined {
  if (error instanceof DesktopFault && error.code !== 'DISPLAY') return undefined;
  throw error;
}
