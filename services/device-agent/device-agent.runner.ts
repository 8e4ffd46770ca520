import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import { DURABLES } from '#proto';
import { openAttemptLog, openRunLog } from '#libs/event-log';
import {
  consumeDurable,
  getArtifact,
  handAgain,
  putArtifact,
  serveQueries,
  type BusMessage,
  type ConsumeEvent,
  type Outcome,
} from '#libs/messaging';
import type { Clock } from '#libs/platform';
import { AttemptCommits, SERVICE } from './attempt-commits.adapter.js';
import { AttemptRunner, RUNNER_TIMES, type RunnerTimes } from './attempt.runner.js';
import { AttemptsConsumer } from './attempts.consumer.js';
import { ControlConsumer } from './control.consumer.js';
import { DeliverHandler } from './deliver.handler.js';
import { hasLost, type DeviceState } from './device-session.js';
import { watchDeviceStates } from './device-states.adapter.js';
import { NatsDeviceLink } from './device.client.js';
import { LiveAttempts } from './live-attempts.js';
import { Slots } from './slots.js';

/** Commits of RUNS that the control durable works on at once; each costs a read or two. */
const CONTROL_CONCURRENCY = 64;

export interface DeviceAgentOptions {
  readonly nc: NatsConnection;
  readonly instance: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly attemptsMax: number;
  readonly times?: RunnerTimes;
}

export interface DeviceAgent {
  /** Attempts that this replica is carrying out. */
  readonly attempts: number;
  /** Takes no more, leaves what it is carrying out to the other replicas; devices go on meanwhile. Safe to call twice. */
  stop(): Promise<void>;
}

/** Puts the parts together and begins to serve both durables. */
export function startDeviceAgent(options: DeviceAgentOptions): DeviceAgent {
  const { nc, instance, clock, logger, attemptsMax, times = RUNNER_TIMES } = options;
  const attempts = openAttemptLog(nc);
  const runs = openRunLog(nc);
  const commits = new AttemptCommits({ attempts, runs, clock, instance });
  const device = new NatsDeviceLink(nc, logger);
  const live = new LiveAttempts();
  const states = watchDeviceStates(nc, logger, (state, before) => {
    interruptLost(live, state);
    if (before !== undefined && before.sessionId !== state.sessionId) device.moved(state.deviceId);
  });
  const artifacts = {
    put: (content: Uint8Array) => putArtifact(nc, content),
    get: (sha256: string) => getArtifact(nc, sha256),
  };
  const deviceState = (deviceId: string) => states.get(deviceId);
  const slots = new Slots(attemptsMax);
  const parts = { commits, attempts, device, artifacts, live, slots, deviceState, instance, logger };
  const starts = new AttemptsConsumer({ runner: new AttemptRunner(parts, times), live, clock });
  const control = new ControlConsumer({ commits, device, live });
  const common = { service: SERVICE, clock, report: (event: ConsumeEvent) => report(logger, event) };
  const consumptions = [
    consumeDurable(nc, DURABLES.deviceAgentAttempts, (message) => starts.handle(message), {
      ...common,
      concurrency: attemptsMax,
      maxPull: attemptsMax,
    }),
    consumeDurable(nc, DURABLES.deviceAgentControl, (message) => control.handle(message), {
      ...common,
      concurrency: CONTROL_CONCURRENCY,
    }),
  ];
  const results = new DeliverHandler({ commits, artifacts, live, logger });
  const queries = serveQueries(
    nc,
    SERVICE,
    {
      'dlq-retry': (request) => handAgain(nc, request, { RUNS: (message) => takeBoth(message, starts, control) }),
      deliver: (delivery) => results.deliver(delivery),
    },
    { report: (error, query) => logger.warn({ err: error, query }, 'the query could not be answered') },
  );
  return {
    get attempts() {
      return live.size;
    },
    stop: async () => {
      await (await queries).stop();
      const stopped = consumptions.map((consumption) => consumption.stop());
      live.shutDown();
      device.stop();
      states.stop();
      await Promise.all(stopped);
    },
  };
}

/** A commit is read by both durables; a dead letter does not say for which it was bad. */
async function takeBoth(message: BusMessage, starts: AttemptsConsumer, control: ControlConsumer): Promise<Outcome> {
  const taken = await control.handle(message);
  return taken.kind === 'done' ? starts.handle(message) : taken;
}

function interruptLost(live: LiveAttempts, state: DeviceState): void {
  for (const attempt of live.onDevice(state.deviceId)) {
    if (hasLost(state, attempt.order.start)) attempt.interrupt('lost');
  }
}

function report(logger: Logger, event: ConsumeEvent): void {
  const { kind, ...rest } = event;
  if (event.kind === 'interrupted') logger.warn({ durable: event.durable, err: event.error }, 'consumer: interrupted');
  else if (kind === 'poison') logger.error(rest, 'consumer: poison');
  else logger.warn(rest, 'consumer: retry');
}
