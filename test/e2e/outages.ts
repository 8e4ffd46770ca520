import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { query } from '#libs/messaging';
import type { RunView } from '#proto';
import { sendRequest } from './requests.js';
import { type TestSystem, until } from './system.js';

/** A probe has given up by then. */
const READY_MS_MAX = 10_000;

/** Three tasks; the middle one appends a line, which it must do once, and is at work when something happens. */
export function plan(file: string) {
  const task = (id: string, device: string, command: string) => ({
    id,
    name: id,
    target: { device },
    command: { tool: 'EXEC_CLI', arguments: { command } },
  });
  return {
    name: 'recovery',
    tasks: [
      task('before', 'db-1', 'echo before'),
      task('effect', 'web-1', `echo once >> ${file}; sleep 1; echo done`),
      task('after', 'db-1', 'echo after'),
    ],
    lines: [
      { id: 'l1', from: 'before', to: 'effect', type: 'success-only' },
      { id: 'l2', from: 'effect', to: 'after', type: 'success-only' },
    ],
  };
}

const shapeOf = ({ status, outcome, tasks, lines }: RunView) => ({
  status,
  outcome,
  tasks: tasks.map((task) => ({ id: task.id, status: task.status, attempts: task.attempts, device: task.device })),
  lines: lines.map(({ id, satisfied }) => ({ id, satisfied })),
});
const UNDISTURBED = {
  status: 'COMPLETED',
  outcome: 'succeeded',
  tasks: ['before', 'effect', 'after'].map((id) => ({
    id,
    status: 'COMPLETED',
    attempts: 1,
    device: id === 'effect' ? 'web-1' : 'db-1',
  })),
  lines: ['l1', 'l2'].map((id) => ({ id, satisfied: true })),
};

/** That it ended as if nothing had happened. */
export const expectUndisturbed = (view: RunView): void => expect(shapeOf(view)).toEqual(UNDISTURBED);

/** Begins the plan, does the damage while the effect is at work, and waits for the end, which has to be as if nothing had happened. */
export async function disturbed(system: TestSystem, name: string, damage: () => Promise<unknown>): Promise<RunView> {
  const requestId = name.replaceAll(',', '').replaceAll(' ', '-');
  const effects = join(system.home, `${requestId}.effects`);
  const runId = await sendRequest(system, { requestId, constellation: plan(effects) });
  await until('the effect', async () => (await linesOf(effects)) || undefined);
  await damage();
  const view = await system.untilEnd(runId);
  expect(await linesOf(effects)).toBe(1);
  expectUndisturbed(view);
  return view;
}

export async function signal(system: TestSystem, parts: readonly string[], name: NodeJS.Signals): Promise<void> {
  const known = await system.pids();
  for (const part of parts) process.kill(known[part] ?? Number.NaN, name);
}

/** Waits until the lists show the run as its log tells it. */
export async function untilListed(system: TestSystem, view: RunView): Promise<void> {
  const nc = await system.bus();
  const { runs } = await until('the projection', async () => {
    const found = await query(nc, 'logging', 'runs', { id: view.runId, limit: 1 });
    return found.runs[0]?.sequence === view.sequence ? found : undefined;
  });
  expect(runs[0]?.status).toBe(view.status);
}

/** By HTTP, as the administrator. */
export async function fetched(
  system: TestSystem,
  path: string,
  { request, limit = null }: { readonly request?: object | undefined; readonly limit?: AbortSignal | null } = {},
): Promise<Response> {
  const { console: url } = await system.endpoints();
  const headers = { Authorization: `Bearer ${system.token}`, 'Content-Type': 'application/json' };
  const asked = request ? { method: 'POST', body: JSON.stringify(request) } : {};
  return fetch(new URL(path, url), { headers, signal: limit, ...asked });
}

/** What the services that are not ready lack, each with its name: `orchestrator: nats: ...`. Who does not answer in time lacks an answer. */
export async function lacking(system: TestSystem): Promise<string[]> {
  const { health } = await system.endpoints();
  const lacks = Object.entries(health).map(async ([service, url]) => {
    try {
      const answer = await fetch(new URL('/readyz', url), { signal: AbortSignal.timeout(READY_MS_MAX) });
      const { error = {} } = (await answer.json()) as { error?: Record<string, { message: string }> };
      return Object.entries(error).map(([what, { message }]) => `${service}: ${what}: ${message}`);
    } catch {
      return [`${service}: an answer`];
    }
  });
  return (await Promise.all(lacks)).flat();
}

export async function linesOf(file: string): Promise<number> {
  return (await readFile(file, 'utf8').catch(() => '')).split('\n').filter((line) => line !== '').length;
}
