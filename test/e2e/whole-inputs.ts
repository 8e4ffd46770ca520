import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, it } from '@jest/globals';
import type { RunView } from '#proto';
import { writeRequest } from './requests.js';
import { type TestSystem, until } from './system.js';

/* What a task prints is what the next one reads, on another machine: to the last byte, or the task does not begin. */

let system: TestSystem;

const zeros = (bytes: number): string => `head -c ${bytes} /dev/zero | tr '\\0' x`;

/** Command lines by name. What they print is known to nobody but the machine that runs them. */
const PRINTED: Readonly<Record<string, string>> = {
  nothing: 'true',
  'less-than-an-event': zeros(16 * 1024 - 1),
  'an-event': zeros(16 * 1024),
  'more-than-an-event': zeros(16 * 1024 + 1),
  lines: 'seq 1 300000',
  // Three bytes each: they lie across every border of pieces. No line end.
  euros: `awk 'BEGIN { for (n = 0; n < 500001; n++) printf "\u20ac" }'`,
  'no-text': "printf '\\377\\000\\303'",
  'much-of-no-text': 'seq 1 700000 | gzip -n',
};

const exec = (id: string, device: string, args: Record<string, unknown>) => ({
  id,
  name: id,
  target: { device },
  command: { tool: 'EXEC_CLI', arguments: args },
});

async function runPlan(requestId: string, tasks: readonly object[], lines: readonly (readonly [string, string])[]) {
  const between = lines.map(([from, to]) => ({ id: `${from}-${to}`, from, to, type: 'success-only' }));
  const constellation = { name: requestId, tasks, lines: between };
  const file = await writeRequest(system.home, { requestId, constellation });
  const { runId } = await system.json<{ runId: string }>('submit', '-f', file);
  return system.untilEnd(runId);
}

function stdoutOf(view: RunView, id: string): string {
  const { status, result, error } = view.tasks.find((one) => one.id === id) ?? {};
  if (status !== 'COMPLETED' || !result) throw new Error(`${id}: ${status} ${JSON.stringify(error)}`);
  return (result.value as { stdout: string }).stdout;
}

const inputsOf = (device: string): string => join(system.home, 'devices', device, 'inputs');

/** `running`: a system with the devices web-1 and db-1. The last one kills its gateway, and db-1. */
export function testsOfWholeInputs(running: () => TestSystem): void {
  beforeAll(() => void (system = running()));

  it('is what conditions are judged on: a word behind the end of what an event holds is found', async () => {
    const condition = 'result.stdout.contains("NEEDLE")';
    const requestId = 'needle';
    const constellation = {
      name: requestId,
      tasks: [
        { ...exec('hay', 'web-1', { command: 'seq 1 3000; echo NEEDLE; seq 3001 6000' }), verify: { condition } },
        exec('found', 'db-1', { command: 'echo found' }),
      ],
      lines: [{ id: 'l1', from: 'hay', to: 'found', type: 'conditional', condition }],
    };
    const file = await writeRequest(system.home, { requestId, constellation });
    const { runId } = await system.json<{ runId: string }>('submit', '-f', file);
    const view = await system.untilEnd(runId);
    expect([view.outcome, stdoutOf(view, 'found')]).toEqual(['succeeded', 'found\n']);
    expect((await system.cli('verify', runId)).code).toBe(0);
  });

  it('is the same whatever it is and however long, also of several in order', async () => {
    const names = Object.keys(PRINTED);
    const order = ['euros', 'no-text', 'lines', 'nothing', 'euros'];
    const sum = `{ ${order.map((name) => PRINTED[name]).join('; ')}; } | sha256sum`;
    const view = await runPlan(
      'stdin-sizes',
      [
        ...names.flatMap((name) => [
          exec(name, 'web-1', { command: PRINTED[name] }),
          exec(`${name}-sum`, 'web-1', { command: `{ ${PRINTED[name]}; } | sha256sum` }),
          exec(`${name}-read`, 'db-1', { command: 'sha256sum', stdin: { from: [name] } }),
        ]),
        exec('wc', 'db-1', { command: 'wc -l', stdin: { from: [{ task: 'lines', field: 'stdout' }] } }),
        exec('all-sum', 'web-1', { command: sum }),
        exec('all-read', 'db-1', { command: 'sha256sum', stdin: { from: order } }),
      ],
      [
        ...names.map((name) => [name, `${name}-read`] as const),
        ...[...new Set(order)].map((name) => [name, 'all-read'] as const),
        ['lines', 'wc'],
      ],
    );
    const pairs = [...names, 'all'].map((name) => [
      name,
      stdoutOf(view, `${name}-sum`),
      stdoutOf(view, `${name}-read`),
    ]);
    expect(pairs.map(([name, , read]) => [name, read])).toEqual(pairs.map(([name, printed]) => [name, printed]));
    expect(stdoutOf(view, 'wc').trim()).toBe('300000');
    expect(await readdir(inputsOf('db-1'))).toEqual([]);
  });

  it('arrives once and whole when the gateway, and then the device, is killed on its way', async () => {
    const command = 'echo ran >> ran; sha256sum';
    const bytes = 60_000_000;
    const ended = runPlan(
      'stdin-killed',
      [
        exec('big', 'web-1', { command: zeros(bytes) }),
        exec('sum', 'web-1', { command: `${zeros(bytes)} | sha256sum` }),
        exec('first', 'db-1', { command, stdin: { from: ['big'] } }),
        exec('second', 'db-1', { command, stdin: { from: ['big'] } }),
      ],
      [
        ['big', 'first'],
        ['first', 'second'],
        ['big', 'second'],
      ],
    );
    let isOver = false;
    void ended.finally(() => (isOver = true));
    // On a machine that is slow to look, a file may have come and gone: then the kill comes between two of them.
    const onItsWay = (before: readonly string[]) =>
      until('a part of it on the disk of the device', async () => {
        const names = (await readdir(inputsOf('db-1'))).filter((name) => !before.includes(name));
        const [name] = names;
        const path = join(inputsOf('db-1'), name ?? '');
        const size =
          name === undefined
            ? 0
            : await stat(path).then(
                (of) => of.size,
                () => 0,
              );
        return isOver || (size > 0 && size < bytes) ? names : undefined;
      });
    const first = await onItsWay([]);
    if (!isOver) await system.kill9('aip-gateway');
    await onItsWay(first);
    if (!isOver) await system.kill9('db-1');
    const view = await ended;
    expect(stdoutOf(view, 'first')).toBe(stdoutOf(view, 'sum'));
    expect(stdoutOf(view, 'second')).toBe(stdoutOf(view, 'sum'));
    expect(view.tasks.map(({ attempts }) => attempts)).toEqual([1, 1, 1, 1]);
    expect(await readFile(join(system.home, 'devices', 'db-1', 'jail', 'ran'), 'utf8')).toBe('ran\nran\n');
    expect(await readdir(inputsOf('db-1'))).toEqual([]);
  });
}
