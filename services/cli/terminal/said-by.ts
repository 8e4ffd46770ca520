import type { Actor } from '#proto';
import { cleanLine } from './clean.js';

const REASON_SHOWN_MAX = 40;

/** `anna: new disks`, for holds and revocations. */
export function saidBy({ by, reason }: { readonly by: Actor; readonly reason: string }): string {
  const short = reason.length > REASON_SHOWN_MAX ? `${reason.slice(0, REASON_SHOWN_MAX).toWellFormed()}…` : reason;
  return cleanLine(short === '' ? by.id : `${by.id}: ${short}`);
}
