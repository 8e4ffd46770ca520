import type { CommandOutcome, TaskResult } from '#proto';
import type { Ending } from './ending.js';
import type { Artifacts } from './inputs.adapter.js';
import { shapeResult } from './shape-result.js';

/** How a command ended that a device has reported: what does not fit into an event is stored before the event names it. */
export async function outcomeEnding(outcome: CommandOutcome, artifacts: Artifacts): Promise<Ending> {
  if (outcome.result === null) return { kind: 'outcome', outcome, result: null };
  const { value, cutFrom } = shapeResult(outcome.result);
  if (cutFrom === null) return { kind: 'outcome', outcome, result: { value } };
  const artifact = await artifacts.put(cutFrom.json);
  const result: TaskResult = { value, cut: [...cutFrom.paths], artifact };
  return { kind: 'outcome', outcome, result };
}
