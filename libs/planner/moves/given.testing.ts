import {
  type Actor,
  type AgentProfile,
  type EditingReply,
  type CreationReply,
  type Json,
  type ModelCall,
  NO_USAGE,
  type PlanCommit,
  type PlanEvent,
  type PlanSource,
  type Proposal,
  type RoundPlanned,
  type RunOptions,
  type TaskConstellation,
  type TaskStar,
  type ToolConstellation,
  type ToolTask,
} from '#proto';
import {
  decide,
  type RunDecision,
  emptyRun,
  type FleetView,
  foldEvents,
  type Input,
  type Run,
} from '#libs/constellation';
import { type PlanState, evolvePlan, NO_PLAN } from './plan-state.js';
import type { ProposedPlan } from './plan-creation.js';

/** Test vocabulary of the planner's core: runs as the orchestrator decides them, and what the planner has recorded of them. */
export const T0 = Date.parse('2026-01-01T00:00:00.000Z');
export const HASH = 'a'.repeat(64);
export const ALICE: Actor = { kind: 'person', id: 'alice' };
const PLANNER: Actor = { kind: 'system', id: 'planner' };

export function instant(offsetMs: number): string {
  return new Date(T0 + offsetMs).toISOString();
}

export function device(deviceId: string, change: Partial<AgentProfile> = {}): AgentProfile {
  return {
    deviceId,
    status: 'connected',
    agent: 'LinuxAgent',
    os: 'linux',
    arch: 'x64',
    hostname: deviceId,
    capabilities: ['cli'],
    tags: [],
    tools: [
      { name: 'EXEC_CLI', description: '', readOnly: false },
      { name: 'SYS_INFO', description: '', readOnly: true },
    ],
    resources: { cpuCount: 2, memoryMb: 1_024 },
    tasksMax: 8,
    held: null,
    session: { sessionId: `${deviceId}-s1`, gateway: 'g', journalId: `${deviceId}-j`, connectedAt: instant(0) },
    revision: 1,
    enrolledAt: instant(0),
    changedAt: instant(0),
    ...change,
  };
}

/** Somebody serves the agents of all of them, unless `agents` says otherwise. */
export function fleet(devices: readonly AgentProfile[], agents: readonly string[] = ['LinuxAgent']): FleetView {
  return {
    complete: true,
    watchedMs: Infinity,
    devices: new Map(devices.map((profile) => [profile.deviceId, profile])),
    running: () => 0,
    reserved: () => 0,
    circuit: () => ({ state: 'closed' }),
    agents: new Set(agents),
    slotsLeft: Infinity,
  };
}

export const FLEET = fleet([device('web-1'), device('web-2'), device('db-1', { tags: ['db'] })]);
export const NOW = { fleet: FLEET, now: T0 };

export function star(id: string, change: Partial<TaskStar> = {}): TaskStar {
  const command = { tool: 'EXEC_CLI', arguments: { command: 'true' } };
  return { id, name: id, description: '', tips: [], target: { device: 'web-1' }, command, ...change };
}

/** `plan(['a', star('b')], ['a->b', 'b=>c'])`: `->` unconditional, `=>` success-only. */
export function plan(tasks: readonly (string | TaskStar)[], lines: readonly string[] = []): TaskConstellation {
  return {
    name: 'test',
    tasks: tasks.map((one) => (typeof one === 'string' ? star(one) : one)),
    lines: lines.map((text) => {
      const [from = '', arrow = '', to = ''] = text.split(/(->|=>)/u);
      return { id: `${from}-${to}`, from, to, type: arrow === '=>' ? 'success-only' : 'unconditional' };
    }),
  };
}

/** A task as a model writes it. */
export function toolTask(id: string, change: Partial<ToolTask> = {}): ToolTask {
  const target = change.target === undefined ? { target_device_id: 'web-1' } : {};
  return { task_id: id, name: id, description: `do ${id}`, ...target, ...change };
}

/** `tools(['a', toolTask('b')], ['a>b'])` */
export function tools(tasks: readonly (string | ToolTask)[], lines: readonly string[] = []): ToolConstellation {
  return {
    name: 'a plan',
    tasks: tasks.map((one) => (typeof one === 'string' ? toolTask(one) : one)),
    dependencies: lines.map((text) => {
      const [from = '', to = ''] = text.split('>');
      return { dependency_id: `${from}-${to}`, from_task_id: from, to_task_id: to };
    }),
  };
}

export function creation(change: Partial<CreationReply> = {}): CreationReply {
  const constellation = change.state === undefined || change.state === 'CONTINUE' ? tools(['a', 'b'], ['a>b']) : null;
  return {
    observation: '',
    thought: 'one after the other',
    state: 'CONTINUE',
    result: '',
    constellation,
    spare: [],
    ...change,
  };
}

export function editing(change: Partial<EditingReply> = {}): EditingReply {
  return {
    observation: '',
    thought: 'it is as it was planned',
    state: 'CONTINUE',
    result: '',
    actions: [],
    evidence: [],
    ...change,
  };
}

/** As it is recorded. */
export function jsonOf(value: unknown): Json {
  return JSON.parse(JSON.stringify(value)) as Json;
}

export function completed(taskId: string, value: Json = { exit_code: 0 }, attempt = 1): Input {
  const result = { value };
  return { kind: 'attempt-ended', taskId, attempt, attemptHash: HASH, finished: { status: 'completed', result } };
}

export function failed(taskId: string, attempt = 1): Input {
  const error = { code: 'EXIT_CODE', message: 'exit code 1', outcome: 'failed' } as const;
  return { kind: 'attempt-ended', taskId, attempt, attemptHash: HASH, finished: { status: 'failed', error } };
}

interface Told {
  readonly mode?: 'creation' | 'editing';
  readonly source?: PlanSource;
  readonly reply?: Json;
  readonly runbook?: RoundPlanned['runbook'];
  readonly calls?: readonly ModelCall[];
}

/** A model was asked. */
export const CALL: ModelCall = {
  model: 'some-model',
  endpoint: 'main',
  promptHash: HASH,
  parameters: {},
  reply: '{}',
  problems: [],
  error: null,
  tokens: { prompt: 1, completion: 1 },
  costUsd: null,
  startedAt: instant(0),
  durationMs: 1,
};

/** A run and what the planner has recorded of it, one step after the other. */
export class Story {
  run: Run = emptyRun('run-1');
  plan: PlanState = NO_PLAN;
  last: RunDecision | undefined;
  #fleet: FleetView = FLEET;
  #now = T0;
  #sequence = 0;

  /** A goal: there is no constellation until one is proposed. */
  static goal(options: RunOptions = {}): Story {
    return new Story().#requested(null, options);
  }

  /** A constellation that was given with the request. */
  static of(constellation: TaskConstellation, options: RunOptions = {}): Story {
    return new Story().#requested(constellation, { editPolicy: 'when-needed', ...options });
  }

  #requested(constellation: TaskConstellation | null, options: RunOptions): this {
    return this.when({
      kind: 'submit',
      requested: {
        requestId: 'request-1',
        namespace: 'default',
        contentHash: HASH,
        goal: constellation === null ? 'look after the disks' : null,
        constellation,
        options,
        metadata: {},
        requestedBy: { kind: 'external', id: 'default' },
        requestedAt: instant(0),
        deadlineAt: instant(24 * 60 * 60 * 1000),
      },
    });
  }

  get editId(): string {
    return this.run.editing?.editId ?? '';
  }

  get try(): number {
    return (this.run.editing?.tries ?? 0) + 1;
  }

  on(view: FleetView): this {
    this.#fleet = view;
    return this;
  }

  at(offsetMs: number): this {
    this.#now = T0 + offsetMs;
    return this;
  }

  when(...inputs: readonly Input[]): this {
    this.last = decide(this.run, inputs, { fleet: this.#fleet, now: this.#now, planner: true });
    this.run = foldEvents(this.run, this.last.events);
    return this;
  }

  /** As the orchestrator is told it. */
  proposes(proposed: Partial<ProposedPlan>, source: PlanSource = 'model', number = this.try): this {
    return this.when(proposal(proposalOf(proposed, this.editId, number), source));
  }

  /** An edit of a person's own. */
  edits(...edits: Proposal['edits']): this {
    const id = JSON.stringify(edits);
    const own = proposalOf({ edits }, null, 1);
    return this.when({ kind: 'verb', id, by: ALICE, action: { verb: 'PROPOSE', proposal: own, delegated: false } });
  }

  /** What the planner appends to PLANS in one commit. */
  recorded(...events: readonly PlanEvent[]): this {
    this.plan = evolvePlan(this.plan, planCommit(events, this.#sequence));
    this.#sequence += events.length;
    return this;
  }

  /** A plan for the open round: recorded, not yet heard by the orchestrator. */
  planned(proposed: Partial<ProposedPlan>, told: Told = {}): this {
    const { source = 'model' } = told;
    const found = proposalOf(proposed, this.editId, this.try);
    return this.recorded(this.thought(told), {
      type: 'PLAN_PROPOSED',
      data: { proposal: found, source, used: NO_USAGE },
    });
  }

  /** The first half of it. */
  thought({
    mode = this.run.editing?.mode ?? 'editing',
    source = 'model',
    reply = null,
    runbook,
    calls = [],
  }: Told = {}): PlanEvent {
    const { editId, try: number } = this;
    const { revision } = this.run;
    const data = { editId, try: number, mode, source, calls: [...calls], templates: [], revision, reply };
    return { type: 'ROUND_PLANNED', data: runbook === undefined ? data : { ...data, runbook } };
  }

  /** Recorded, and heard. */
  plans(proposed: Partial<ProposedPlan>, told: Told = {}): this {
    return this.planned(proposed, told).proposes(proposed, told.source);
  }
}

function proposalOf(proposed: Partial<ProposedPlan>, editId: string | null, number: number): Proposal {
  return { baseRevision: null, state: 'CONTINUE', edits: [], ...proposed, editId, try: number };
}

export function proposal(of: Proposal, source: PlanSource = 'model'): Input {
  return { kind: 'proposal', proposal: of, by: PLANNER, planHash: HASH, source, used: NO_USAGE };
}

export function build(constellation: TaskConstellation): Proposal['edits'][number] {
  return { tool: 'build_constellation', constellation, clear: true };
}

export function planCommit(events: readonly PlanEvent[], sequence = 0): PlanCommit {
  return {
    commit: '0'.repeat(26),
    number: 1,
    at: instant(0),
    by: { service: 'planner', instance: 'p' },
    causes: [],
    prevHash: HASH,
    hash: HASH,
    runId: 'run-1',
    events: events.map((event, index) => ({
      ...event,
      id: `p${sequence + index}`,
      sequence: sequence + index + 1,
      schemaVersion: 1,
    })),
  };
}
