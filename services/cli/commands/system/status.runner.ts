import { readFile } from 'node:fs/promises';
import { get } from 'node:http';
import {
  hasAdminToken,
  homeOf,
  lookAtStores,
  offBy,
  parseEndpoints,
  storeText,
  type Endpoints,
  type StoresLook,
} from '../../home/index.js';
import {
  EXIT,
  type ExitCode,
  renderTable,
  paintFor,
  paintStatus,
  printJson,
  type CliContext,
} from '../../terminal/index.js';
import { supervisorOf, processesOf } from '../../processes/index.js';
import { attentionHead } from '../../text/index.js';
import type { Inbox } from './inbox.client.js';
import type { OpenDevices } from './open-devices.client.js';
import { natsAnswers, postgresAnswers } from './server-answers.adapter.js';

const HTTP_OK = 200;
/** Of each part. */
const ANSWER_MS_MAX = 2_000;

const NOTHING_STORED: StoresLook = { stores: [], unseen: [] };

interface Part {
  readonly name: string;
  readonly pid: number | null;
  /** `running`: there is a process, and nothing that it could be asked. `no answer`: it was asked in vain. */
  readonly state: 'ready' | 'running' | 'not ready' | 'no answer' | 'down';
  readonly address: string | null;
}

/** What runs, where, and whether it says that it is ready. Exit code 1 when nothing runs. */
export async function status(context: CliContext): Promise<ExitCode> {
  const { env, terminal, json } = context;
  const home = homeOf(env);
  const [supervisor, text] = await Promise.all([
    supervisorOf(home),
    readFile(home.endpointsFile, 'utf8').catch(() => ''),
  ]);
  const endpoints = parseEndpoints(text);
  const running = supervisor !== undefined;
  // All at the same time: a server that says nothing is waited for once.
  const [parts, storage, attention, open] = running
    ? await Promise.all([
        processesOf(home).then((alive) => partsOf(alive, endpoints)),
        lookAtStores(home, endpoints?.natsMonitor),
        // The libraries of the bus are loaded only where there is one.
        import('./inbox.client.js').then(({ newestAttention }) => newestAttention(context)),
        endpoints === undefined ? null : withoutWall(context, endpoints.nats),
      ])
    : [[], NOTHING_STORED, null, null];
  const adminToken = await hasAdminToken(home);
  if (json)
    printJson(context, {
      attention,
      running,
      adminToken,
      home: home.root,
      pid: supervisor?.pid ?? null,
      endpoints: running ? endpoints : null,
      parts,
      storage: running ? storage : null,
      devicesWithoutWall: open?.ids ?? null,
    });
  else if (!running) terminal.out(`no system is running in ${home.root}`);
  else {
    const paint = paintFor(terminal);
    for (const line of attentionLinesOf(attention)) terminal.out(line);
    terminal.out(
      `${paintStatus(paint, 'connected', 'running')} in ${home.root} (process ${supervisor.pid})${endpoints ? '' : ', starting'}`,
    );
    const columns = [
      { title: 'PART', value: ({ name }: Part) => name },
      { title: 'STATE', value: ({ state }: Part) => state },
      { title: 'PROCESS', value: ({ pid }: Part) => (pid === null ? '-' : String(pid)) },
      { title: 'ADDRESS', value: ({ address }: Part) => address ?? '-' },
    ];
    terminal.out(renderTable(parts, columns, terminal));
    for (const line of tightText(storage)) terminal.out(line);
    if (open?.sentence !== undefined) terminal.out(open.sentence);
    if (adminToken) terminal.out(`the admin token lets in as the first person; turned off by: ${offBy(home)}`);
  }
  return running ? EXIT.ok : EXIT.failure;
}

/** The bus is loaded for this question alone, and only where something runs. */
const withoutWall = async (context: CliContext, url: string): Promise<OpenDevices | null> =>
  (await import('./open-devices.client.js')).openDevices(context, url);

const attentionLinesOf = (inbox: Inbox | null): string[] => (inbox === null ? [] : attentionHead(inbox));

/** What a person has to do something about. */
function tightText({ stores, fault, unseen }: StoresLook): string[] {
  const tight = stores.filter(({ state }) => state !== 'ok').map((store) => `${storeText(store)}: make room`);
  return [
    ...(fault === undefined ? [] : [`nothing new is taken, because ${fault}`]),
    ...tight,
    ...unseen.map((name) => `could not be seen: ${name}`),
  ];
}

async function partsOf(alive: ReadonlyMap<string, { pid: number }>, endpoints: Endpoints | undefined): Promise<Part[]> {
  const names = new Set([...alive.keys(), ...Object.keys(endpoints?.health ?? {})]);
  return Promise.all(
    [...names].map(async (name): Promise<Part> => {
      const pid = alive.get(name)?.pid ?? null;
      const state = pid === null ? 'down' : await stateOf(name, endpoints);
      return { name, pid, state, address: addressOf(name, endpoints) };
    }),
  );
}

function addressOf(name: string, endpoints: Endpoints | undefined): string | null {
  if (endpoints === undefined) return null;
  if (name === 'nats' || name === 'postgres' || name === 'console') return endpoints[name];
  if (name === 'planner') return endpoints.mcp ?? null;
  return name === 'aip-gateway' ? endpoints.aip : (endpoints.health[name] ?? null);
}

/** Of something whose process is there. */
async function stateOf(name: string, endpoints: Endpoints | undefined): Promise<Part['state']> {
  if (endpoints === undefined) return 'running';
  if (name === 'nats') return (await natsAnswers(endpoints.nats, ANSWER_MS_MAX)) ? 'ready' : 'no answer';
  if (name === 'postgres') return (await postgresAnswers(endpoints.postgres, ANSWER_MS_MAX)) ? 'ready' : 'no answer';
  const health = endpoints.health[name];
  return health === undefined ? 'running' : readiness(health);
}

/** By Node's older client: `fetch` would be loaded for these questions alone, a quarter of the time that the command takes. */
async function readiness(health: string): Promise<'ready' | 'not ready' | 'no answer'> {
  try {
    return await new Promise((resolve, reject) => {
      get(new URL('/readyz', health), { signal: AbortSignal.timeout(ANSWER_MS_MAX) }, (answer) => {
        answer.resume();
        resolve(answer.statusCode === HTTP_OK ? 'ready' : 'not ready');
      }).once('error', reject);
    });
  } catch {
    return 'no answer';
  }
}
