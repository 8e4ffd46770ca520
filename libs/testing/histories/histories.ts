import { TaskConstellation, type AttemptCommit, type PlanCommit, type RunCommit } from '#proto';
import { isTerminal } from '#libs/constellation';
import { DEVICES, History, instant, randomOf, START, type HistoryStep } from './history-writer.js';

export interface HistoryOptions {
  readonly seed: number;
  readonly tasks?: number;
  /** What stdout of every command holds besides its number. */
  readonly output?: string;
}

const STEPS_MAX = 5_000;

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
    const inputs = ending.map((task) => history.endAttempt(task, random() < 0.25, `${output}${steps}`));
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

export function planCommitsOf(steps: readonly HistoryStep[]): PlanCommit[] {
  return steps.flatMap((step) => (step.kind === 'plan' ? [step.commit] : []));
}

export function attemptCommitsOf(steps: readonly HistoryStep[]): AttemptCommit[] {
  return steps.flatMap((step) => (step.kind === 'attempt' ? [step.commit] : []));
}

export function constellationOf(random: () => number, count: number): TaskConstellation {
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
  if (chance < 0.8) return { type: 'failure-only' };
  return { type: 'conditional', condition: 'result.exit_code == 0' };
}
