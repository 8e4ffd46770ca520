import type { AgentProfile, RunEvent, RunEventData, TaskConstellation } from '#proto';
import { type Answer, decide, type Decision, type Input } from './decide.js';
import { foldEvents } from './evolve.js';
import type { FleetView } from './fleet-view.js';
import { emptyRun, type Run } from './run.js';

/** Test vocabulary of the core: `given(facts).at(now).when(inputs).then(...)`. Data is fixed. */
export const T0 = Date.parse('2026-01-01T00:00:00.000Z');
export const HASH = 'a'.repeat(64);

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
    session: { sessionId: `${deviceId}-s1`, gateway: 'g', journalId: `${deviceId}-j`, connectedAt: instant(0) },
    revision: 1,
    enrolledAt: instant(0),
    changedAt: instant(0),
    ...change,
  };
}

export function fleet(
  devices: readonly AgentProfile[],
  running: Record<string, number> = {},
  complete = true,
): FleetView {
  return {
    complete,
    devices: new Map(devices.map((profile) => [profile.deviceId, profile])),
    running: (deviceId) => running[deviceId] ?? 0,
  };
}

export const TWO_DEVICES = fleet([device('web-1'), device('db-1', { tags: ['db'] })]);

type TaskSpec = Partial<TaskConstellation['tasks'][number]> & { readonly id: string };

/** `constellation(['a', {id: 'b', retry: ...}], ['a->b', 'a=>c', 'a?result.x == 1>d'])`: `->` unconditional, `=>` success-only. */
export function constellation(tasks: readonly (string | TaskSpec)[], lines: readonly string[] = []): TaskConstellation {
  return {
    name: 'test',
    tasks: tasks.map((spec) => {
      const { id, ...change } = typeof spec === 'string' ? { id: spec } : spec;
      const command = { tool: 'EXEC_CLI', arguments: { command: 'true' } };
      return { id, name: id, description: '', tips: [], target: { device: 'web-1' }, command, ...change };
    }),
    lines: lines.map(lineOf),
  };
}

function lineOf(text: string): TaskConstellation['lines'][number] {
  const conditional = /^(?<from>\w+)\?(?<condition>.+)>(?<to>\w+)$/u.exec(text)?.groups;
  if (conditional !== undefined) {
    const { from = '', to = '', condition = '' } = conditional;
    return { id: `${from}-${to}`, from, to, type: 'conditional', condition };
  }
  const [from = '', arrow = '', to = ''] = text.split(/(->|=>)/u);
  return { id: `${from}-${to}`, from, to, type: arrow === '=>' ? 'success-only' : 'unconditional' };
}

export function requested(
  plan: TaskConstellation,
  change: Partial<RunEventData<'RUN_REQUESTED'>> = {},
): RunEventData<'RUN_REQUESTED'> {
  return {
    requestId: 'request-1',
    namespace: 'default',
    contentHash: HASH,
    goal: null,
    constellation: plan,
    options: {},
    metadata: {},
    requestedBy: { kind: 'external', id: 'default' },
    requestedAt: instant(0),
    deadlineAt: instant(24 * 60 * 60 * 1000),
    ...change,
  };
}

export function submit(plan: TaskConstellation, change: Partial<RunEventData<'RUN_REQUESTED'>> = {}): Input {
  return { kind: 'submit', requested: requested(plan, change) };
}

export function completed(taskId: string, attempt = 1, value: unknown = { exit_code: 0 }): Input {
  const result = { value: value as never };
  return { kind: 'attempt-ended', taskId, attempt, attemptHash: HASH, finished: { status: 'completed', result } };
}

export function failed(
  taskId: string,
  attempt = 1,
  outcome: 'failed' | 'timed_out' | 'cancelled' | 'device_lost' | 'unknown' = 'failed',
): Input {
  const error = { code: 'EXIT_CODE', message: 'exit code 1', outcome };
  return { kind: 'attempt-ended', taskId, attempt, attemptHash: HASH, finished: { status: 'failed', error } };
}

export const WAKE: Input = { kind: 'wake' };

/** A story: inputs decided one after the other, everything that happened kept. */
export class Story {
  readonly events: RunEvent[] = [];
  readonly answers: Answer[] = [];
  run: Run = emptyRun('run-1');
  last: Decision | undefined;
  #fleet: FleetView = TWO_DEVICES;
  #now = T0;

  on(view: FleetView): this {
    this.#fleet = view;
    return this;
  }

  at(offsetMs: number): this {
    this.#now = T0 + offsetMs;
    return this;
  }

  when(...inputs: readonly Input[]): this {
    const before = this.run;
    const decision = decide(before, inputs, { fleet: this.#fleet, now: this.#now });
    this.last = decision;
    this.events.push(...decision.events);
    this.answers.push(...decision.answers);
    this.run = foldEvents(before, decision.events);
    return this;
  }

  /** The last decision, an event per line: type, task, and what matters of it. */
  get told(): string[] {
    return (this.last?.events ?? []).map(tell);
  }

  status(taskId: string): string | undefined {
    return [...this.run.tasks].find(({ star }) => star.id === taskId)?.status;
  }
}

export function tell({ type, data }: RunEvent): string {
  switch (type) {
    case 'TASK_STARTED':
      return `${type} ${data.taskId} ${data.attempt} on ${data.deviceId}`;
    case 'TASK_FAILED':
      return `${type} ${data.taskId} ${data.attempt} ${data.error.code} ${data.error.outcome}`;
    case 'TASK_SKIPPED':
      return `${type} ${data.taskId} by ${data.by}`;
    case 'TASK_COMPLETED':
    case 'TASK_CANCELLED':
    case 'TASK_REOPENED':
      return `${type} ${data.taskId} ${data.attempt}`;
    case 'TASK_STOP_REQUESTED':
      return `${type} ${data.taskId} ${data.attempt} ${data.reason}`;
    case 'RUN_COMPLETED':
      return `${type} ${data.outcome}`;
    case 'RUN_FAILED':
      return `${type} ${data.reason.code}`;
    case 'RUN_PAUSED':
    case 'RUN_ANNOTATED':
    case 'RUN_REQUESTED':
    case 'CONSTELLATION_MODIFIED':
      return type;
  }
}
