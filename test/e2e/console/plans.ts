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
