import { createHash } from 'node:crypto';
import { pino } from 'pino';
import {
  GENESIS_HASH,
  HEADER_TYPES,
  Proposal,
  subjects,
  type AgentProfile,
  type Edit,
  type EditTrigger,
  type Experience,
  type Json,
  type PlanEvent,
  type RunCommit,
  type RunEventData,
  type RunOptions,
} from '#proto';
import { decide, emptyRun, foldRun, type Input, type Run } from '#libs/constellation';
import { memoryPlanLog, memoryRunLog, newCommitId, sealCommit, type PlanLog, type RunLog } from '#libs/event-log';
import { ScriptedChatModel, StoringModelDesk, type ChatModel, type Script, type Scripted } from '#libs/llm';
import type { BusMessage, Outcome } from '#libs/messaging';
import type { CreationView, EditingBriefing, PlannerPrompt, Runbook } from '#libs/planner';
import { PlanningFleet } from '../fleet/fleet.js';
import type { KeptLimits } from '../rounds/kept-runs.js';
import { LiveRounds } from '../rounds/live-rounds.runner.js';
import { PlanCommits } from '../rounds/plan-commits.adapter.js';
import type { RoundRecord } from '../rounds/round-records.adapter.js';
import { RoundHandler } from '../rounds/round.handler.js';
import { RoundsConsumer, type Evaluations } from '../rounds/rounds.consumer.js';
import { Thinking } from '../rounds/thinking.runner.js';

export const RUN_ID = 'run1';
export const STARTED_AT = '2026-11-20T10:00:00.000Z';
export const NOW = Date.parse(STARTED_AT) + 100;
const SILENT = pino({ level: 'silent' });

/** The profile of a device as the registry would have written it. */
export function profileOf(deviceId: string, change: Partial<AgentProfile> = {}): AgentProfile {
  return {
    deviceId,
    status: 'connected',
    agent: 'LinuxAgent',
    os: 'linux',
    arch: 'x64',
    hostname: deviceId,
    capabilities: [],
    tags: [],
    tools: [
      { name: 'EXEC_CLI', description: 'runs a command line', readOnly: false },
      { name: 'SYS_INFO', description: 'tells about the machine', readOnly: true },
    ],
    resources: { cpuCount: 2, memoryMb: 1_024 },
    tasksMax: 8,
    held: null,
    session: { sessionId: `${deviceId}-s1`, gateway: 'g1', journalId: `${deviceId}-j`, connectedAt: STARTED_AT },
    revision: 1,
    enrolledAt: STARTED_AT,
    changedAt: STARTED_AT,
    ...change,
  };
}

export interface PlannerOptions {
  readonly instance?: string;
  /** Called before and after each call that leaves the process; throws or waits to simulate trouble. */
  readonly before?: (call: string) => Promise<void>;
  readonly after?: (call: string) => Promise<void>;
  /** Null: none is configured. */
  readonly model?: ChatModel | null;
  readonly runbooks?: readonly Runbook[];
  readonly evaluations?: Evaluations | null;
  readonly evaluateAll?: boolean;
  readonly examples?: readonly Experience[];
  /** What the prompts are made by instead. */
  readonly prompt?: (view: CreationView | EditingBriefing) => PlannerPrompt;
  readonly lookMs?: number;
  /** What it reads and writes instead of the logs of its world. */
  readonly logs?: Logs;
  readonly kept?: KeptLimits;
}

export interface Logs {
  readonly runs: RunLog;
  readonly plans: PlanLog;
}

/**
 * What outlives a process, for tests: the logs, and an orchestrator that decides with the real core, but only when it is told to,
 * so that anything can happen between two of its commits.
 */
export class PlannerWorld {
  readonly runId: string;
  readonly runs = memoryRunLog();
  readonly plans = memoryPlanLog();
  readonly fleet = new PlanningFleet();
  readonly model: ScriptedChatModel;
  now = NOW;
  #judged = 0;
  #proposals = 0;

  constructor(script: readonly Scripted[] | Script = [], runId = RUN_ID) {
    this.runId = runId;
    this.model = new ScriptedChatModel(script, { now: () => this.now, tokens: { prompt: 100, completion: 10 } });
    this.devices(profileOf('web-1'), profileOf('db-1', { tags: ['db'] }));
    this.fleet.served(['LinuxAgent'], 0);
  }

  devices(...profiles: readonly AgentProfile[]): void {
    this.fleet.replace(new Map(profiles.map((profile) => [profile.deviceId, profile])));
  }

  planner(options: PlannerOptions = {}): TestPlanner {
    return new TestPlanner(this, options);
  }

  async run(): Promise<Run> {
    const stored = await this.runs.load(this.runId);
    return foldRun(stored.map(({ commit }) => commit)) ?? emptyRun(this.runId);
  }

  /** The first commit of the run. */
  async submitted(): Promise<RunCommit> {
    const [first] = await this.runs.load(this.runId);
    if (first === undefined) throw new Error('nothing was submitted');
    return first.commit;
  }

  /** The commit that follows from these inputs. Throws when nothing does. */
  async decide(...inputs: readonly Input[]): Promise<RunCommit> {
    const stored = await this.runs.load(this.runId);
    const run = await this.run();
    const circumstances = { fleet: this.fleet.view, now: this.now, planner: true };
    const { events, answers } = decide(run, inputs, circumstances);
    if (events.length === 0) throw new Error(`nothing follows: ${JSON.stringify(answers)}`);
    const id = newCommitId(this.now);
    const recorded = events.map((event, index) => ({
      id: `${id}.${index}`,
      sequence: run.sequence + index + 1,
      schemaVersion: 1,
      ...event,
    }));
    const draft = {
      commit: id,
      number: run.number + 1,
      at: new Date(this.now).toISOString(),
      by: { service: 'orchestrator', instance: 'test' },
      causes: [],
      runId: this.runId,
      events: recorded,
    };
    const commit: RunCommit = sealCommit(draft, stored.at(-1)?.commit.hash ?? GENESIS_HASH);
    const appended = await this.runs.append(this.runId, commit, stored.at(-1)?.sequence ?? 0);
    if (appended.kind === 'conflict') throw new Error('the run was written by somebody else');
    return commit;
  }

  /** A request for a goal: the commit opens the round of its creation. */
  submit(goal = 'look after the disks', options: RunOptions = {}): Promise<RunCommit> {
    const requested: RunEventData<'RUN_REQUESTED'> = {
      requestId: 'request-1',
      namespace: 'default',
      contentHash: 'a'.repeat(64),
      goal,
      constellation: null,
      options,
      metadata: {},
      requestedBy: { kind: 'external', id: 'default' },
      requestedAt: new Date(this.now).toISOString(),
      deadlineAt: new Date(this.now + 24 * 60 * 60 * 1000).toISOString(),
    };
    return this.decide({ kind: 'submit', requested });
  }

  /** The orchestrator takes notice of what the planner has stored since the last time. */
  async judge(): Promise<RunCommit> {
    const stored = (await this.plans.load(this.runId)).slice(this.#judged);
    this.#judged += stored.length;
    const by = { kind: 'system', id: 'planner' } as const;
    const inputs = stored.flatMap(({ commit }) =>
      commit.events.flatMap((event): Input[] => {
        const planHash = commit.hash;
        if (event.type === 'PLAN_PROPOSED') return [{ kind: 'proposal', ...event.data, by, planHash }];
        if (event.type === 'ROUND_FAILED') return [{ kind: 'round-failed', ...event.data, planHash }];
        return [];
      }),
    );
    return this.decide(...inputs);
  }

  /** The running attempt of a task ends well. */
  complete(taskId: string, value: Json = { exit_code: 0, stdout: 'fine', stderr: '' }): Promise<RunCommit> {
    const finished = { status: 'completed', result: { value } } as const;
    return this.decide({ kind: 'attempt-ended', taskId, attempt: 1, attemptHash: 'b'.repeat(64), finished });
  }

  fail(taskId: string): Promise<RunCommit> {
    const error = { code: 'EXIT_CODE', message: 'exit code 1', outcome: 'failed' } as const;
    const finished = { status: 'failed', error } as const;
    return this.decide({ kind: 'attempt-ended', taskId, attempt: 1, attemptHash: 'b'.repeat(64), finished });
  }

  /** A person has a failed task of a run that has ended tried again, and it fails again: the commit opens a round. */
  async reopen(taskId: string): Promise<RunCommit> {
    const by = { kind: 'person', id: 'operator' } as const;
    await this.decide({ kind: 'verb', id: 'retry-1', by, action: { verb: 'RETRY', taskId } });
    const error = { code: 'EXIT_CODE', message: 'exit code 1', outcome: 'failed' } as const;
    const finished = { status: 'failed', error } as const;
    return this.decide({ kind: 'attempt-ended', taskId, attempt: 2, attemptHash: 'b'.repeat(64), finished });
  }

  /** By a person. */
  cancel(): Promise<RunCommit> {
    const by = { kind: 'person', id: 'operator' } as const;
    return this.decide({ kind: 'verb', id: 'cancel-1', by, action: { verb: 'CANCEL', reason: 'enough' } });
  }

  /** A person changes the constellation, which gives it another revision. */
  propose(...edits: readonly Edit[]): Promise<RunCommit> {
    const by = { kind: 'person', id: 'operator' } as const;
    const proposal = Proposal.parse({ edits });
    const id = `propose-${++this.#proposals}`;
    return this.decide({ kind: 'verb', id, by, action: { verb: 'PROPOSE', proposal, delegated: false } });
  }

  /** What is stored of plans, in order. */
  async facts(): Promise<PlanEvent[]> {
    return (await this.plans.load(this.runId)).flatMap(({ commit }) => commit.events as readonly PlanEvent[]);
  }

  async factsOf<T extends PlanEvent['type']>(type: T): Promise<Data<T>[]> {
    const facts = (await this.facts()).filter((fact) => fact.type === type);
    return facts.map(({ data }) => data as Data<T>);
  }

  /** Types of the events of each commit. */
  async types(): Promise<string[][]> {
    const stored = await this.plans.load(this.runId);
    return stored.map(({ commit }) => commit.events.map(({ type }) => type));
  }
}

type Data<T extends PlanEvent['type']> = Extract<PlanEvent, { type: T }>['data'];

/** One process of the service over a world, for tests. */
export class TestPlanner {
  readonly live = new LiveRounds();
  readonly rounds: RoundsConsumer;
  readonly records: RoundRecord[] = [];
  /** What prompts were made of. */
  readonly views: (CreationView | EditingBriefing)[] = [];
  readonly boundaries: string[] = [];

  constructor(world: PlannerWorld, options: PlannerOptions) {
    const { instance = 'i1', before, after, model = world.model, runbooks = [], examples = [] } = options;
    const { evaluations = null, evaluateAll = false, prompt = promptOf, lookMs = 5, logs = world, kept } = options;
    const guard: Guard = async (call, work) => {
      await before?.(call);
      const result = await work();
      await after?.(call);
      return result;
    };
    const clock = { now: () => world.now };
    const runs = guarded(logs.runs, 'runs', guard);
    const asks: ChatModel = { ask: (request) => guard('model', () => (model ?? world.model).ask(request)) };
    const artifacts = { put: async (content: Uint8Array) => ({ sha256: sha256(content), bytes: content.length }) };
    const desk = new StoringModelDesk({ model: asks, artifacts, keepPrompts: false, logger: SILENT });
    const made = (view: CreationView | EditingBriefing): PlannerPrompt => {
      this.views.push(view);
      return prompt(view);
    };
    const thinking = new Thinking({
      desk,
      prompter: { creation: made, editing: made },
      fleet: world.fleet,
      runbooks: () => runbooks.map(({ info }) => info),
      examples: async () => examples,
      clock,
      random: () => {
        const boundary = `boundary-of-${instance}-${this.boundaries.length}`;
        this.boundaries.push(boundary);
        return boundary;
      },
    });
    const rounds = new RoundHandler({
      runs,
      commits: new PlanCommits({ plans: guarded(logs.plans, 'plans', guard), clock, instance }),
      live: this.live,
      thinking: model === null ? null : thinking,
      runbooks: () => runbooks,
      fleet: world.fleet,
      clock,
      logger: SILENT,
      emit: (record) => void this.records.push(record),
      lookMs,
      ...(kept && { kept }),
    });
    this.rounds = new RoundsConsumer({ rounds, live: this.live, runs, evaluations, evaluateAll, logger: SILENT });
  }

  handle(commit: RunCommit, deliveries = 1): Promise<Outcome> {
    return this.rounds.handle(messageOf(commit, deliveries));
  }
}

/** One line for each thing that a model is told: enough to see what it was. */
function promptOf(view: CreationView | EditingBriefing): PlannerPrompt {
  const { goal, learnt, tried = null } = view;
  const triggers: readonly EditTrigger[] = 'run' in view ? view.triggers : [];
  const problems = 'violations' in view ? view.violations.map(({ message }) => message) : (view.problems ?? []);
  const content = JSON.stringify({ goal, triggers, problems, tried });
  const templates = [{ id: 'test', hash: 'd'.repeat(64) }];
  return { messages: [{ role: 'user', content }], templates, examples: learnt.map(({ id }) => id) };
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

function guarded<L extends PlanLog | RunLog>(log: L, name: string, guard: Guard): L {
  const target = log as PlanLog;
  const wrapped: PlanLog = {
    append: (...args) => guard(`${name}.append`, () => target.append(...args)),
    load: (...args) => guard(`${name}.load`, () => target.load(...args)),
    endsAt: (...args) => guard(`${name}.endsAt`, () => target.endsAt(...args)),
  };
  return wrapped as L;
}

function sha256(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}
