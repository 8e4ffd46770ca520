import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { RunView } from '#proto';
import { TestSystem, until } from './system.js';
import { writeRequest } from './requests.js';

/** Three tasks; the middle one appends a line, which it must do once, and is at work when something dies. */
function plan(file: string) {
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

describe('kill -9 in the middle of a run', () => {
  let system: TestSystem;
  let undisturbed: ReturnType<typeof shapeOf>;

  beforeAll(async () => {
    system = await TestSystem.start('--devices', '2');
    undisturbed = shapeOf(await disturbed('undisturbed', async () => undefined));
  });

  afterAll(() => system.stop());

  /** Submits the plan, does the damage while the effect is at work, and waits for the end. */
  async function disturbed(name: string, damage: () => Promise<unknown>): Promise<RunView> {
    const effects = join(system.home, `${name}.effects`);
    const file = await writeRequest(system.home, { requestId: name, constellation: plan(effects) });
    const { runId } = await system.json<{ runId: string }>('submit', '-f', file);
    await until('the effect', async () => (await linesOf(effects)) || undefined);
    await damage();
    const view = await system.untilEnd(runId);
    expect(await linesOf(effects)).toBe(1);
    const verified = await system.cli('verify', runId);
    expect(verified).toMatchObject({ code: 0 });
    return view;
  }

  it('has a run to compare with', () => {
    expect(undisturbed).toMatchObject({ status: 'COMPLETED', outcome: 'succeeded' });
  });

  it.each(['orchestrator', 'device-agent', 'aip-gateway', 'logging', 'nats'])(
    'of %s: the run ends as it would have, and the effect happened once',
    async (part) => {
      const pid = await system.pidOf(part);
      const view = await disturbed(`kill-${part}`, () => system.kill9(part));
      expect(shapeOf(view)).toEqual(undisturbed);
      await until(`another ${part}`, async () =>
        (await system.pidOf(part).catch(() => pid)) === pid ? undefined : true,
      );
      const projected = await until('the projection', async () => {
        const { runs } = await system.json<{ runs?: { runId: string; sequence: number; status: string }[] }>('runs');
        return runs?.find(({ runId, sequence }) => runId === view.runId && sequence === view.sequence);
      });
      expect(projected.status).toBe(view.status);
    },
  );
});

async function linesOf(file: string): Promise<number> {
  return (await readFile(file, 'utf8').catch(() => '')).split('\n').filter((line) => line !== '').length;
}
