import type { Edit, Json } from '#proto';
import type { Scripted } from '#libs/llm';

type Fields = Readonly<Record<string, Json>>;

/** A task with an exact command, as a model writes it. */
export function task(task_id: string, more: Fields = {}): Fields {
  const command = { tool: 'EXEC_CLI', arguments: JSON.stringify({ command: 'df -h' }) };
  return { task_id, name: task_id, description: `look at ${task_id}`, target_device_id: 'web-1', command, ...more };
}

/** A first plan. */
export function plan(tasks: readonly Fields[], dependencies: readonly Fields[] = [], more: Fields = {}): Scripted {
  const constellation = { name: 'disks', tasks: [...tasks], dependencies: [...dependencies] };
  return { json: { observation: '', thought: 'one look each', state: 'CONTINUE', constellation, ...more } };
}

/** What is to change. */
export function edit(actions: readonly Json[], more: Fields = {}): Scripted {
  return { json: { observation: '', thought: 'as it is', state: 'CONTINUE', actions: [...actions], ...more } };
}

export const addTask = (task_id: string, more: Fields = {}): Json => ({
  tool: 'add_task',
  arguments: task(task_id, more),
});

export function finish(result: string, evidence: readonly string[] = []): Scripted {
  return { json: { observation: '', thought: 'done', state: 'FINISH', result, actions: [], evidence: [...evidence] } };
}

/** What a person adds. */
export function addStar(id: string): Edit {
  const command = { tool: 'EXEC_CLI', arguments: { command: 'true' } };
  return { tool: 'add_task', task: { id, name: id, description: '', tips: [], target: { device: 'db-1' }, command } };
}
