import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createUser } from '@nats-io/nkeys';
import type { NatsConnection } from '@nats-io/transport-node';
import { connectBus, serveQueries } from '#libs/messaging';
import { ANYBODY, notAsked, startTestNats, type TestNats } from '#libs/testing';
import type { RunSummary } from '#proto';
import { runProgram } from '../run-program.js';
import { fakeTerminal, surroundings } from '../testing/fake-terminal.js';

/* Lists that are watched over a real bus. */

let server: TestNats;
let nc: NatsConnection;
let directory: string;
/** What is to be told at each look, in turn. */
let asked: () => Promise<readonly RunSummary[]>;

const run = (name: string, status: RunSummary['status'] = 'RUNNING'): RunSummary => ({
  runId: name.repeat(26),
  requestId: name,
  name,
  status,
  outcome: null,
  sequence: 3,
  tasks: 1,
  requestedAt: '2026-11-20T10:00:00.000Z',
  endedAt: null,
});

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'orrery-watched-'));
  await writeFile(join(directory, 'cli.seed'), createUser().getSeed(), { mode: 0o600 });
  server = await startTestNats();
  nc = await connectBus({ url: server.url, name: 'test', inboxPrefix: '_INBOX_test' });
  const runs = async () => ({ runs: [...(await asked())] });
  await serveQueries(nc, 'logging', { ...notAsked('logging'), runs }, { authority: ANYBODY });
});
afterAll(async () => {
  await nc.close();
  await server.stop();
  await rm(directory, { recursive: true, force: true });
});

async function connectionsSoFar(): Promise<number> {
  const answer = await fetch(new URL('/varz', server.monitorUrl));
  return ((await answer.json()) as { total_connections: number }).total_connections;
}

/** `orrery runs --watch` in a pipe, which somebody ends at the last look. */
async function watched(looks: readonly (() => Promise<readonly RunSummary[]>)[]) {
  const stop = new AbortController();
  let look = 0;
  asked = async () => {
    const told = await looks[look++]?.();
    if (look === looks.length) stop.abort('SIGINT');
    return told ?? [];
  };
  const terminal = fakeTerminal();
  const env = { ORRERY_NATS_URL: server.url, ORRERY_NATS_SEED_FILE: join(directory, 'cli.seed') };
  const exitCode = await runProgram(['runs', '--watch'], { ...surroundings(terminal, env), signal: stop.signal });
  return { exitCode, out: terminal.outLines.map((line) => line.split('\t').slice(0, 2)), err: terminal.errLines };
}

describe('a list that is watched', () => {
  it('tells what is new and what has changed, over one connection', async () => {
    const before = await connectionsSoFar();
    const a = run('a');
    const seen = await watched([async () => [a], async () => [a], async () => [run('b'), run('a', 'COMPLETED')]]);
    expect(seen.out.map(([id, status]) => [id?.slice(0, 1), status])).toEqual([
      ['a', 'RUNNING'],
      ['b', 'RUNNING'],
      ['a', 'COMPLETED'],
    ]);
    expect([seen.exitCode, seen.err]).toEqual([0, []]);
    expect((await connectionsSoFar()) - before).toBe(1);
  });

  it('goes on when the server was away meanwhile, and has said so', async () => {
    const seen = await watched([
      async () => [run('a')],
      async () => {
        await server.kill9();
        void server.restart();
        return [];
      },
      async () => [run('b'), run('a')],
    ]);
    expect(seen.out.map(([id]) => id?.slice(0, 1))).toEqual(['a', 'b']);
    expect(seen.exitCode).toBe(0);
  });
});
