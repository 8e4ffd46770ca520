import { isScreenTool, type CommandCall, type Json, type ScreenPlace, type ToolInfo } from '#proto';
import { callProblem } from '../strategies/index.js';
import { type SeenListing, targetProblem } from './listing.js';
import type { ChosenWindow } from './screen.js';

/** What an agent has looked at when it acts. */
export interface SeenPlace {
  readonly agent: string;
  /** Undefined before a window was chosen. */
  readonly chosen: ChosenWindow | undefined;
  readonly listing: SeenListing;
}

export type PlacedCall =
  | { readonly ok: true; readonly command: CommandCall }
  /** In words for the model: nothing was sent. */
  | { readonly ok: false; readonly problem: string };

/** Where a look or a call is made that is about no single control. */
export const screenPlaceOf = ({ agent, chosen, listing }: SeenPlace): ScreenPlace => ({
  agent,
  application: (chosen?.application ?? '').slice(0, 256),
  window: (chosen?.window ?? '').slice(0, 1_024),
  snapshot: listing.snapshot,
  ...(chosen?.runDirectory !== undefined && { runDirectory: chosen.runDirectory }),
});

/**
 * The call that a model wants, with what its agent has seen where it is to act. A control that is not listed under its id and
 * name is refused here, before anything is sent: not every device compares them.
 */
export function placedCall(
  wanted: { readonly function: string; readonly arguments: Readonly<Record<string, Json>> },
  seen: SeenPlace,
  tools: readonly ToolInfo[],
): PlacedCall {
  const call = { tool: wanted.function, arguments: { ...wanted.arguments } };
  const problem = callProblem(call, tools);
  if (problem !== null) return { ok: false, problem };
  if (!isScreenTool(call.tool)) return { ok: true, command: call };
  const on = screenPlaceOf(seen);
  const { id, name } = call.arguments;
  // Keys for the window itself name no control.
  if (typeof id !== 'string' || id === '') return { ok: true, command: { ...call, on } };
  const mismatch = targetProblem(seen.listing, id, typeof name === 'string' ? name : undefined);
  if (mismatch !== null) return { ok: false, problem: `${call.tool} was not done: ${mismatch}` };
  const target = seen.listing.targets.find((one) => one.id === id);
  const control = { id, type: target?.type ?? '', name: target?.name ?? '' };
  return { ok: true, command: { ...call, on: { ...on, control } } };
}
