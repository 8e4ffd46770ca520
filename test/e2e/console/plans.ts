/** Longer than a test may last. */
export const GATE_SECONDS = 600;

type PlanTask = { readonly id: string; readonly name: string } & Readonly<Record<string, unknown>>;

/** A task that runs exactly this command. */
export function exactly(id: string, name: string, command: string, device = 'web-1'): PlanTask {
  return withTool({ id, name }, 'EXEC_CLI', { command, timeout: GATE_SECONDS }, device);
}

export function withTool(task: PlanTask, tool: string, args: object, device = 'web-1'): PlanTask {
  return { ...task, target: { device }, command: { tool, arguments: args } };
}

/** A task in words, for an agent. */
export function inWords(id: string, name: string, description: string): PlanTask {
  return { id, name, description, target: { device: 'web-1' } };
}

/** Tasks one after the other. */
export function inARow(name: string, ...tasks: readonly PlanTask[]): object {
  const lines = tasks
    .slice(1)
    .map(({ id }, index) => ({ id: `to-${id}`, from: tasks[index]?.id, to: id, type: 'success-only' }));
  return { name, tasks, lines };
}

/** Rows of tasks, more than are drawn one by one, that wait for the last of `first`. */
export function rowsBehind(name: string, first: readonly PlanTask[], size: { rows: number; steps: number }): object {
  const rows = Array.from({ length: size.rows }, (_, row) =>
    Array.from({ length: size.steps }, (__, step) =>
      exactly(`r${row}-${step}`, `Step ${step} of row ${row}`, 'true', 'db-1'),
    ),
  );
  const line = (from: string | undefined, to: string) => ({ id: `to-${to}`, from, to, type: 'success-only' });
  const lines = rows.flatMap((row) => row.map(({ id }, step) => line((row[step - 1] ?? first.at(-1))?.id, id)));
  return { name, tasks: [...first, ...rows.flat()], lines };
}
