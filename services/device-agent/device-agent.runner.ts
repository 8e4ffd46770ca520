import { randomBytes } from 'node:crypto';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import { DEFAULTS, DURABLES, LIMITS, subjects, type OutputChunk } from '#proto';
import type { CommandPolicy } from '#libs/command-policy';
import type { AgentKind } from '#libs/device-agent';
import { StoringModelDesk, type ChatModel } from '#libs/llm';
import { openAttemptLog, openRunLog } from '#libs/event-log';
import { ConditionJudge } from '#libs/judging';
import {
  consumeDurable,
  getArtifact,
  openArtifact,
  handAgain,
  putArtifact,
  readArtifact,
  serveQueries,
  type BusMessage,
  type ConsumeEvent,
  type Consumption,
  type Outcome,
} from '#libs/messaging';
import type { Clock } from '#libs/platform';
import { Slots } from '#libs/slots';
import { AgentAttemptRunner, type AgentAttemptParts, announceAgents, type Announcement } from './agents/index.js';
import { AttemptCommits, SERVICE, LiveAttempts } from './live/index.js';
import {
  AttemptRunner,
  RUNNER_TIMES,
  type RunnerTimes,
  AttemptsConsumer,
  ControlConsumer,
  DeliverHandler,
  ExplainHandler,
} from './orders/index.js';
import { CommandRunner, hasLost, type DeviceState, DeviceStates, NatsDeviceLink } from './devices/index.js';

/** Commits of RUNS that the control durable works on at once; each costs a read or two. */
const CONTROL_CONCURRENCY = 64;

export interface DeviceAgentOptions {
  readonly nc: NatsConnection;
  readonly instance: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly attemptsMax: number;
  readonly policy: CommandPolicy;
  /** Null: exact commands only. */
  readonly model: ChatModel | null;
  /** Agents that devices can have; none of them is served without a model. */
  readonly kinds: readonly AgentKind[];
  readonly stepsMax?: number;
  readonly inputBytesMax?: number;
  readonly keepPrompts?: boolean;
  readonly times?: RunnerTimes;
}

export interface DeviceAgent {
  /** Attempts that this replica is carrying out. */
  readonly attempts: number;
  /** Takes no more, leaves what it is carrying out to the other replicas; devices go on meanwhile. Safe to call twice. */
  stop(): Promise<void>;
}

/** Bytes of the text that device output is fenced with in a prompt. */
const BOUNDARY_BYTES = 16;

/** Puts the parts together and begins to serve both durables. */
export function startDeviceAgent(options: DeviceAgentOptions): DeviceAgent {
  const { nc, instance, clock, logger, attemptsMax, policy, times = RUNNER_TIMES } = options;
  const { inputBytesMax = LIMITS.inputBytesMax } = options;
  const attempts = openAttemptLog(nc);
  const runs = openRunLog(nc);
  const commits = new AttemptCommits({ attempts, runs, clock, instance });
  const device = new NatsDeviceLink(nc, logger);
  const live = new LiveAttempts();
  const states = new DeviceStates(nc, logger);
  states.onChange((state, before) => {
    interruptLost(live, state, command);
    if (before !== undefined && before.sessionId !== state.sessionId) device.moved(state.deviceId);
  });
  const artifacts = {
    put: (content: Uint8Array) => putArtifact(nc, content),
    get: (sha256: string) => getArtifact(nc, sha256),
    read: (sha256: string) => readArtifact(nc, sha256),
    size: async (sha256: string) => (await openArtifact(nc, sha256)).bytes,
  };
  const conditions = new ConditionJudge({ artifact: artifacts.get });
  const slots = new Slots(attemptsMax, () => consumptions[0]?.look());
  const command = new CommandRunner(device, (deviceId) => states.get(deviceId), times);
  const common = {
    commits,
    attempts,
    device,
    artifacts,
    conditions,
    inputBytesMax,
    slots,
    instance,
    logger,
    clock,
    policy,
  };
  const agents = agentsOf(options, { ...common, runner: command, profile: (deviceId) => states.profile(deviceId) });
  const runner = new AttemptRunner({ ...common, live, command, agents }, times);
  const starts = new AttemptsConsumer({ runner, live, clock });
  const control = new ControlConsumer({ commits, device, live });
  const consumptions = consume(options, { starts, control, slots });
  const results = new DeliverHandler({ commits, artifacts, live, logger });
  const explain = new ExplainHandler(policy, (deviceId) => states.profile(deviceId));
  const queries = serveQueries(
    nc,
    SERVICE,
    {
      'dlq-retry': (request) => handAgain(nc, request, { RUNS: (message) => takeBoth(message, starts, control) }),
      explain: (question) => explain.explain(question),
      deliver: (delivery) => results.deliver(delivery),
    },
    { report: (error, query) => logger.warn({ err: error, query }, 'the query could not be answered') },
  );
  void states.begin();
  const announcement = announce(options);
  return {
    get attempts() {
      return live.size;
    },
    stop: async () => {
      await (await queries).stop();
      await announcement?.stop();
      const stopped = consumptions.map((consumption) => consumption.stop());
      live.shutDown();
      device.stop();
      await Promise.all([states.end(), ...stopped]);
      await conditions.end();
    },
  };
}

type Shared = Omit<AgentAttemptParts, 'desk' | 'random' | 'publish' | 'stepsMax' | 'kinds'>;

function agentsOf(
  { nc, model, kinds, stepsMax = DEFAULTS.stepsMax, keepPrompts = true }: DeviceAgentOptions,
  shared: Shared,
): AgentAttemptRunner {
  const { artifacts, logger } = shared;
  return new AgentAttemptRunner({
    ...shared,
    stepsMax,
    kinds: new Map(model === null ? [] : kinds.map((kind) => [kind.name, kind])),
    desk: new StoringModelDesk({ model: model ?? NO_MODEL, artifacts, keepPrompts, logger }),
    random: () => randomBytes(BOUNDARY_BYTES).toString('hex'),
    publish: (chunk: OutputChunk) => nc.publish(subjects.output(chunk.commandId), JSON.stringify(chunk)),
  });
}

/** Never asked: without a model no agent is served. */
const NO_MODEL: ChatModel = { ask: () => Promise.resolve([]) };

function consume(
  { nc, clock, logger, attemptsMax }: DeviceAgentOptions,
  { starts, control, slots }: { starts: AttemptsConsumer; control: ControlConsumer; slots: Slots },
): Consumption[] {
  const common = { service: SERVICE, clock, report: (event: ConsumeEvent) => report(logger, event) };
  // Who waits for a person holds a message, but no place.
  const room = () => attemptsMax + slots.lent;
  return [
    consumeDurable(nc, DURABLES.deviceAgentAttempts, (message) => starts.handle(message), {
      ...common,
      concurrency: room,
      maxPull: room,
    }),
    consumeDurable(nc, DURABLES.deviceAgentControl, (message) => control.handle(message), {
      ...common,
      concurrency: CONTROL_CONCURRENCY,
    }),
  ];
}

function announce({ nc, instance, clock, logger, model, kinds }: DeviceAgentOptions): Announcement | undefined {
  if (model === null || kinds.length === 0) return undefined;
  return announceAgents(nc, {
    service: SERVICE,
    instance,
    clock,
    agents: kinds.map(({ name }) => name),
    report: (error) => logger.warn({ err: error }, 'the orchestrator was not told which agents are served'),
  });
}

/** A commit is read by both durables; a dead letter does not say for which it was bad. */
async function takeBoth(message: BusMessage, starts: AttemptsConsumer, control: ControlConsumer): Promise<Outcome> {
  const taken = await control.handle(message);
  return taken.kind === 'done' ? starts.handle(message) : taken;
}

function interruptLost(live: LiveAttempts, state: DeviceState, command: CommandRunner): void {
  for (const attempt of live.onDevice(state.deviceId)) {
    if (hasLost(state, attempt.order.start)) attempt.interrupt('lost');
    // Who cannot ask now looks again in a moment.
    else command.noticeLeaving(attempt).catch(() => undefined);
  }
}

function report(logger: Logger, event: ConsumeEvent): void {
  const { kind, ...rest } = event;
  if (event.kind === 'interrupted') logger.warn({ durable: event.durable, err: event.error }, 'consumer: interrupted');
  else if (kind === 'poison') logger.error(rest, 'consumer: poison');
  else logger.warn(rest, 'consumer: retry');
}
