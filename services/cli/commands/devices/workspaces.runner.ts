import { query } from '#libs/messaging';
import { DeviceId } from '#proto';
import { withSignedBus } from '../../bus/index.js';
import { badInput, cleanLine, type CliContext, type ExitCode, tellTable } from '../../terminal/index.js';
import { agoText } from './device-text.js';

/** The directories of runs on a device, as the device has them now. */
export async function deviceWorkspaces(context: CliContext, id: string): Promise<ExitCode> {
  const device = DeviceId.safeParse(id);
  if (!device.success) throw badInput(`"${cleanLine(id)}" is no id of a device; see: orrery devices`);
  return list(context, device.data);
}

async function list(context: CliContext, deviceId: DeviceId): Promise<ExitCode> {
  const { workspaces, more } = await withSignedBus(context, (nc) =>
    query(nc, 'device-agent', 'workspaces', { deviceId }),
  );
  const now = context.now();
  const code = tellTable(context, {
    json: { device: deviceId, workspaces, more },
    rows: workspaces,
    nothing: `There are no workspaces of runs on ${deviceId}.`,
    columns: [
      { title: 'RUN', value: ({ runId }) => runId },
      { title: 'BYTES', value: ({ bytes }) => String(bytes) },
      { title: 'FILES', value: ({ files }) => String(files) },
      { title: 'USED', value: ({ usedAt }) => agoText(now - Date.parse(usedAt)) },
      { title: 'KEPT', value: ({ kept }) => (kept ? 'yes' : '-') },
    ],
  });
  if (!context.json && more > 0) context.terminal.err(`${more} more are on the device.`);
  return code;
}
