import { query } from '#libs/messaging';
import type { AgentProfile } from '#proto';
import { withBus } from '../../bus/index.js';
import { loadText, statusText } from './device-text.js';
import { EXIT, type ExitCode, saidBy, renderTable, printJson, type CliContext } from '../../terminal/index.js';

export async function listDevices(context: CliContext): Promise<ExitCode> {
  const { devices } = await withBus(context, (nc) => query(nc, 'registry', 'devices', {}));
  const { terminal, json } = context;
  if (json) {
    printJson(context, { devices: devices.map((profile) => ({ id: profile.deviceId, ...profile })) });
    return EXIT.ok;
  }
  if (devices.length === 0) {
    terminal.err('No device is enrolled yet; see: orrery devices enroll --help');
    return EXIT.ok;
  }
  const columns = [
    { title: 'DEVICE', value: ({ deviceId }: AgentProfile) => deviceId },
    { title: 'STATUS', value: statusText, status: true },
    { title: 'OS', value: ({ os }: AgentProfile) => os || '-' },
    { title: 'CAPABILITIES', value: ({ capabilities }: AgentProfile) => capabilities.join(' ') || '-' },
    { title: 'TAGS', value: ({ tags }: AgentProfile) => tags.join(' ') || '-' },
    { title: 'HOST', value: ({ hostname }: AgentProfile) => hostname || '-' },
    { title: 'LOAD', value: loadText },
    { title: 'HELD', value: ({ held }: AgentProfile) => (held === null ? '-' : `by ${saidBy(held)}`) },
  ];
  terminal.out(renderTable(devices, columns, terminal));
  return EXIT.ok;
}
