// Devices without tools and without a disk: each is the device's end of AIP on a real socket and answers a command at once.
// Node runs this file as it is; what it imports is the build.
import { DeviceClientEndpoint, type LinkFact } from '#libs/aip';
import { AIP_REVISION, type ClientMessage, type ServerMessage } from '#proto';

interface Order {
  readonly url: string;
  readonly devices: readonly { readonly id: string; readonly token: string }[];
  /** Between two devices that dial: a fleet does not come in one moment. */
  readonly staggerMs: number;
}

const counts = { registered: 0, connected: 0, heartbeats: 0, commands: 0, refused: 0, complaints: 0 };
const ends: Record<string, number> = {};
const stopping = new AbortController();
const base = { status: 'ok', client_type: 'device' } as const;

process.on('message', (message: Order | 'report' | 'stop') => {
  if (message === 'report') process.send?.({ ...counts, ends });
  else if (message === 'stop') stopping.abort();
  else void begin(message);
});
process.on('disconnect', () => process.exit(1));

async function begin({ url, devices, staggerMs }: Order): Promise<void> {
  const running: Promise<void>[] = [];
  for (const device of devices) {
    running.push(live(url, device));
    await new Promise((resolve) => setTimeout(resolve, staggerMs));
  }
  await Promise.all(running);
  process.disconnect();
}

function live(url: string, { id, token }: Order['devices'][number]): Promise<void> {
  const results: ClientMessage[] = [];
  const endpoint = new DeviceClientEndpoint({
    urls: [url],
    credentials: { credential: async () => token, disbelieved: () => false },
    monotonicMs: () => performance.now(),
    random: Math.random,
    onFact,
    device: {
      register: () => registration(id),
      holdings: () => ({ running: [], finished: [] }),
      nextResult: () => results.shift(),
      heartbeat: () => heartbeat(),
      onReady: () => void counts.connected++,
      onDisconnected: (server) => void (counts.connected -= server === null ? 0 : 1),
      onMessage: (message) => {
        const result = resultOf(message);
        if (result === undefined) return;
        results.push(result);
        endpoint.sendResults();
      },
    },
  });
  return endpoint.run(stopping.signal);
}

function onFact(fact: LinkFact): void {
  if (fact.fact === 'registered') counts.registered++;
  else if (fact.fact === 'not-connected') counts.refused++;
  else if (fact.fact === 'complaint') counts.complaints++;
  else if (fact.fact === 'disconnected' && !stopping.signal.aborted) {
    const why = `${fact.code} ${fact.reason}`;
    ends[why] = (ends[why] ?? 0) + 1;
  }
}

function registration(id: string): ClientMessage {
  const tools = [{ name: 'EXEC_CLI', description: 'Runs a command line.', readOnly: false }];
  const machine = { platform: 'linux', osVersion: '', hostname: id, arch: 'x64', cpuCount: 2, memoryMb: 1_024 };
  const telemetry = { ...machine, capabilities: ['cli'], metadata: {}, tools };
  const orrery = { revision: AIP_REVISION, journal_id: `journal-${id}`, telemetry };
  return { ...base, type: 'register', metadata: { platform: 'linux', orrery } };
}

function heartbeat(): ClientMessage {
  counts.heartbeats++;
  const metrics = { load1: Math.random(), memoryFreeMb: 512, diskFreeMb: 10_000, gpus: [] };
  return { ...base, type: 'heartbeat', orrery: { metrics } };
}

function resultOf(message: ServerMessage): ClientMessage | undefined {
  if (message.type !== 'command' || !message.orrery) return undefined;
  counts.commands++;
  const result = { exit_code: 0, stdout: '', stderr: '' };
  const outcome = { state: 'COMPLETED', result, error: null, startedAt: null, durationMs: 0 } as const;
  const orrery = { command_id: message.orrery.command_id, outcome };
  return {
    ...base,
    type: 'command_results',
    prev_response_id: message.response_id ?? null,
    action_results: [],
    orrery,
  };
}
