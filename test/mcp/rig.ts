import { pino } from 'pino';
import { foldRun, type Run } from '#libs/constellation';
import { openRunLog } from '#libs/event-log';
import { encodeEditGrant, signEditGrant, type Granted } from '#libs/keys';
import { Actors } from '#libs/messaging';
import { ServicePorts, systemClock } from '#libs/platform';
import { connectDevice, instantDevice, introduce, requestRun, startTestBus, type TestBus } from '#libs/testing';
import type { RunEvent, RunEventType, RunId } from '#proto';
import { startOrchestrator } from '../../services/orchestrator/rig.testing.js';
import { McpEndpoint } from '../../services/planner/endpoint/constellation-endpoint.gateway.js';

const HOUR_MS = 3_600_000;
const LINES_KEPT_MAX = 1_000;
const COMPLETED = { status: 'completed', result: { value: { exit_code: 0 } } } as const;

/** A bus with every user, an orchestrator, two devices, and the planner's endpoint: real processes' code in one process. */
export interface Rig {
  readonly bus: TestBus;
  readonly endpoint: McpEndpoint;
  /** What the endpoint has logged, as it was written. */
  readonly logged: readonly string[];
  /** Of a person who is not the one at the command line. */
  readonly aliceSeed: string;
  url(runId: RunId): string;
  /** A token of Alice, good for an hour unless said otherwise. */
  token(runId: RunId, granted?: Partial<Granted>): string;
  /** A run of tasks on web-1, where tasks run for ever, but one that is called `ends`. */
  submit(requestId: string, constellation?: object, options?: object): Promise<RunId>;
  run(runId: RunId): Promise<Run>;
  /** Its last event of this type. */
  lastEvent(runId: RunId, type: RunEventType): Promise<RunEvent | undefined>;
  stop(): Promise<void>;
}

export async function startRig(): Promise<Rig> {
  const bus = await startTestBus();
  const admin = await bus.as('admin');
  const aliceSeed = await introduce(admin, { kind: 'person', id: 'alice' });
  await connectDevice(admin, 'web-1');
  await connectDevice(admin, 'web-2');
  const device = instantDevice(admin, { answer: ({ taskId }) => (taskId === 'ends' ? COMPLETED : undefined) });
  const logged: string[] = [];
  const write = (line: string): void => void (logged.length < LINES_KEPT_MAX && logged.push(line));
  const orchestrator = await startOrchestrator(await bus.as('orchestrator'));
  const nc = await bus.as('planner');
  const actors = await Actors.open(nc, () => undefined);
  const endpoint = new McpEndpoint({
    nc,
    actors,
    ports: new ServicePorts(),
    port: 0,
    hosts: ['planner.example.org'],
    seed: await bus.seedOf('planner'),
    clock: systemClock,
    logger: pino({ level: 'trace' }, { write }),
  });
  await endpoint.begin();
  const cli = await bus.as('cli');
  const inMs = (ms: number) => new Date(systemClock.now() + ms).toISOString();
  const hour = () => ({ issuedAt: inMs(0), expiresAt: inMs(HOUR_MS) });
  return {
    bus,
    endpoint,
    logged,
    aliceSeed,
    url: (runId) => `http://127.0.0.1:${endpoint.port}/mcp/${runId}`,
    token: (runId, granted) =>
      encodeEditGrant(signEditGrant(aliceSeed, { runId, access: 'edit', ...hour(), ...granted })),
    submit: async (requestId, constellation = chain(requestId), options = {}) =>
      requestRun(cli, { requestId, constellation, options }, await bus.seedOf('cli')),
    run: async (runId) => {
      const run = foldRun((await openRunLog(cli).load(runId)).map(({ commit }) => commit));
      if (run === undefined) throw new Error(`there is no run ${runId}`);
      return run;
    },
    lastEvent: async (runId, type) =>
      (await openRunLog(cli).load(runId))
        .flatMap(({ commit }) => commit.events)
        .findLast((event) => event.type === type),
    stop: async () => {
      device.stop();
      await endpoint.end();
      await actors.end();
      await orchestrator.stop();
      await bus.stop();
    },
  };
}

/** `a` runs, `b` waits for it. */
function chain(name: string): object {
  const task = (id: string) => ({ id, name: id, target: { device: 'web-1' }, command: { tool: 'NOOP' } });
  return { name, tasks: [task('a'), task('b')], lines: [{ id: 'ab', from: 'a', to: 'b' }] };
}
