import { query } from '#libs/messaging';
import { DeviceId, RunId } from '#proto';
import { withSignedBus } from '../../bus/index.js';
import {
  badInput,
  cleanLine,
  EXIT,
  type CliContext,
  type ExitCode,
  printJson,
  tellTable,
} from '../../terminal/index.js';
import { agoText } from './device-text.js';

export interface WorkspaceWish {
  /** The run whose workspace is not needed any more. */
  readonly remove?: string | undefined;
}

/** The directories of runs on a device, as the device has them now; or one less. */
export async function deviceWorkspaces(context: CliContext, id: string, { remove }: WorkspaceWish): Promise<ExitCode> {
  const device = DeviceId.safeParse(id);
  if (!device.success) throw badInput(`"${cleanLine(id)}" is no id of a device; see: orrery devices`);
  return remove === undefined ? list(context, device.data) : removeOne(context, device.data, remove);
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

async function removeOne(context: CliContext, deviceId: DeviceId, run: string): Promise<ExitCode> {
  const runId = RunId.safeParse(run);
  if (!runId.success)
    throw badInput(`"${cleanLine(run)}" is no id of a run; see: orrery devices workspaces ${deviceId}`);
  await withSignedBus(context, (nc) => query(nc, 'device-agent', 'workspace-remove', { deviceId, runId: runId.data }));
  if (context.json) printJson(context, { device: deviceId, run: runId.data, removed: true });
  else context.terminal.out(`${deviceId} removes the workspace of ${runId.data}`);
  return EXIT.ok;
}
