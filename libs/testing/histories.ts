import {
  AgentProfile,
  commandIdOf,
  TaskConstellation,
  type AttemptCommit,
  type AttemptFinished,
  type AttemptSubjectKind,
  type RunCommit,
  type RunId,
} from '#proto';
import { decide, emptyRun, evolveCommit, isTerminal, type FleetView, type Input, type Run } from '#libs/constellation';
import { sealCommit } from '#libs/event-log';

/** What was stored, in an order that causality allows: the end of an attempt before the commit that follows from it. */
export type HistoryStep =
  | { readonly kind: 'run'; readonly commit: RunCommit }
  | { readonly kind: 'attempt'; readonly subject: AttemptSubjectKind; readonly commit: AttemptCommit };

export interface HistoryOptions {
  readonly seed: number;
  readonly tasks?: number;
  /** What stdout of every command holds besides its number. */
  readonly output?: string;
}

const STEPS_MAX = 5_000;
const START = Date.parse('2026-01-01T00:00:00.000Z');
const DEVICES = ['web-1', 'web-2'] as const;

/** One whole run as the real decider decides it, with tasks that complete, fail, are tried again, skipped and annotated. The same seed gives the same history. */
export function generateHistory({ seed, tasks = 6, output = '' }: HistoryOptions): HistoryStep[] {
  const random = randomOf(seed);
  const runId = `run${seed}`;
  const history = new History(runId);
  const constellation = constellationOf(random, tasks);
  const requested = {
    requestId: `request-${seed}`,
    namespace: 'default',
    contentHash: 'c'.repeat(64),
    goal: null,
    constellation,
    options: {},
    metadata: { note: output },
    requestedBy: { kind: 'external' as const, id: 'ops' },
    requestedAt: instant(START),
    deadlineAt: instant(START + 86_400_000),
  };
  history.decide([{ kind: 'submit', requested }]);
  for (let steps = 0; !isTerminal(history.run) && steps < STEPS_MAX; steps++) {
    history.now += 1 + Math.floor(random() * 900);
    const running = [...history.run.running].map((index) => history.run.tasks.at(index));
    const ending = running.filter(() => random() < 0.6);
    const inputs = ending.map(({ star, attempt, deviceId, sessionId }) => {
      const failed = random() < 0.25;
      const ends = {
        taskId: star.id,
        attempt,
        device: deviceId ?? '',
        session: sessionId ?? '',
        command: star.command,
      };
      return history.endAttempt(ends, failed, `${output}${steps}`);
    });
    history.decide(inputs.length > 0 ? inputs : [{ kind: 'wake' }]);
  }
  const started = [...history.run.tasks].find(({ attempt }) => attempt > 0);
  if (started !== undefined) {
    const attemptHash = 'd'.repeat(64);
    const { attempt } = started;
    history.decide([{ kind: 'late-result', taskId: started.star.id, attempt, text: `late ${output}`, attemptHash }]);
  }
  return history.steps;
}

/** The commits of the run alone. */
export function runCommitsOf(steps: readonly HistoryStep[]): RunCommit[] {
  return steps.flatMap((step) => (step.kind === 'run' ? [step.commit] : []));
}

export function attemptCommitsOf(steps: readonly HistoryStep[]): AttemptCommit[] {
  return steps.flatMap((step) => (step.kind === 'attempt' ? [step.commit] : []));
}

interface Ends {
  readonly taskId: string;
  readonly attempt: number;
  readonly device: string;
  readonly session: string;
  readonly command: TaskConstellation['tasks'][number]['command'];
}

class History {
  readonly steps: HistoryStep[] = [];
  run: Run;
  now = START;

  constructor(runId: RunId) {
    this.run = emptyRun(runId);
  }

  decide(inputs: readonly Input[]): void {
    const { events } = decide(this.run, inputs, { fleet: FLEET, now: this.now });
    if (events.length === 0) return;
    const { runId, number, sequence, hash } = this.run;
    const recorded = events.map((event, index) => {
      const at = sequence + index + 1;
      return { id: `${runId}-${at}`, sequence: at, schemaVersion: 1, ...event };
    });
    const draft = { ...this.#shape(`R${runId}N${number + 1}`), runId, number: number + 1, events: recorded };
    const commit = sealCommit(draft, hash);
    this.run = evolveCommit(number === 0 ? undefined : this.run, commit);
    this.steps.push({ kind: 'run', commit });
  }

  endAttempt({ taskId, attempt, device, session, command }: Ends, failed: boolean, stdout: string): Input {
    const { runId } = this.run;
    const key = { runId, taskId, attempt };
    const value = {
      stdout,
      stderr: failed ? 'it broke' : '',
      exit_code: failed ? 1 : 0,
      command: JSON.stringify(command.arguments['command']),
      execution_time: 0.01,
      timestamp: instant(this.now),
      status: failed ? ('ERROR' as const) : ('SUCCESS' as const),
    };
    const error = { code: 'EXIT_CODE', message: 'exit code 1', outcome: 'failed' as const };
    const finished: AttemptFinished = failed
      ? { status: 'failed', error: { ...error, output: { value } } }
      : { status: 'completed', result: { value } };
    const id = `${runId}-${taskId}-${attempt}`;
    const ended = {
      commandId: commandIdOf(key),
      deviceId: device,
      sessionId: session,
      command,
      state: failed ? ('FAILED' as const) : ('COMPLETED' as const),
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

  #shape(name: string) {
    return {
      commit: ulidLike(name),
      at: instant(this.now),
      by: { service: 'orchestrator', instance: 'test' },
      causes: [],
    };
  }
}

function constellationOf(random: () => number, count: number): TaskConstellation {
  const tasks = Array.from({ length: count }, (_, index) => ({
    id: `t${index}`,
    name: `Task | ${index}`,
    target: { device: DEVICES[index % DEVICES.length] },
    command: { tool: 'EXEC_CLI', arguments: { command: `echo ${index}` } },
    ...(random() < 0.4 ? { retry: { attempts: 2, backoffMs: 50 } } : {}),
  }));
  const lines = tasks.flatMap((_, to) =>
    Array.from({ length: to }, (__, from) => from)
      .filter((from) => random() < Math.min(0.4, 2 / (to - from + 1)) && to - from < 20)
      .map((from) => ({ id: `l${from}-${to}`, from: `t${from}`, to: `t${to}`, ...lineType(random()) })),
  );
  return TaskConstellation.parse({ name: 'generated \u0000 history', tasks, lines });
}

function lineType(chance: number): { type: string; condition?: string } {
  if (chance < 0.4) return { type: 'unconditional' };
  if (chance < 0.7) return { type: 'success-only' };
  return { type: 'conditional', condition: 'result.exit_code == 0' };
}

const FLEET: FleetView = {
  complete: true,
  running: () => 0,
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

function instant(ms: number): string {
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
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
