import { readFile } from 'node:fs/promises';
import { get } from 'node:http';
import { hasAdminToken, homeOf, offBy, parseEndpoints, type Endpoints } from '../../home/index.js';
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

const HTTP_OK = 200;
const HEALTH_MS_MAX = 2_000;

interface Part {
  readonly name: string;
  readonly pid: number | null;
  readonly state: 'ready' | 'running' | 'not ready' | 'down';
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
  const parts = running ? await partsOf(await processesOf(home), endpoints) : [];
  const adminToken = await hasAdminToken(home);
  if (json)
    printJson(context, {
      running,
      adminToken,
      home: home.root,
      pid: supervisor?.pid ?? null,
      endpoints: running ? endpoints : null,
      parts,
    });
  else if (!running) terminal.out(`no system is running in ${home.root}`);
  else {
    const paint = paintFor(terminal);
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
    if (adminToken) terminal.out(`the admin token lets in as the first person; turned off by: ${offBy(home)}`);
  }
  return running ? EXIT.ok : EXIT.failure;
}

async function partsOf(alive: ReadonlyMap<string, { pid: number }>, endpoints: Endpoints | undefined): Promise<Part[]> {
  const names = new Set([...alive.keys(), ...Object.keys(endpoints?.health ?? {})]);
  return Promise.all(
    [...names].map(async (name): Promise<Part> => {
      const pid = alive.get(name)?.pid ?? null;
      const health = endpoints?.health[name];
      const state =
        pid === null ? 'down' : health === undefined ? 'running' : (await isReady(health)) ? 'ready' : 'not ready';
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

/** By Node's older client: `fetch` would be loaded for these questions alone, a quarter of the time that the command takes. */
async function isReady(health: string): Promise<boolean> {
  try {
    return await new Promise((resolve, reject) => {
      get(new URL('/readyz', health), { signal: AbortSignal.timeout(HEALTH_MS_MAX) }, (answer) => {
        answer.resume();
        resolve(answer.statusCode === HTTP_OK);
      }).once('error', reject);
    });
  } catch {
    return false;
  }
}
