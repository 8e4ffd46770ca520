import {
  AgentProfile,
  commandIdOf,
  GENESIS_HASH,
  NO_USAGE,
  RunCommit,
  type AttemptCommit,
  type AttemptFinished,
  type AttemptSubjectKind,
  type Cause,
  type ModelCall,
  type PlanCommit,
  type PlanEvent,
  type PlanSource,
  type Proposal,
  type RoundFailed,
  type RunId,
} from '#proto';
import {
  decide,
  emptyRun,
  evolveCommit,
  type Answer,
  type FleetView,
  type Input,
  type Run,
  type StandingApprovals,
  type TaskState,
  hasPlan,
} from '#libs/constellation';
import { sealCommit } from '#libs/event-log';

/** What was stored, in an order that causality allows: the end of an attempt before the commit that follows from it. */
export type HistoryStep =
  | { readonly kind: 'run'; readonly commit: RunCommit }
  | { readonly kind: 'attempt'; readonly subject: AttemptSubjectKind; readonly commit: AttemptCommit }
  | { readonly kind: 'plan'; readonly commit: PlanCommit };

export const START = Date.parse('2026-01-01T00:00:00.000Z');
export const DEVICES = ['web-1', 'web-2'] as const;

/** Decides inputs as the orchestrator would, and keeps what would be stored. */
export class History {
  readonly steps: HistoryStep[] = [];
  run: Run;
  now = START;
  /** The chain of the planner's steps. */
  #planned = { number: 0, sequence: 0, hash: GENESIS_HASH };

  constructor(runId: RunId) {
    this.run = emptyRun(runId);
  }

  /** Who may approve; undefined while nobody says. */
  approvers: readonly string[] | undefined;
  /** Words that were given for plans before. */
  standing: StandingApprovals | undefined;

  decide(inputs: readonly Input[]): void {
    const { now, approvers, standing } = this;
    const { events, answers } = decide(this.run, inputs, { fleet: FLEET, now, planner: true, approvers, standing });
    if (events.length === 0) return;
    const { runId, number, sequence, hash } = this.run;
    const recorded = events.map((event, index) => {
      const at = sequence + index + 1;
      return { id: `${runId}-${at}`, sequence: at, schemaVersion: 1, ...event };
    });
    const causes = inputs.flatMap((input, index) => causeOf(input, answers[index]));
    const draft = { ...this.#shape(`R${runId}N${number + 1}`), runId, number: number + 1, causes, events: recorded };
    // As it is read from the log: JSON knows no absent values.
    const commit = RunCommit.parse(JSON.parse(JSON.stringify(sealCommit(draft, hash))));
    this.run = evolveCommit(number === 0 ? undefined : this.run, commit);
    this.steps.push({ kind: 'run', commit });
  }

  /** The end of a task's running attempt; one that was told to stop is cancelled, with what it has printed. */
  endAttempt({ star, attempt, deviceId, sessionId, stopping }: TaskState, failing: boolean, stdout: string): Input {
    const { runId } = this.run;
    const { id: taskId, command = { tool: 'EXEC_CLI', arguments: {} } } = star;
    const key = { runId, taskId, attempt };
    const failed = failing || stopping !== null;
    const exitCode = stopping === null ? 1 : 143;
    const value = {
      stdout,
      stderr: failed ? 'it broke' : '',
      exit_code: failed ? exitCode : 0,
      command: JSON.stringify(command.arguments['command'] ?? ''),
      execution_time: 0.01,
      timestamp: instant(this.now),
      status: failed ? ('ERROR' as const) : ('SUCCESS' as const),
    };
    const error =
      stopping === null
        ? { code: 'EXIT_CODE', message: 'exit code 1', outcome: 'failed' as const }
        : { code: 'CANCELLED', message: 'the command was stopped', outcome: 'cancelled' as const };
    const finished: AttemptFinished = failed
      ? { status: 'failed', error: { ...error, output: { value } } }
      : { status: 'completed', result: { value } };
    const id = `${runId}-${taskId}-${attempt}`;
    const ended = {
      commandId: commandIdOf(key),
      deviceId: deviceId ?? '',
      sessionId: sessionId ?? '',
      command,
      state: failed ? (stopping === null ? ('FAILED' as const) : ('CANCELLED' as const)) : ('COMPLETED' as const),
      result: { value },
      error: failed ? error : null,
      startedAt: instant(this.now - 10),
      durationMs: 10,
    };
    const events = [
      { id: `${id}-1`, sequence: 1, schemaVersion: 1, type: 'COMMAND_FINISHED' as const, data: ended },
      { id: `${id}-2`, sequence: 2, schemaVersion: 1, type: 'ATTEMPT_FINISHED' as const, data: finished },
    ];
    const draft = { ...this.#shape(`A${id}`), ...key, number: 1, events };
    const commit = sealCommit(draft, '0'.repeat(64));
    this.steps.push({ kind: 'attempt', subject: 'end', commit });
    return { kind: 'attempt-ended', taskId, attempt, finished, attemptHash: commit.hash };
  }

  /** What the planner proposes, with the steps that it recorded before. */
  proposing(proposal: Proposal, source: PlanSource = 'rule'): Input {
    const { editId, try: count } = proposal;
    const used = { ...NO_USAGE, llmCalls: source === 'model' ? 1 : 0, tokens: source === 'model' ? 1_200 : 0 };
    const planned = {
      editId: editId ?? 'none',
      try: count,
      mode: hasPlan(this.run) ? ('editing' as const) : ('creation' as const),
      source,
      calls: source === 'model' ? [this.#call()] : [],
      templates: [],
      revision: this.run.revision,
      reply: null,
    };
    const planHash = this.#plans([
      { type: 'ROUND_PLANNED', data: planned },
      { type: 'PLAN_PROPOSED', data: { proposal, source, used } },
    ]);
    return { kind: 'proposal', proposal, by: { kind: 'system', id: 'planner' }, planHash, source, used };
  }

  /** What the planner says when it comes to nothing. */
  failing({ editId, try: count, error }: Pick<RoundFailed, 'editId' | 'try' | 'error'>): Input {
    const round = { editId, try: count, error, used: NO_USAGE };
    const planHash = this.#plans([{ type: 'ROUND_FAILED', data: { ...round, calls: [], templates: [] } }]);
    return { kind: 'round-failed', ...round, planHash };
  }

  #plans(events: readonly PlanEvent[]): string {
    const { runId } = this.run;
    const { number, sequence, hash } = this.#planned;
    const recorded = events.map((event, index) => {
      const at = sequence + index + 1;
      return { id: `${runId}-plan-${at}`, sequence: at, schemaVersion: 1, ...event };
    });
    const draft = { ...this.#shape(`P${runId}N${number + 1}`), runId, number: number + 1, events: recorded };
    const commit = JSON.parse(JSON.stringify(sealCommit(draft, hash))) as PlanCommit;
    this.#planned = { number: commit.number, sequence: sequence + events.length, hash: commit.hash };
    this.steps.push({ kind: 'plan', commit });
    return commit.hash;
  }

  #call(): ModelCall {
    return {
      model: 'some-model',
      endpoint: 'main',
      promptHash: 'a'.repeat(64),
      parameters: {},
      reply: '{}',
      problems: [],
      error: null,
      tokens: { prompt: 1_000, completion: 200 },
      costUsd: null,
      startedAt: instant(this.now),
      durationMs: 900,
    };
  }

  #shape(name: string) {
    return {
      commit: ulidLike(name),
      at: instant(this.now),
      by: { service: 'orchestrator', instance: 'test' },
      causes: [],
    };
  }
}

/** Verbs are decided once by their id, so their commit names it. */
function causeOf(input: Input, answer: Answer | undefined): Cause[] {
  if (input.kind !== 'verb' && input.kind !== 'fork') return [];
  const recorded = answer?.kind === 'rejected' && answer.recorded === true;
  if (answer?.kind !== 'accepted' && !recorded) return [];
  return [{ kind: 'verb', id: input.id, ...(recorded ? { rejected: true as const } : {}) }];
}

const FLEET: FleetView = {
  complete: true,
  watchedMs: Infinity,
  running: () => 0,
  reserved: () => 0,
  circuit: () => ({ state: 'closed' }),
  slotsLeft: Infinity,
  agents: new Set(['LinuxAgent']),
  devices: new Map(
    DEVICES.map((deviceId) => [
      deviceId,
      AgentProfile.parse({
        deviceId,
        status: 'connected',
        agent: 'LinuxAgent',
        os: 'linux',
        arch: 'x64',
        hostname: deviceId,
        capabilities: ['cli'],
        tags: [],
        tools: [{ name: 'EXEC_CLI' }],
        resources: { cpuCount: 2, memoryMb: 1_024 },
        tasksMax: 100,
        session: { sessionId: `s-${deviceId}`, gateway: 'g', journalId: 'j', connectedAt: instant(START) },
        revision: 1,
        enrolledAt: instant(START),
        changedAt: instant(START),
      }),
    ]),
  ),
};

export function instant(ms: number): string {
  return new Date(ms).toISOString();
}

/** 26 characters of a ULID's alphabet that depend on the name alone. */
function ulidLike(name: string): string {
  let hash = 0x811c9dc5;
  for (let index = 0; index < name.length; index++) hash = Math.imul(hash ^ name.charCodeAt(index), 0x01000193);
  const random = randomOf(hash);
  const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
  return Array.from({ length: 26 }, () => alphabet[Math.floor(random() * 32)]).join('');
}

/** Mulberry32: small, good enough, the same everywhere. */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
