import { randomBytes } from 'node:crypto';
import { Module } from '@nestjs/common';
import { ATTEMPT_LOG, meteredLog, openAttemptLog, openRunLog } from '#libs/event-log';
import { ConditionJudge } from '#libs/judging';
import { meteredModel, StoringModelDesk, type ChatModel } from '#libs/llm';
import { picturesKept } from '#libs/command-policy';
import { readSecret } from '#libs/keys';
import { BusStrategy } from '#libs/messaging';
import {
  CLOCK,
  INSTANCE,
  knowsActors,
  loadConfig,
  LOGGER,
  Metrics,
  NATS,
  part,
  SERVICE_CONFIG,
  token,
} from '#libs/platform';
import { Slots } from '#libs/slots';
import { DURABLES, subjects } from '#proto';
import { AGENT_KIT, AgentAttemptRunner, agentRecords, Announcement, loadAgentKit } from './agents/index.js';
import { DeviceAgentConfig } from './device-agent.config.js';
import { CommandRunner, DeviceStates, NatsDeviceLink } from './devices/index.js';
import { ARTIFACTS, artifactsOn, BOARD_DESK, BoardOfRun } from './inputs/index.js';
import { AttemptCommits, attemptFigures, LiveAttempts } from './live/index.js';
import {
  AttemptRunner,
  AttemptsConsumer,
  ControlConsumer,
  DeliverHandler,
  ExplainHandler,
  RUNNER_TIMES,
  SettingsHandler,
  type RunnerParts,
  type RunnerTimes,
} from './orders/index.js';
import { RunPictures } from './pictures/index.js';
import { RunEndsConsumer, RunWorkspaces, WorkspacesHandler } from './workspaces/index.js';

export const DEVICE_AGENT_CONFIG = token<DeviceAgentConfig>('DEVICE_AGENT_CONFIG');
export const TIMES = token<RunnerTimes>('TIMES');
/** What attempts of every kind are carried out with. */
const MEANS = token<Omit<RunnerParts, 'agents'> & ConstructorParameters<typeof AgentAttemptRunner>[0]>('MEANS');

/** Bytes of the text that device output is fenced with in a prompt. */
const BOUNDARY_BYTES = 16;
/** Never asked: without a model no agent is served. */
const NO_MODEL: ChatModel = { ask: () => Promise.resolve([]) };

/**
 * One replica of the device-agent.
 *
 *   RUNS ──attempts──► AttemptRunner ──exact command───────────────► CommandRunner ──► gateway of the device
 *     │                     └──agent──► AgentAttemptRunner ──effects──┘        └──► ATTEMPTS
 *     ├──control──► stops and decisions ──► LiveAttempts      deliver: results that come late ──► ATTEMPTS
 *     └──ends──► devices of the run forget its workspaces
 */
@Module({
  // A dead letter does not say for which durable it was bad: what stops an attempt is read first.
  controllers: [
    ControlConsumer,
    AttemptsConsumer,
    RunEndsConsumer,
    DeliverHandler,
    ExplainHandler,
    SettingsHandler,
    WorkspacesHandler,
  ],
  providers: [
    part(DEVICE_AGENT_CONFIG, [], () => loadConfig(DeviceAgentConfig)),
    part(AGENT_KIT, [DEVICE_AGENT_CONFIG, LOGGER, Metrics], async (config, logger, metrics) => {
      const kit = await loadAgentKit(config, process.env, agentRecords(logger, metrics));
      return { ...kit, model: meteredModel(kit.model, metrics) };
    }),
    knowsActors(),
    part(TIMES, [], () => RUNNER_TIMES),
    part(ARTIFACTS, [NATS], artifactsOn),
    part(BOARD_DESK, { nc: NATS, clock: CLOCK, service: SERVICE_CONFIG }, async ({ nc, clock, service }) => {
      const { seedFile } = service.nats;
      const seed = seedFile === undefined ? undefined : await readSecret(seedFile);
      return new BoardOfRun({ nc, runs: openRunLog(nc), seed, clock });
    }),
    part(
      ConditionJudge,
      [ARTIFACTS],
      (artifacts) => new ConditionJudge({ artifact: (sha256) => artifacts.get(sha256) }),
    ),
    part(AttemptCommits, { nc: NATS, clock: CLOCK, instance: INSTANCE, metrics: Metrics }, ({ nc, metrics, ...by }) => {
      const meter = { metrics, stream: ATTEMPT_LOG.stream, appended: attemptFigures(metrics) };
      return new AttemptCommits({ ...by, attempts: meteredLog(openAttemptLog(nc), meter), runs: openRunLog(nc) });
    }),
    part(LiveAttempts, [Metrics], (metrics) => {
      const live = new LiveAttempts();
      const gauge = metrics.gauge('attempts_live', 'Attempts that this replica is carrying out');
      Object.assign(gauge, { collect: () => gauge.set(live.size) });
      return live;
    }),
    // Who waits for a person holds a message, but no place.
    part(Slots, [DEVICE_AGENT_CONFIG, BusStrategy], ({ attemptsMax }, bus) => {
      const room = (): number => attemptsMax + slots.lent;
      const look = bus.limit(DURABLES.deviceAgentAttempts, { concurrency: room, maxPull: room });
      const slots = new Slots(attemptsMax, look);
      return slots;
    }),
    part(NatsDeviceLink, [NATS, LOGGER], (nc, logger) => new NatsDeviceLink(nc, logger)),
    part(DeviceStates, [NATS, LOGGER], (nc, logger) => new DeviceStates(nc, logger)),
    part(CommandRunner, [NatsDeviceLink, DeviceStates, LiveAttempts, TIMES], (device, states, live, times) => {
      const command = new CommandRunner(device, (deviceId) => states.get(deviceId), times);
      states.onChange((state, before) => {
        command.noticeState(live.onDevice(state.deviceId), state);
        if (before !== undefined && before.sessionId !== state.sessionId) device.moved(state.deviceId);
      });
      return command;
    }),
    part(
      RunPictures,
      { kit: AGENT_KIT, states: DeviceStates, commits: AttemptCommits, artifacts: ARTIFACTS, clock: CLOCK },
      ({ kit: { policy }, states, ...parts }) =>
        new RunPictures({
          ...parts,
          kept: (deviceId) => {
            const { os = '', tags = [] } = states.profile(deviceId) ?? {};
            return picturesKept(policy, { deviceId, os, tags });
          },
        }),
    ),
    part(RunWorkspaces, [AttemptCommits, NatsDeviceLink], (commits, device) => new RunWorkspaces(commits, device)),
    part(
      MEANS,
      {
        config: DEVICE_AGENT_CONFIG,
        kit: AGENT_KIT,
        nc: NATS,
        states: DeviceStates,
        artifacts: ARTIFACTS,
        board: BOARD_DESK,
        conditions: ConditionJudge,
        commits: AttemptCommits,
        live: LiveAttempts,
        slots: Slots,
        device: NatsDeviceLink,
        command: CommandRunner,
        clock: CLOCK,
        instance: INSTANCE,
        logger: LOGGER,
      },
      ({ config: { inputBytesMax, stepsMax, keepPrompts }, kit, nc, states, ...means }) => ({
        ...means,
        inputBytesMax,
        stepsMax,
        attempts: openAttemptLog(nc),
        runner: means.command,
        policy: kit.policy,
        kinds: new Map(kit.kinds.map((kind) => [kind.name, kind])),
        profile: (deviceId) => states.profile(deviceId),
        desk: new StoringModelDesk({ ...means, model: kit.model ?? NO_MODEL, keepPrompts }),
        random: () => randomBytes(BOUNDARY_BYTES).toString('hex'),
        publish: (chunk) => nc.publish(subjects.output(chunk.commandId), JSON.stringify(chunk)),
      }),
    ),
    part(AgentAttemptRunner, [MEANS], (means) => new AgentAttemptRunner(means)),
    part(
      AttemptRunner,
      [MEANS, AgentAttemptRunner, TIMES],
      (means, agents, times) => new AttemptRunner({ ...means, agents }, times),
    ),
    part(
      Announcement,
      { nc: NATS, instance: INSTANCE, clock: CLOCK, logger: LOGGER, kit: AGENT_KIT },
      ({ kit: { kinds }, ...parts }) => new Announcement({ ...parts, agents: kinds.map(({ name }) => name) }),
    ),
  ],
})
export class DeviceAgentModule {}
