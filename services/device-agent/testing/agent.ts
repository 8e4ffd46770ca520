import { createHash } from 'node:crypto';
import { pino } from 'pino';
import {
  HEADER_TYPES,
  subjects,
  type AgentProfile,
  type AttemptCommit,
  type AttemptKey,
  type OutputChunk,
  type RunCommit,
} from '#proto';
import { memoryAttemptLog, memoryRunLog, type AttemptLog, type RunLog, type Stored } from '#libs/event-log';
import type { CommandPolicy, KeptPictures } from '#libs/command-policy';
import type { AgentKind } from '#libs/device-agent';
import { ScriptedChatModel, StoringModelDesk, type ChatModel } from '#libs/llm';
import { ConditionJudge } from '#libs/judging';
import { ArtifactError, type BusMessage } from '#libs/messaging';
import { AgentAttemptRunner } from '../agents/agent-attempt.runner.js';
import { AttemptCommits } from '../live/attempt-commits.adapter.js';
import { AttemptRunner } from '../orders/attempt.runner.js';
import { AttemptsConsumer } from '../orders/attempts.consumer.js';
import { CommandRunner } from '../devices/command.runner.js';
import { ControlConsumer } from '../orders/control.consumer.js';
import { DeliverHandler } from '../orders/deliver.handler.js';
import type { DeviceState } from '../devices/session.js';
import type { GatewayLink } from '../devices/link.client.js';
import type { Artifacts } from '../inputs/inputs.adapter.js';
import type { BoardDesk } from '../inputs/board.client.js';
import { LiveAttempts } from '../live/live-attempts.js';
import { RunPictures } from '../pictures/run-pictures.adapter.js';
import { RunEndsConsumer } from '../workspaces/run-ends.consumer.js';
import { RunWorkspaces } from '../workspaces/run-workspaces.adapter.js';
import { WorkspacesHandler } from '../workspaces/workspaces.handler.js';
import { Slots } from '#libs/slots';
import type { ScriptedDevice } from './device.js';
import { testPolicy } from './policy.js';
import { profileOf } from './profile.js';
import { NOW, RUN_ID, type TestRun } from './run.js';
import { shellAgent } from './shell-agent.js';

/** What outlives a process, for tests: the logs, the artifacts and the device. */
export class World {
  readonly attempts = memoryAttemptLog();
  readonly runs = memoryRunLog();
  readonly stored = new Map<string, Uint8Array>();
  readonly device: ScriptedDevice;
  readonly #read = new Map<string, { readonly end: number; readonly commits: readonly Stored<AttemptCommit>[] }>();

  constructor(device: ScriptedDevice) {
    this.device = device;
  }

  /** Puts what the orchestrator appended into the log. */
  async record(run: TestRun): Promise<void> {
    let end = 0;
    const known = await this.runs.load(run.runId);
    for (const commit of run.commits) {
      const found = known.find((one) => one.commit.number === commit.number);
      if (found !== undefined) {
        end = found.sequence;
        continue;
      }
      const appended = await this.runs.append(run.runId, commit, end);
      if (appended.kind === 'conflict') throw new Error('the run was written by somebody else');
      end = appended.sequence;
    }
  }

  /** Read anew only when there is more of it: a test asks for each kind of fact by itself. */
  async attempt(taskId: string, attempt = 1): Promise<readonly Stored<AttemptCommit>[]> {
    const key = keyOf(taskId, attempt);
    const [name, end] = [`${taskId} ${attempt}`, await this.attempts.endsAt(key)];
    const before = this.#read.get(name);
    if (before?.end === end) return before.commits;
    const commits = await this.attempts.load(key);
    this.#read.set(name, { end: commits.at(-1)?.sequence ?? 0, commits });
    return commits;
  }

  async types(taskId: string, attempt = 1): Promise<string[][]> {
    const commits = await this.attempt(taskId, attempt);
    return commits.map(({ commit }) => commit.events.map(({ type }) => type));
  }
}

export interface AgentOptions {
  readonly instance?: string;
  readonly attemptsMax?: number;
  /** Called before each call that leaves the process; throws or waits to simulate trouble. */
  readonly before?: (call: string) => Promise<void>;
  readonly after?: (call: string) => Promise<void>;
  readonly model?: ChatModel;
  readonly policy?: CommandPolicy;
  readonly kinds?: readonly AgentKind[];
  readonly stepsMax?: number;
  readonly board?: BoardDesk['use'];
  readonly keepPrompts?: boolean;
  /** What is said of pictures of a device's screen when their run has ended; else all are kept. */
  readonly pictures?: (deviceId: string) => KeptPictures;
  readonly clock?: { now(): number };
  /** Gets the fields of each warning. */
  readonly warn?: (fields: unknown) => void;
}

/** One process of the service over a world, for tests. */
export class TestAgent {
  readonly live = new LiveAttempts();
  readonly starts: AttemptsConsumer;
  readonly control: ControlConsumer;
  readonly results: DeliverHandler;
  readonly ends: RunEndsConsumer;
  readonly workspaces: WorkspacesHandler;
  readonly slots: Slots;
  /** What was said to people who watch. */
  readonly said: OutputChunk[] = [];
  readonly boundaries: string[] = [];
  readonly artifacts: Artifacts;
  state: DeviceState | undefined;
  profile: AgentProfile | undefined = profileOf();

  constructor(world: World, options: AgentOptions = {}) {
    const { instance = 'i1', attemptsMax = 100, before, after, policy = testPolicy() } = options;
    const guard = async <T>(call: string, work: () => Promise<T>): Promise<T> => {
      await before?.(call);
      const result = await work();
      await after?.(call);
      return result;
    };
    const attempts = guarded(world.attempts, 'attempts', guard);
    const commits = new AttemptCommits({ attempts, runs: guarded(world.runs, 'runs', guard), clock: CLOCK, instance });
    const device: GatewayLink = {
      ask: (request) => guard(`ask ${request.kind}`, () => world.device.ask(request)),
      tell: (request) => void guard(`tell ${request.kind}`, async () => world.device.tell(request)),
    };
    const artifacts = memoryArtifacts(world.stored, guard);
    this.artifacts = artifacts;
    const logger = pino({ level: 'silent' });
    if (options.warn !== undefined) logger.warn = options.warn;
    this.slots = new Slots(attemptsMax);
    const times = { lookMs: 5, askMsMin: 1, askMsMax: 4 };
    const command = new CommandRunner(device, () => this.state, times);
    const { model = new ScriptedChatModel([]), kinds = [shellAgent()], stepsMax = 20, keepPrompts = false } = options;
    const guarding: ChatModel = { ask: (request) => guard('model', () => model.ask(request)) };
    const common = { commits, attempts, device, artifacts, slots: this.slots, instance, logger, clock: CLOCK };
    const agents = new AgentAttemptRunner({
      ...common,
      runner: command,
      policy,
      profile: () => this.profile,
      board: { use: (...asked) => guard('board', () => (options.board ?? NO_BOARD)(...asked)) },
      conditions: new ConditionJudge({ artifact: (sha256) => artifacts.get(sha256) }),
      kinds: new Map(kinds.map((kind) => [kind.name, kind])),
      desk: new StoringModelDesk({ model: guarding, artifacts, keepPrompts, logger }),
      stepsMax,
      random: () => {
        const boundary = `boundary-${instance}-${this.boundaries.length}`;
        this.boundaries.push(boundary);
        return boundary;
      },
      publish: (chunk) => this.said.push(chunk),
    });
    const runner = new AttemptRunner({ ...common, live: this.live, command, agents }, times);
    this.starts = new AttemptsConsumer(runner, this.live, CLOCK);
    this.control = new ControlConsumer(commits, device, this.live);
    this.results = new DeliverHandler(commits, artifacts, this.live, logger);
    const workspaces = new RunWorkspaces(commits, device);
    const kept = options.pictures ?? (() => ({ keep: 'all' as const }));
    const pictures = new RunPictures({ commits, artifacts, kept, clock: options.clock ?? CLOCK });
    this.ends = new RunEndsConsumer(workspaces, pictures, CLOCK, logger);
    this.workspaces = new WorkspacesHandler(workspaces, { profile: () => this.profile });
  }
}

const NO_BOARD: BoardDesk['use'] = async () => ({ done: true, text: 'Nothing stands on the board.' });

export const CLOCK = { now: () => NOW };

export function keyOf(taskId: string, attempt = 1): AttemptKey {
  return { runId: RUN_ID, taskId, attempt };
}

export function messageOf(commit: RunCommit, deliveries = 1): BusMessage {
  const types = [...new Set(commit.events.map(({ type }) => type))].join(',');
  return {
    subject: subjects.run(commit.runId),
    data: new TextEncoder().encode(JSON.stringify(commit)),
    stream: 'RUNS',
    sequence: commit.number,
    deliveries,
    pending: 0,
    header: (name) => (name === HEADER_TYPES ? types : undefined),
    headers: () => ({ [HEADER_TYPES]: [types] }),
  };
}

type Guard = <T>(call: string, work: () => Promise<T>) => Promise<T>;

function guarded<L extends AttemptLog | RunLog>(log: L, name: string, guard: Guard): L {
  const target = log as AttemptLog;
  const wrapped: AttemptLog = {
    append: (...args) => guard(`${name}.append`, () => target.append(...args)),
    load: (...args) => guard(`${name}.load`, () => target.load(...args)),
    endsAt: (...args) => guard(`${name}.endsAt`, () => target.endsAt(...args)),
  };
  return wrapped as L;
}

function memoryArtifacts(stored: Map<string, Uint8Array>, guard: Guard): Artifacts {
  return {
    put: (content) =>
      guard('artifacts.put', async () => {
        const sha256 = createHash('sha256').update(content).digest('hex');
        stored.set(sha256, content);
        return { sha256, bytes: content.length };
      }),
    get: (sha256) =>
      guard('artifacts.get', async () => {
        const content = stored.get(sha256);
        if (content === undefined) throw new ArtifactError(sha256, 'is not stored');
        return content;
      }),
    async *read(sha256) {
      yield await this.get(sha256);
    },
    size: (sha256) =>
      guard('artifacts.size', async () => {
        const content = stored.get(sha256);
        if (content === undefined) throw new ArtifactError(sha256, 'is not stored');
        return content.length;
      }),
    async beginning(sha256) {
      return (await this.get(sha256)).subarray(0, 256);
    },
    drop: (sha256) => guard('artifacts.drop', async () => void stored.delete(sha256)),
  };
}
