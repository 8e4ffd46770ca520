import { query } from '#libs/messaging';
import { withBus } from '../../bus/index.js';
import { loadText, statusText } from './device-text.js';
import { type ExitCode, saidBy, type CliContext, tellTable } from '../../terminal/index.js';

export async function listDevices(context: CliContext): Promise<ExitCode> {
  const { devices } = await withBus(context, (nc) => query(nc, 'registry', 'devices', {}));
  return tellTable(context, {
    json: { devices: devices.map((profile) => ({ id: profile.deviceId, ...profile })) },
    rows: devices,
    nothing: 'No device is enrolled yet; see: orrery devices enroll --help',
    columns: [
      { title: 'DEVICE', value: ({ deviceId }) => deviceId },
      { title: 'STATUS', value: statusText, status: true },
      { title: 'OS', value: ({ os }) => os || '-' },
      { title: 'CAPABILITIES', value: ({ capabilities }) => capabilities.join(' ') || '-' },
      { title: 'TAGS', value: ({ tags }) => tags.join(' ') || '-' },
      { title: 'HOST', value: ({ hostname }) => hostname || '-' },
      { title: 'LOAD', value: loadText },
      { title: 'HELD', value: ({ held }) => (held === null ? '-' : `by ${saidBy(held)}`) },
    ],
  });
}
