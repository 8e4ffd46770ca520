import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { unhurried } from '../../services/cli/testing/fake-terminal.js';
import { writeRequest } from './requests.js';
import { CLI, ROOT, type TestSystem, until } from './system.js';

/* What a command writes is seen while it runs: from the device through the gateway to a terminal and over HTTP. */

interface Reader {
  readonly text: () => string;
  readonly errors: () => string;
  readonly exitCode: Promise<number | null>;
}

function readingOf(child: ChildProcess): Reader {
  let [text, errors] = ['', ''];
  child.stdout?.setEncoding('utf8').on('data', (part: string) => (text += part));
  child.stderr?.setEncoding('utf8').on('data', (part: string) => (errors += part));
  return {
    text: () => text,
    errors: () => errors,
    exitCode: once(child, 'close').then(([code]) => code as number | null),
  };
}

const cli = (system: TestSystem, ...args: readonly string[]): Reader =>
  readingOf(
    spawn(process.execPath, [CLI, ...args], {
      env: { ...process.env, ...system.env, ORRERY_ROOT: ROOT, NO_COLOR: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  );

/** The events of a stream over HTTP; `text` grows while it lasts. */
async function stream(system: TestSystem, path: string): Promise<{ text: () => string; ended: Promise<void> }> {
  const { console: url } = await system.endpoints();
  const response = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${system.token}` } });
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
  let text = '';
  const read = async (): Promise<void> => {
    const decoder = new TextDecoder();
    for await (const part of response.body ?? []) text += decoder.decode(part as Uint8Array, { stream: true });
  };
  return { text: () => text, ended: read() };
}

/** `running`: a system with the device web-1. */
export function testsOfOutput(running: () => TestSystem): void {
  it('a line is seen before its command ends, and the rest when it comes', async () => {
    const system = running();
    const jail = join(system.home, 'devices', 'web-1', 'jail');
    await mkdir(jail, { recursive: true });
    // It goes on when somebody made a file: nobody who listens comes too late, and nothing ends before it was seen.
    const command =
      'until [ -e heard ]; do echo tick; sleep 0.1; done; echo first; echo aside >&2; ' +
      "until [ -e seen ]; do sleep 0.05; done; echo second; printf 'no end'";
    const task = {
      id: 'slow',
      name: 'slow',
      target: { device: 'web-1' },
      command: { tool: 'EXEC_CLI', arguments: { command, timeout: 600 } },
    };
    const constellation = { name: 'output', tasks: [task], lines: [] };
    const file = await writeRequest(system.home, { requestId: 'output', constellation });
    const { runId } = await system.json<{ runId: string }>('submit', '-f', file);
    const untilTask = (status: string) =>
      until(`the task ${status}`, async () =>
        (await system.show(runId)).tasks[0]?.status === status ? true : undefined,
      );
    await untilTask('RUNNING');

    const readers = {
      lines: cli(system, 'watch', runId, '--output'),
      raw: cli(system, 'output', runId, 'slow'),
      json: cli(system, 'output', runId, '--json'),
    };
    const http = await stream(system, `/v1/runs/${runId}/output?task=slow`);
    const texts = [...Object.values(readers), http].map(({ text }) => text);
    const untilAll = (part: string) =>
      until(`"${part}"`, async () => (texts.every((text) => text().includes(part)) ? true : undefined));
    await untilAll('tick');
    await writeFile(join(jail, 'heard'), '');
    await untilAll('first');
    expect((await system.show(runId)).tasks).toMatchObject([{ status: 'RUNNING' }]);
    expect(texts.map((text) => text().includes('second'))).toEqual(texts.map(() => false));

    await writeFile(join(jail, 'seen'), '');
    expect(await Promise.all(Object.values(readers).map(({ exitCode }) => exitCode))).toEqual([0, 0, 0]);
    await http.ended;
    const said = readers.lines
      .text()
      .split('\n')
      .map((line) => line.replace(/^\d\d:\d\d:\d\dZ /u, ''));
    const from = said.indexOf('slow stdout | first');
    expect(said.slice(from).filter((line) => line !== 'slow stderr | aside')).toEqual([
      'slow stdout | first',
      'slow stdout | second',
      'slow stdout | no end',
      'TASK_COMPLETED slow (exit code 0)',
      'RUN_COMPLETED succeeded (1 completed)',
      '',
    ]);
    expect(said).toContain('slow stderr | aside');
    expect(readers.raw.text()).toMatch(/tick\nfirst\nsecond\nno end$/u);
    expect(unhurried(readers.raw.errors())).toEqual(['aside', '']);
    const pieces = readers.json
      .text()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
    expect(pieces.at(-1)).toMatchObject({ type: 'output', taskId: 'slow', deviceId: 'web-1', attempt: 1 });
    expect(http.text()).toMatch(/^event: output\ndata: \{"commandId":"[^"]*","deviceId":"web-1","stream":"stdout",/mu);

    const late = await system.cli('output', runId);
    expect(late.code).toBe(0);
    expect(late.stdout).toMatch(/tick\nfirst\nsecond\nno end\n$/u);
    expect(unhurried(late.stderr)).toEqual(['aside', '']);
  });
}
