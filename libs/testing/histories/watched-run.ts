import { runIdOf } from '#libs/event-log';
import { TaskConstellation, type RunCommit } from '#proto';
import { runCommitsOf } from './histories.js';
import { History } from './history-writer.js';

const STEPS = 25;

/** Pipelines of 25 tasks beside each other; every other task also waits for one of the pipeline below it. */
export function pipelines(tasks: number): TaskConstellation {
  const all = Array.from({ length: tasks }, (_, index) => ({ row: Math.floor(index / STEPS), step: index % STEPS }));
  const id = (row: number, step: number): string => `p${row}-${step}`;
  const line = (from: string, to: string) => ({ id: `${from}_${to}`, from, to, type: 'success-only' });
  return TaskConstellation.parse({
    name: `${tasks} tasks in pipelines`,
    tasks: all.map(({ row, step }, index) => ({
      id: id(row, step),
      name: `Step ${step} of pipeline ${row}`,
      target: { device: `web-${(index % 2) + 1}` },
      command: { tool: 'EXEC_CLI', arguments: { command: 'true' } },
    })),
    lines: all.flatMap(({ row, step }) => [
      ...(step === 0 ? [] : [line(id(row, step - 1), id(row, step))]),
      ...(step > 0 && (row + 1) * STEPS + step <= tasks && (row + step) % 2 === 0
        ? [line(id(row + 1, step - 1), id(row, step))]
        : []),
    ]),
  });
}

/** A run of so many tasks as the real decider decides it, one result in each commit; the first commit has the plan. */
export function watchedRun(requestId: string, tasks: number): RunCommit[] {
  const history = new History(runIdOf('default', requestId));
  const at = new Date(history.now).toISOString();
  const requested = {
    requestId,
    namespace: 'default',
    contentHash: 'c'.repeat(64),
    goal: null,
    constellation: pipelines(tasks),
    options: {},
    metadata: {},
    requestedBy: { kind: 'person' as const, id: 'cli' },
    requestedAt: at,
    deadlineAt: new Date(history.now + 86_400_000).toISOString(),
  };
  history.decide([{ kind: 'submit', requested }]);
  for (let [next] = history.run.running; next !== undefined; [next] = history.run.running) {
    history.now += 10;
    history.decide([history.endAttempt(history.run.tasks.at(next), false, 'done')]);
  }
  return runCommitsOf(history.steps);
}
