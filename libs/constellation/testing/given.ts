import {
  type Actor,
  type AgentProfile,
  type Ask,
  attemptOfCommand,
  type LineChange,
  type LineType,
  NO_USAGE,
  Proposal,
  type Role,
  type RunEvent,
  type RunEventData,
  type TaskChange,
  type TaskConstellation,
  type Usage,
} from '#proto';
import type { Answer } from '../values/answer.js';
import type { Control } from '../decide/control.js';
import { decide, type RunDecision } from '../decide/decide.js';
import type { Input, PlannedRound } from '../decide/input.js';
import type { RoundFailure } from '../decide/edit-cycle.js';
import { foldEvents, withVerbs } from '../fold/evolve.js';
import type { FleetView } from '../edits/fleet-view.js';
import { emptyRun, type Run, type Standing } from '../state/run.js';
import type { StandingApprovals } from '../state/standing.js';

/** Test vocabulary of the core: `given(facts).at(now).when(inputs).then(...)`. Data is fixed. */
export const T0 = Date.parse('2026-01-01T00:00:00.000Z');
export const HASH = 'a'.repeat(64);

const instants = new Map<number, string>();

export function instant(offsetMs: number): string {
  const text = instants.get(offsetMs) ?? new Date(T0 + offsetMs).toISOString();
  instants.set(offsetMs, text);
  return text;
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

export function fleet(
  devices: readonly AgentProfile[],
  running: Record<string, number> = {},
  complete = true,
): FleetView {
  return {
    complete,
    watchedMs: complete ? Infinity : 0,
    devices: new Map(devices.map((profile) => [profile.deviceId, profile])),
    running: (deviceId) => running[deviceId] ?? 0,
    reserved: () => 0,
    circuit: () => ({ state: 'closed' }),
    agents: new Set(),
    slotsLeft: Infinity,
  };
}

/** Somebody serves the agents of these devices. */
export function withAgents(view: FleetView, agents: readonly string[] = ['LinuxAgent']): FleetView {
  return { ...view, agents: new Set(agents) };
}

export const TWO_DEVICES = fleet([device('web-1'), device('db-1', { tags: ['db'] })]);

type TaskSpec = Partial<TaskConstellation['tasks'][number]> & { readonly id: string };

/** `constellation(['a', {id: 'b', retry: ...}], ['a->b', 'a=>c', 'a?result.x == 1>d'])`: `->` unconditional, `=>` success-only, `!>` failure-only. */
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

const ARROWS: Readonly<Record<string, LineType>> = { '=>': 'success-only', '!>': 'failure-only' };

function lineOf(text: string): TaskConstellation['lines'][number] {
  const conditional = /^(?<from>\w+)\?(?<condition>.+)>(?<to>\w+)$/u.exec(text)?.groups;
  if (conditional !== undefined) {
    const { from = '', to = '', condition = '' } = conditional;
    return { id: `${from}-${to}`, from, to, type: 'conditional', condition };
  }
  const [from = '', arrow = '', to = ''] = text.split(/(->|=>|!>)/u);
  return { id: `${from}-${to}`, from, to, type: ARROWS[arrow] ?? 'unconditional' };
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

/** A request for a goal: there is no constellation until the planner has proposed one. */
export function ask(change: Partial<RunEventData<'RUN_REQUESTED'>> = {}): Input {
  return submit(constellation(['none']), { constellation: null, goal: 'look after the disks', ...change });
}

export function completed(taskId: string, attempt = 1, value: unknown = { exit_code: 0 }): Input {
  const result = { value: value as never };
  return { kind: 'attempt-ended', taskId, attempt, attemptHash: HASH, finished: { status: 'completed', result } };
}

export function failed(
  taskId: string,
  attempt = 1,
  outcome: 'failed' | 'timed_out' | 'cancelled' | 'device_lost' | 'unknown' = 'failed',
  code = 'EXIT_CODE',
): Input {
  const error = { code, message: 'exit code 1', outcome };
  return { kind: 'attempt-ended', taskId, attempt, attemptHash: HASH, finished: { status: 'failed', error } };
}

/** What an attempt asks a person about a command; `approvalId` as `commandIdOf` gives it. */
export function commandAsk(
  approvalId: string,
  change: Partial<Extract<Ask, { kind: 'approval' }>> = {},
): Extract<Ask, { kind: 'approval' }> {
  return {
    kind: 'approval',
    approvalId,
    deviceId: 'web-1',
    agent: 'LinuxAgent',
    step: 1,
    thought: 'The old logs fill the disk.',
    plan: ['remove them', 'look again'],
    expiresAt: instant(15 * 60_000),
    command: { tool: 'EXEC_CLI', arguments: { command: 'rm -r /srv/old' } },
    class: 'destructive',
    rule: 'program.rm',
    reasons: ['rm removes files'],
    policyHash: HASH,
    grantable: true,
    ...change,
  };
}

export function questionAsk(approvalId: string, question = 'Which of the two?'): Extract<Ask, { kind: 'question' }> {
  const { deviceId, agent, step, thought, plan, expiresAt } = commandAsk(approvalId);
  return { kind: 'question', approvalId, deviceId, agent, step, thought, plan, expiresAt, question };
}

/** The attempt that the id of an ask names waits for a person. */
export function asked(ask: Ask): Input {
  const { taskId = '', attempt = 0 } = attemptOfCommand(ask.approvalId) ?? {};
  return { kind: 'asked', taskId, attempt, ask, attemptHash: HASH };
}

/** The run as if it stood there, whatever has become of its tasks. */
export function standing(run: Run, to: Standing): Run {
  return { ...run, ...to } as Run;
}

export const WAKE: Input = { kind: 'wake' };

export const ALICE: Actor = { kind: 'person', id: 'alice' };
export const PLANNER: Actor = { kind: 'system', id: 'planner' };

/** A verb of Alice's; every one has an id of its own unless one is given. */
export function verb(action: Control, id = JSON.stringify(action), by: Actor = ALICE): Input {
  return { kind: 'verb', id, by, action };
}

/** The planner's answer to a round: `propose('e1', [add('x')], {try: 2})`. */
export function propose(
  editId: string | null,
  edits: readonly unknown[],
  change: Partial<Proposal> = {},
  made: Partial<PlannedRound> = {},
): Extract<Input, { kind: 'proposal' }> {
  const proposal = Proposal.parse({ editId, edits, ...change });
  return { kind: 'proposal', by: PLANNER, planHash: null, source: 'rule', used: NO_USAGE, proposal, ...made };
}

/** The same, as a model wrote it. */
export function imagine(
  editId: string | null,
  edits: readonly unknown[],
  change: Partial<Proposal> = {},
  used: Partial<Usage> = {},
): Input {
  return propose(editId, edits, change, { source: 'model', planHash: HASH, used: { ...NO_USAGE, ...used } });
}

/** The planner's word that it comes to nothing. */
export function giveUp(editId: string, message: string, change: Partial<RoundFailure> = {}): Input {
  const error = { code: 'NO_MODEL', message };
  return { kind: 'round-failed', editId, try: 1, error, used: NO_USAGE, planHash: HASH, ...change };
}

interface Inserted {
  readonly by?: Actor;
  readonly delegated?: boolean;
  readonly id?: string;
  /** Nobody asks when absent. */
  readonly roles?: readonly Role[];
}

/** An edit that nobody asked for, as a verb. */
export function insert(
  edits: readonly unknown[],
  { by = ALICE, delegated = false, id = JSON.stringify(edits), roles }: Inserted = {},
): Input {
  const proposal = Proposal.parse({ edits });
  return { kind: 'verb', id, by, action: { verb: 'PROPOSE', proposal, delegated }, roles };
}

export const add = {
  task: (id: string, change: Partial<TaskConstellation['tasks'][number]> = {}) => ({
    tool: 'add_task',
    task: constellation([{ id, ...change }]).tasks[0],
  }),
  line: (text: string) => ({ tool: 'add_dependency', line: lineOf(text) }),
};

export const change = {
  task: (taskId: string, to: TaskChange) => ({ tool: 'update_task', taskId, change: to }),
  line: (lineId: string, to: LineChange) => ({ tool: 'update_dependency', lineId, change: to }),
};

export const remove = {
  task: (taskId: string) => ({ tool: 'remove_task', taskId }),
  line: (lineId: string) => ({ tool: 'remove_dependency', lineId }),
};

export function build(plan: TaskConstellation, clear = true) {
  return { tool: 'build_constellation', constellation: plan, clear };
}

/** A story: inputs decided one after the other, everything that happened kept. */
export class Story {
  readonly events: RunEvent[] = [];
  readonly answers: Answer[] = [];
  run: Run = emptyRun('run-1');
  last: RunDecision | undefined;
  #fleet: FleetView = TWO_DEVICES;
  #now = T0;
  #planner = true;
  #model: boolean | undefined;
  #approvers: readonly string[] | undefined;
  #standing: StandingApprovals | undefined;

  /** Nobody is there who makes plans. */
  withoutPlanner(): this {
    this.#planner = false;
    return this;
  }

  /** Somebody plans, and has no model to ask. */
  withoutModel(): this {
    this.#model = false;
    return this;
  }

  /** These may approve, and nobody else. */
  approvedBy(...approvers: readonly string[]): this {
    this.#approvers = approvers;
    return this;
  }

  /** These words were given for the content of plans before. */
  withStanding(standing: StandingApprovals): this {
    this.#standing = standing;
    return this;
  }

  /** Goes on from a state that was reached in another way. */
  from(run: Run): this {
    this.run = run;
    return this;
  }

  get fleet(): FleetView {
    return this.#fleet;
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
    const before = this.run;
    const decision = decide(before, inputs, {
      fleet: this.#fleet,
      now: this.#now,
      planner: this.#planner,
      model: this.#model,
      approvers: this.#approvers,
      standing: this.#standing,
    });
    this.last = decision;
    this.events.push(...decision.events);
    this.answers.push(...decision.answers);
    const verbs = withVerbs(before.verbs, causesOf(inputs, decision), this.events.length);
    this.run = { ...foldEvents(before, decision.events), verbs };
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

/** The verbs that the shell would write into the commit as its causes. */
function causesOf(
  inputs: readonly Input[],
  { answers, events }: RunDecision,
): { kind: 'verb'; id: string; rejected?: true }[] {
  if (events.length === 0) return [];
  return inputs.flatMap((input, index) => {
    const answer = answers[index];
    if (input.kind !== 'verb' || answer === undefined) return [];
    if (answer.kind === 'accepted' && answer.sequence === undefined) return [{ kind: 'verb' as const, id: input.id }];
    if (answer.kind !== 'rejected' || answer.recorded !== true) return [];
    return [{ kind: 'verb' as const, id: input.id, rejected: true as const }];
  });
}

export function tell(event: RunEvent): string {
  const { type, data } = event;
  switch (type) {
    case 'TASKS_WAITING':
      return [type, ...data.began.map((id) => `+${id}`), ...data.over.map((id) => `-${id}`)].join(' ');
    case 'FAN_OUT_STARTED':
      return `${type} ${data.taskId} ${data.parts.map(({ deviceId }) => deviceId).join(' ')}`;
    case 'WAVE_STARTED':
      return `${type} ${data.taskId} ${data.wave} ${data.parts.map(({ deviceId }) => deviceId).join(' ')}`;
    case 'TASK_STARTED':
      return `${type} ${data.taskId} ${data.attempt} on ${data.deviceId}${data.judge === true ? ' judged' : ''}`;
    case 'TASK_FAILED':
      return `${type} ${data.taskId} ${data.attempt} ${data.error.code} ${data.error.outcome}`;
    case 'TASK_SKIPPED':
      return `${type} ${data.taskId} by ${data.by}`;
    case 'TASK_COMPLETED':
      return `${type} ${data.taskId} ${data.attempt}`;
    case 'TASK_REOPENED':
      return `${type} ${data.taskId} ${data.attempt}${data.reason === 'operator' ? ' by operator' : ''}`;
    case 'TASK_CANCELLED':
    case 'TASK_STOP_REQUESTED':
      return `${type} ${data.taskId} ${data.attempt} ${data.reason}`;
    case 'EDIT_OPENED':
      return `${type} ${data.editId} ${data.triggers.map(tellTrigger).join(' ')} ${data.lockPolicy}`;
    case 'EDIT_REJECTED':
      return `${type} ${data.editId} try ${data.try} ${data.violations.map(({ code }) => code).join(' ')}`;
    case 'EDIT_ABANDONED':
      return `${type} ${data.editId} ${data.reason.code}`;
    case 'CONSTELLATION_MODIFIED':
      return data.edits === undefined ? type : `${type} ${data.editId ?? 'unasked'} revision ${data.revision}`;
    case 'RUN_COMPLETED':
      return `${type} ${data.outcome}`;
    case 'RUN_FAILED':
      return `${type} ${data.reason.code}`;
    case 'RUN_CANCELLED':
    case 'RUN_RESUMED':
    case 'RUN_REOPENED':
      return `${type} by ${data.by.id}`;
    case 'APPROVAL_REQUESTED':
      return `${type} ${data.ask.kind} ${tellAsk(data.ask.approvalId)}`;
    case 'APPROVAL_GIVEN':
      return `${type} ${tellAsk(data.approvalId)}${data.command === undefined ? '' : ' edited'} by ${data.by.id}`;
    case 'BOARD_WRITTEN':
      return `${type} ${data.name} ${data.revision}${data.judge === true ? ' judged' : ''}${data.value === undefined ? ' off' : ''}`;
    case 'WORKSPACE_DISCARDED':
      return `${type} ${data.deviceId} by ${data.by.id}`;
    case 'WORDS_SAID':
      return `${type} ${data.number} by ${data.by.id}`;
    case 'PLAN_ACCEPTED':
      return `${type} revision ${data.revision} by ${data.by.id}`;
    case 'APPROVAL_DECIDED': {
      const grant = data.grantOf === undefined ? '' : ` grant of ${tellAsk(data.grantOf)}`;
      return `${type} ${tellAsk(data.approvalId)} ${data.decision} by ${data.by.id}${grant}`;
    }
    case 'RUN_PAUSED':
    case 'RUN_ANNOTATED':
    case 'RUN_REQUESTED':
    case 'RUN_FORKED':
      return type;
  }
}

/** Without the run: `a.1.2.0` is the first command of the second step of the first attempt of a. */
function tellAsk(approvalId: string): string {
  return approvalId.slice(approvalId.indexOf('.') + 1);
}

function tellTrigger(trigger: RunEventData<'EDIT_OPENED'>['triggers'][number]): string {
  if (trigger.kind === 'device') return `no-device-for-${trigger.taskId}`;
  if (trigger.kind === 'words') return `words.${trigger.number}`;
  return trigger.kind === 'task' ? `${trigger.taskId}.${trigger.attempt}` : trigger.kind;
}
