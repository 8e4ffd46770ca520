import { query } from '#libs/messaging';
import type { QueryAnswer } from '#libs/messaging';
import { withBus } from '../../bus/index.js';
import {
  cleanLine,
  saidBy,
  badInput,
  EXIT,
  type ExitCode,
  renderTable,
  printJson,
  type CliContext,
} from '../../terminal/index.js';
import { urlWithToken } from './gateway-url.js';
import { checkId, gatewayUrl, sayToken, writeToken } from './enroll.runner.js';

type ListedClient = QueryAnswer<'registry', 'clients'>['clients'][number];

export async function listClients(context: CliContext): Promise<ExitCode> {
  const { clients } = await withBus(context, (nc) => query(nc, 'registry', 'clients', {}));
  const { terminal, json } = context;
  if (json) {
    printJson(context, { clients: clients.map((client) => ({ id: client.clientId, ...client })) });
    return EXIT.ok;
  }
  if (clients.length === 0) {
    terminal.err('No client of another system is enrolled yet; see: orrery clients enroll --help');
    return EXIT.ok;
  }
  const columns = [
    { title: 'CLIENT', value: ({ clientId }: ListedClient) => clientId },
    { title: 'MAY USE', value: ({ targets }: ListedClient) => (targets === null ? 'every device' : targets.join(' ')) },
    { title: 'ENROLLED', value: ({ enrolledAt }: ListedClient) => enrolledAt },
    { title: 'REVOKED', value: ({ revoked }: ListedClient) => (revoked === null ? '-' : `by ${saidBy(revoked)}`) },
  ];
  terminal.out(renderTable(clients, columns, terminal));
  return EXIT.ok;
}

export interface ClientOptions {
  readonly id: string | undefined;
  /** None: every device. */
  readonly devices: readonly string[];
  readonly url: string | undefined;
  readonly tokenFile: string | undefined;
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
  if (context.json) {
    printJson(context, { clientId, ...(tokenFile === undefined ? { token } : { tokenFile }), url: urlWithToken(url) });
    return EXIT.ok;
  }
  sayToken(context, `Client ${clientId} is enrolled`, { url, token, tokenFile });
  return EXIT.ok;
}
