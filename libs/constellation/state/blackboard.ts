import { type BlackboardNote, type DeviceId, LIMITS, type Note, type TaskId } from '#proto';
import { jsonBytes } from '../values/index.js';

/** What the agents of a run have noted for one another, newest last; the oldest notes make room. */
export function withNotes(
  blackboard: readonly BlackboardNote[],
  { taskId, deviceId, notes }: { taskId: TaskId; deviceId: DeviceId | null; notes: readonly Note[] | undefined },
): readonly BlackboardNote[] {
  if (notes === undefined || notes.length === 0 || deviceId === null) return blackboard;
  const all = [...blackboard, ...notes.map((note) => ({ taskId, deviceId, note }))];
  let bytes = 2; // the brackets around them
  for (let at = all.length - 1; at >= 0; at--) {
    bytes += jsonBytes(all[at]) + 1;
    if (bytes > LIMITS.blackboardBytesMax) return all.slice(at + 1);
  }
  return all;
}
