import { CONTROL_TOOLS, type FleetEvent } from '#proto';
import type { FleetDecision, HoldOrder } from './decide.js';
import type { Device } from './device.js';

/*
 *              DEVICE_HELD {screen}                   DEVICE_RELEASED {screen}
 * of agents ------------------------> of a person ------------------------------> of agents, that have to look again
 *
 * Beside it a device can be held as any other: neither ends the other.
 */

const HANDS: ReadonlySet<string> = new Set(CONTROL_TOOLS);

/** Whether a device has a screen that agents act on, by the tools that it named last. */
const hasScreen = ({ telemetry }: Pick<Device, 'telemetry'>): boolean =>
  telemetry?.tools.some(({ name }) => HANDS.has(name)) === true;

/** A person wants the screen of a device. The first one has it until somebody hands it back. */
export function decideTakeOver(device: Device | undefined, { by, reason, now }: HoldOrder): FleetDecision {
  if (device === undefined) return { kind: 'ignored', reason: 'NOT_ENROLLED' };
  if (device.taken !== null) return { kind: 'ignored', reason: 'ALREADY_HELD' };
  if (!hasScreen(device)) return { kind: 'rejected', reason: 'NO_SCREEN' };
  const taken = { by, reason, heldAt: new Date(now).toISOString(), screen: true } as const;
  return { kind: 'accepted', events: [{ type: 'DEVICE_HELD', data: taken }] };
}

/** Every operator may hand a screen back, also one that another operator has: who has left must not keep it. */
export function decideHandBack(device: Device | undefined, { by, now }: Pick<HoldOrder, 'by' | 'now'>): FleetDecision {
  if (device === undefined) return { kind: 'ignored', reason: 'NOT_ENROLLED' };
  if (device.taken === null) return { kind: 'ignored', reason: 'NOT_HELD' };
  const released: FleetEvent = {
    type: 'DEVICE_RELEASED',
    data: { by, releasedAt: new Date(now).toISOString(), screen: true },
  };
  return { kind: 'accepted', events: [released] };
}
