import { type DeviceId, type FanOutPart, LIMITS, shareOf, type TaskStar } from '#proto';
import { candidates, type FleetView, satisfies } from '../edits/index.js';
import type { Run } from '../state/index.js';

export type Chosen =
  | {
      readonly ok: true;
      readonly parts: readonly FanOutPart[];
      readonly waveSize: number;
      readonly maxFailures: number;
    }
  | { readonly ok: false; readonly code: 'NO_DEVICE' | 'TOO_MANY_DEVICES'; readonly message: string };

/**
 * The devices that satisfy the target now, by id, also those that are away or held: who is left out because it did not answer would be
 * missed by nobody. One that has never connected has told nothing yet, and is none of them.
 */
export function chosenFor(run: Run, star: TaskStar, fleet: FleetView): Chosen {
  const devices = [...candidates(star.target, fleet)]
    .filter((device) => device.session !== null && satisfies(device, star.target))
    .map(({ deviceId }) => deviceId)
    .toSorted();
  if (devices.length === 0) return { ok: false, code: 'NO_DEVICE', message: 'no device satisfies it as it is now' };
  const tasks = run.tasks.length + unbegun(run) + devices.length;
  if (tasks > LIMITS.tasksMax) {
    const message = `${devices.length} devices satisfy it: the run would have ${tasks} tasks, and at most ${LIMITS.tasksMax} are taken`;
    return { ok: false, code: 'TOO_MANY_DEVICES', message };
  }
  const { wave, maxFailures = 0 } = star.forEach ?? {};
  return {
    ok: true,
    parts: named(run, star.id, devices),
    waveSize: wave === undefined ? devices.length : Math.max(1, shareOf(wave, devices.length)),
    maxFailures: shareOf(maxFailures, devices.length),
  };
}

/** Devices of other fan-outs whose wave is still to come. */
function unbegun({ tasks }: Run): number {
  let count = 0;
  for (const { fanOut } of tasks) count += fanOut === null ? 0 : fanOut.parts.length - fanOut.begun;
  return count;
}

const ID_CHARS_MAX = 64;

/** `<task>-<device>`, with a number where that is taken or too long. */
function named(run: Run, taskId: string, devices: readonly DeviceId[]): FanOutPart[] {
  const taken = new Set<string>();
  const isTaken = (id: string): boolean =>
    taken.has(id) || run.graph.taskIndex.get(id) !== undefined || run.usedIds.has(id);
  return devices.map((deviceId) => {
    const wanted = `${taskId}-${deviceId}`;
    let id = wanted.slice(0, ID_CHARS_MAX);
    for (let number = 2; id.length < wanted.length || isTaken(id); number++) {
      const end = `-${number}`;
      id = wanted.slice(0, ID_CHARS_MAX - end.length) + end;
      if (!isTaken(id)) break;
    }
    taken.add(id);
    return { deviceId, taskId: id };
  });
}
