import { appendFile, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { runProgram } from '../../run-program.js';
import { fakeTerminal, surroundings } from '../../testing/fake-terminal.js';

/* As somebody types it: `orrery logs ...` on a home. The clock stands at 2026-11-20 12:00 UTC. */

let home: string;
let log: string;
let stop: AbortController;
beforeEach(async () => {
  stop = new AbortController();
  home = await mkdtemp(join(tmpdir(), 'orrery-logs-'));
  await mkdir(join(home, 'logs'));
  log = join(home, 'logs', 'console.log');
});
afterEach(async () => {
  stop.abort();
  await rm(home, { recursive: true });
});

const line = (time: string, level: string, msg: string, more: object = {}): string =>
  `${JSON.stringify({ level, time: `2026-11-20T${time}.000Z`, service: 'console', instance: 'i', ...more, msg })}\n`;

function logs(words: string) {
  const terminal = fakeTerminal();
  const surrounded = { ...surroundings(terminal, { ORRERY_HOME: home }), signal: stop.signal };
  return { terminal, exitCode: runProgram(['logs', ...words.split(' ')], surrounded) };
}
async function said(words: string): Promise<string[]> {
  const { terminal, exitCode } = logs(words);
  expect(await exitCode).toBe(0);
  return terminal.outLines;
}

describe('orrery logs', () => {
  it('shows the last lines, also those of the half that was put aside, with their time in UTC', async () => {
    await writeFile(
      `${log}.1`,
      line('10:00:00', 'info', 'oldest') + line('11:00:00', 'warn', 'older', { deviceId: 'web-1' }),
    );
    await writeFile(log, `${line('11:50:00', 'error', 'new\u001B[2J', { err: { message: 'no disk' } })}not JSON`);
    expect(await said('console -n 3')).toEqual([
      '2026-11-20 11:00:00.000Z warn  older deviceId=web-1',
      '2026-11-20 11:50:00.000Z error new err="no disk"',
      'not JSON',
    ]);
    expect(await said('console --since 20m')).toHaveLength(2);
    expect(await said('console --level warn')).toHaveLength(3);
    expect((await said('console --level fatal')).length).toBe(0);
    expect((await said('console --json')).map((text) => (JSON.parse(text) as { msg: string }).msg)).toEqual([
      'oldest',
      'older',
      'new\u001B[2J',
      'not JSON',
    ]);
  });

  it('follows it, also over the moment in which it is begun anew, each line once', async () => {
    await writeFile(log, line('11:00:00', 'info', 'one'));
    const { terminal, exitCode } = logs('console -f --level info');
    const until = async (count: number): Promise<void> => {
      while (terminal.outLines.length < count) await new Promise((turn) => void setImmediate(turn));
    };
    await until(1);
    const two = line('11:00:01', 'info', 'two');
    await appendFile(log, two.slice(0, 20));
    await appendFile(
      log,
      two.slice(20) + line('11:00:02', 'debug', 'nobody asked') + line('11:00:03', 'info', 'three'),
    );
    await rename(log, `${log}.1`);
    await writeFile(log, line('11:00:04', 'info', 'four'));
    await until(4);
    stop.abort('SIGTERM');
    expect(await exitCode).toBe(143);
    expect(terminal.outLines.map((text) => text.split(' ').at(-1))).toEqual(['one', 'two', 'three', 'four']);
  });

  it('reads what nats-server and PostgreSQL write', async () => {
    await mkdir(join(home, 'nats'));
    await writeFile(join(home, 'nats', 'nats-server.log'), '[7] 2026/11/20 11:00:00.5 [WRN] slow\n');
    await writeFile(join(home, 'postgres.log'), '2026-11-20 11:00:00.500 UTC [7] ERROR:  no table\n');
    expect(await said('nats')).toEqual(['2026-11-20 11:00:00.500Z warn  slow']);
    expect(await said('postgres --level error')).toEqual(['2026-11-20 11:00:00.500Z error no table']);
  });

  it.each([
    ['consol', 'There is no log of "consol" in .*; there is console\\. Did you mean console\\?'],
    ['../../keys/cli', 'There is no log of'],
  ])('of %s says what there is', async (name, sentence) => {
    await writeFile(log, '');
    const { terminal, exitCode } = logs(name);
    expect(await exitCode).toBe(3);
    expect(terminal.errLines.join(' ')).toMatch(new RegExp(sentence, 'u'));
  });

  it('says where the logs of containers are', async () => {
    const { terminal, exitCode } = logs('console');
    expect(await exitCode).toBe(3);
    expect(terminal.errLines.join(' ')).toContain('In containers: docker compose logs -f console');
  });
});
