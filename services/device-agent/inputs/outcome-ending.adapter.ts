import type { CommandOutcome, TaskResult } from '#proto';
import { type Ending, shapeResult } from '#libs/attempt';
import type { Artifacts } from './inputs.adapter.js';

/** How a command ended that a device has reported: what does not fit into an event is stored before the event names it. */
export async function outcomeEnding(outcome: CommandOutcome, artifacts: Artifacts): Promise<Ending> {
  return { kind: 'outcome', outcome, result: await resultOf(outcome, artifacts) };
}

/** What an event holds of an answer; the whole of a longer one lies in ARTIFACTS. */
export async function resultOf(
  { result, incomplete, files }: Pick<CommandOutcome, 'result' | 'incomplete' | 'files'>,
  artifacts: Artifacts,
): Promise<TaskResult | null> {
  if (result === null) return null;
  const { value, cutFrom } = shapeResult(result);
  const known = { ...(incomplete !== undefined && { incomplete }), ...(files !== undefined && { files }) };
  if (cutFrom === null) return { value, ...known };
  return { value, cut: [...cutFrom.paths], artifact: await artifacts.put(cutFrom.json), ...known };
}
