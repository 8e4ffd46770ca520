import { query } from '#libs/messaging';
import { withBus } from '../../bus/index.js';
import {
  cleanLine,
  saidBy,
  badInput,
  EXIT,
  type ExitCode,
  type CliContext,
  tell,
  tellTable,
} from '../../terminal/index.js';
import { urlWithToken } from './gateway-url.js';
import { checkId, gatewayUrl, sayToken, writeToken } from './enroll.runner.js';

export async function listClients(context: CliContext): Promise<ExitCode> {
  const { clients } = await withBus(context, (nc) => query(nc, 'registry', 'clients', {}));
  return tellTable(context, {
    json: { clients: clients.map((client) => ({ id: client.clientId, ...client })) },
    rows: clients,
    nothing: 'No client of another system is enrolled yet; see: orrery clients enroll --help',
    columns: [
      { title: 'CLIENT', value: ({ clientId }) => clientId },
      { title: 'MAY USE', value: ({ targets }) => (targets === null ? 'every device' : targets.join(' ')) },
      { title: 'ENROLLED', value: ({ enrolledAt }) => enrolledAt, time: true },
      { title: 'REVOKED', value: ({ revoked }) => (revoked === null ? '-' : `by ${saidBy(revoked)}`) },
    ],
  });
}

export interface ClientOptions {
  readonly id?: string | undefined;
  /** None: every device. */
  readonly devices: readonly string[];
  readonly url?: string | undefined;
  readonly tokenFile?: string | undefined;
}

/** Enrols a client. Its token is shown or written once; nobody can show it again. */
export async function enrollClient(context: CliContext, options: ClientOptions): Promise<ExitCode> {
  const { id, devices, tokenFile } = options;
  const url = await gatewayUrl(context, options.url);
  const request = {
    ...(id === undefined ? {} : { clientId: checkId(id, 'a client id') }),
    targets: devices.length === 0 ? null : [...new Set(devices)],
  };
  const { clientId, token } = await withBus(context, async (nc) => {
    const known = new Set((await query(nc, 'registry', 'devices', {})).devices.map(({ deviceId }) => deviceId));
    const unknown = devices.filter((device) => !known.has(device)).map((device) => `"${cleanLine(device)}"`);
    // A slip of the pen would be found when the client is refused.
    if (unknown.length > 0) throw badInput(`--devices: there is no device ${unknown.join(', ')}; see: orrery devices`);
    return query(nc, 'registry', 'enroll-client', request);
  });
  if (tokenFile !== undefined) await writeToken(tokenFile, token, 'client');
  if (context.json)
    return tell(context, {
      clientId,
      ...(tokenFile === undefined ? { token } : { tokenFile }),
      url: urlWithToken(url),
    });
  sayToken(context, `Client ${clientId} is enrolled`, { url, token, tokenFile });
  return EXIT.ok;
}
