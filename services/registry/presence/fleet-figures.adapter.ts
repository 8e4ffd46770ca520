import type { FleetState } from '#libs/fleet';
import type { Metrics } from '#libs/platform';
import { DeviceStatus } from '#proto';

/** How many devices there are, by what the log says of them; every replica tells the same. */
export function fleetFigures(state: Pick<FleetState, 'all' | 'fleetHeld'>, metrics: Metrics): void {
  const devices = metrics.gauge('devices', 'Devices that are enrolled and not revoked, by their state', ['status']);
  const held = metrics.gauge('devices_held', 'Devices that an operator holds, all of them while the fleet is held');
  metrics.look('devices', [devices, held], () => {
    const all = state.all().filter(({ revoked }) => revoked === null);
    for (const status of DeviceStatus.options) devices.set({ status }, 0);
    for (const { status } of all) devices.inc({ status });
    held.set(state.fleetHeld() === null ? all.filter((device) => device.held !== null).length : all.length);
  });
}
