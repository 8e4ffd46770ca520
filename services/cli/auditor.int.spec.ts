import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openAttemptLog, openRunLog } from '#libs/event-log';
import { serveQueries } from '#libs/messaging';
import { notAsked, startTestBus, type TestBus } from '#libs/testing';
import { AttemptCommit, RunCommit } from '#proto';
import { runProgram } from './run-program.js';
import { fakeTerminal, surroundings } from './testing/fake-terminal.js';
import { sampleRecords, SAMPLE_RUN } from './testing/sample-run.js';

/* The auditor's key is given as any key is: in the environment, in a file that may have any name. */

let bus: TestBus;
let directory: string;
let served: { stop(): Promise<void> };

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'orrery-cli-'));
  bus = await startTestBus();
  const [orchestrator, agent] = [await bus.as('orchestrator'), await bus.as('device-agent')];
  for (const { stream, commit } of sampleRecords()) {
    if (stream === 'RUNS') {
      const log = openRunLog(orchestrator);
      await log.append(SAMPLE_RUN, RunCommit.parse(commit), await log.endsAt(SAMPLE_RUN));
    } else {
      const parsed = AttemptCommit.parse(commit);
      await openAttemptLog(agent).append({ ...parsed, kind: 'end' }, parsed, 0);
    }
  }
  const runs = async () => ({ runs: [] });
  served = await serveQueries(await bus.as('logging'), 'logging', { ...notAsked('logging'), runs });
});
afterAll(async () => {
  await served.stop();
  await bus.stop();
  await rm(directory, { recursive: true, force: true });
});

async function orrery(...words: string[]) {
  const terminal = fakeTerminal();
  const env = { ORRERY_NATS_URL: bus.server.url, ORRERY_NATS_SEED_FILE: bus.seedFile('auditor') };
  const exitCode = await runProgram(words, surroundings(terminal, { ...env, ORRERY_HOME: join(directory, 'home') }));
  return { exitCode, out: terminal.outLines.join('\n'), err: terminal.errLines };
}

describe('with the key of the auditor', () => {
  it.each([
    ['runs', []],
    ['show', [SAMPLE_RUN]],
    ['replay', [SAMPLE_RUN]],
    ['verify', [SAMPLE_RUN]],
    ['verify', ['--all']],
  ])('%s works', async (command, words) => {
    expect(await orrery(command, ...words)).toMatchObject({ exitCode: 0 });
  });

  it('export gives a file that verify takes', async () => {
    const file = join(directory, 'run.jsonl');
    expect((await orrery('export', SAMPLE_RUN, '-o', file)).exitCode).toBe(0);
    expect(await orrery('verify', file)).toMatchObject({ exitCode: 0 });
  });

  it('nothing is decided: a cancel is refused, and says so', async () => {
    const { exitCode, err } = await orrery('cancel', SAMPLE_RUN);
    expect(exitCode).not.toBe(0);
    expect(err).toHaveLength(1);
  });
});
