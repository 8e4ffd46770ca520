/** Longer than a test may last. */
const GATE_SECONDS = 600;

interface PlanTask {
  readonly id: string;
  readonly name: string;
}

/** A task that runs exactly this command. */
export function runs(id: string, name: string, command: string, device = 'web-1'): PlanTask {
  const target = { device };
  return { id, name, target, command: { tool: 'EXEC_CLI', arguments: { command, timeout: GATE_SECONDS } } } as PlanTask;
}

/** Tasks one after the other. */
export function inARow(name: string, ...tasks: readonly PlanTask[]): object {
  const lines = tasks.slice(1).map(({ id }, index) => ({
    id: `to-${id}`,
    from: tasks[index]?.id,
    to: id,
    type: 'success-only',
  }));
  return { name, tasks, lines };
}
