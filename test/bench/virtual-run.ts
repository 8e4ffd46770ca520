import {
  NO_USAGE,
  type AgentProfile,
  type Edit,
  type EditPolicy,
  type LockPolicy,
  type Proposal,
  type RunCommit,
  type RunEvent,
  type RunEventData,
  type TaskConstellation,
} from '#proto';
import { decide, emptyRun, type FleetView, hasPlan, type Input, isTerminal, type Run } from '#libs/constellation';
import type { Plan } from './target.js';

/** How long everything outside of the orchestrator takes, in milliseconds. */
export interface Durations {
  readonly creation: number;
  /** Of one edit round; asked once per round. */
  readonly edit: () => number;
  readonly task: (taskId: string) => number;
}

export interface VirtualRun {
  readonly constellation: TaskConstellation;
  readonly editPolicy: EditPolicy;
  readonly lockPolicy: LockPolicy;
  /** What the planner proposes in a round; nothing to change when absent. */
  readonly edits?: (run: Run) => Edit[];
  readonly durations: Durations;
}

const T0 = Date.parse('2026-01-01T00:00:00.000Z');
const HASH = 'a'.repeat(64);
const STEPS_MAX = 100_000;

/** Everything fits on it: what is studied is who waits for the planner, not who waits for a device. */
const DEVICE: AgentProfile = {
  deviceId: 'any',
  status: 'connected',
  agent: 'LinuxAgent',
  os: 'linux',
  arch: 'x64',
  hostname: 'any',
  capabilities: [],
  tags: [],
  tools: [{ name: 'NOOP', description: '', readOnly: false }],
  resources: { cpuCount: 1, memoryMb: 1 },
  tasksMax: 1_000,
  held: null,
  session: { sessionId: 's1', gateway: 'g1', journalId: null, connectedAt: new Date(T0).toISOString() },
  revision: 1,
  enrolledAt: new Date(T0).toISOString(),
  changedAt: new Date(T0).toISOString(),
};

const FLEET: FleetView = {
  complete: true,
  watchedMs: Infinity,
  devices: new Map([[DEVICE.deviceId, DEVICE]]),
  running: () => 0,
  reserved: () => 0,
  circuit: () => ({ state: 'closed' }),
  agents: new Set(),
  slotsLeft: Infinity,
};

interface Due {
  readonly at: number;
  readonly input: (run: Run) => Input;
}

/** Plays a goal from its request to its end on a clock of its own, with the real decisions; gives its commits. */
export function playVirtually(virtual: VirtualRun): RunCommit[] {
  const { durations } = virtual;
  const commits: RunCommit[] = [];
  const due: Due[] = [{ at: T0, input: () => goal(virtual) }];
  let run = emptyRun('run-1');
  for (let step = 0; due.length > 0 && !isTerminal(run); step++) {
    if (step === STEPS_MAX) throw new Error('the run does not end');
    due.sort((one, other) => one.at - other.at);
    const next = due.shift();
    if (next === undefined) break;
    const decision = decide(run, [next.input(run)], { fleet: FLEET, now: next.at, planner: true });
    const { sequence } = run;
    if (decision.events.length === 0) continue;
    const commit = commitOf(decision.events, { number: commits.length + 1, sequence, at: next.at });
    commits.push(commit);
    run = { ...decision.run, sequence: sequence + decision.events.length };
    for (const event of decision.events) {
      if (event.type === 'TASK_STARTED') {
        const { taskId, attempt } = event.data;
        due.push({ at: next.at + durations.task(taskId), input: () => completed(taskId, attempt) });
      }
      if (event.type === 'EDIT_OPENED') {
        const { editId, mode } = event.data;
        const took = mode === 'creation' ? durations.creation : durations.edit();
        due.push({ at: next.at + took, input: (now) => answer(virtual, editId, now) });
      }
    }
  }
  if (!isTerminal(run)) throw new Error('the run waits for something that never comes');
  return commits;
}

function goal({ editPolicy, lockPolicy }: VirtualRun): Input {
  const options = { editPolicy, lockPolicy };
  return { kind: 'submit', requested: requested({ goal: 'the request', constellation: null, options }) };
}

function answer({ constellation, edits = () => [] }: VirtualRun, editId: string, run: Run): Input {
  const build: Edit[] = [{ tool: 'build_constellation', constellation, clear: true }];
  const proposal: Proposal = {
    editId,
    try: 1,
    baseRevision: null,
    state: 'CONTINUE',
    edits: hasPlan(run) ? edits(run) : build,
  };
  const by = { kind: 'system', id: 'planner' } as const;
  return { kind: 'proposal', by, planHash: null, source: 'rule', used: NO_USAGE, proposal };
}

function completed(taskId: string, attempt: number): Input {
  const finished = { status: 'completed', result: { value: { exit_code: 0 } } } as const;
  return { kind: 'attempt-ended', taskId, attempt, attemptHash: HASH, finished };
}

function commitOf(
  events: readonly RunEvent[],
  { number, sequence, at }: { number: number; sequence: number; at: number },
): RunCommit {
  return {
    commit: '0'.repeat(26),
    runId: 'run-1',
    number,
    at: new Date(at).toISOString(),
    by: { service: 'orchestrator', instance: 'bench' },
    causes: [],
    events: events.map((event, index) => ({
      id: `e${sequence + index + 1}`,
      sequence: sequence + index + 1,
      schemaVersion: 1,
      ...event,
    })),
    prevHash: HASH,
    hash: HASH,
  };
}

/** A plan as a constellation of tasks that do nothing. */
export function constellationOf({ name, tasks, lines }: Plan): TaskConstellation {
  return {
    name,
    tasks: tasks.map((id) => ({
      id,
      name: id,
      description: '',
      tips: [],
      target: { device: DEVICE.deviceId },
      command: { tool: 'NOOP', arguments: {} },
    })),
    lines: lines.map(([from, to]) => ({ id: `${from}-${to}`, from, to, type: 'unconditional' })),
  };
}

/** A given constellation from its request on, one result after the other, each in a commit of its own. */
export function playGiven(plan: Plan, commitsMax = Infinity): RunCommit[] {
  const commits: RunCommit[] = [];
  let run = emptyRun('run-1');
  const take = (input: Input): void => {
    const { sequence } = run;
    const decision = decide(run, [input], { fleet: FLEET, now: T0, planner: false });
    commits.push(commitOf(decision.events, { number: commits.length + 1, sequence, at: T0 }));
    run = { ...decision.run, sequence: sequence + decision.events.length };
  };
  take({ kind: 'submit', requested: requested({ constellation: constellationOf(plan), goal: null, options: {} }) });
  while (!isTerminal(run) && commits.length < commitsMax) {
    const [index] = run.running;
    const { star, attempt } = run.tasks.at(index ?? -1);
    take(completed(star.id, attempt));
  }
  return commits;
}

function requested(
  what: Pick<RunEventData<'RUN_REQUESTED'>, 'goal' | 'constellation' | 'options'>,
): RunEventData<'RUN_REQUESTED'> {
  return {
    requestId: 'request-1',
    namespace: 'default',
    contentHash: HASH,
    ...what,
    metadata: {},
    requestedBy: { kind: 'external', id: 'bench' },
    requestedAt: new Date(T0).toISOString(),
    deadlineAt: new Date(T0 + 24 * 60 * 60 * 1000).toISOString(),
  };
}
