import type { Json } from '#proto';
import type { Runbook } from './runbook.js';
import { parseRunbook } from './parse.js';

const HASH = 'b'.repeat(64);

/** Fields of a runbook that is valid and does little. */
export function runbookJson(change: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return {
    name: 'restart',
    title: 'Restart',
    description: 'restarts something',
    matches: ['restart {service} on {device}'],
    parameters: [
      { name: 'service', description: 'what', required: true, pattern: '[a-z]+' },
      { name: 'device', description: 'where', required: true, type: 'device' },
      { name: 'tries', description: 'how often', type: 'integer', minimum: 1, maximum: 9, default: 2 },
    ],
    constellation: {
      tasks: [
        {
          task_id: 'a',
          name: 'Restart {{ p.service }}',
          target_device_id: '{{ p.device }}',
          command: {
            tool: 'EXEC_CLI',
            arguments: { command: 'service "$SERVICE" restart', env: { SERVICE: '{{ p.service }}' } },
          },
          attempts: '{{ p.tries }}',
        },
      ],
      dependencies: [],
    },
    ...change,
  };
}

export function runbook(change: Readonly<Record<string, unknown>> = {}): Runbook {
  const parsed = parseRunbook(runbookJson(change), HASH, 'shipped');
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues));
  return parsed.runbook;
}

/** A runbook with these tasks and dependencies, and no parameter but these. */
export function withTasks(tasks: readonly Json[], dependencies: readonly Json[] = [], parameters: Json = []) {
  return { matches: [], parameters, constellation: { tasks, dependencies } };
}
