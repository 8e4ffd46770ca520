import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { NatsConnection } from '@nats-io/transport-node';
import { type AttemptFinished, type RunCommit, subjects } from '#proto';
import { findTask, foldRun, type Run } from '#libs/constellation';
import { readCommits } from '#libs/event-log';
import { connectBus, putArtifact } from '#libs/messaging';
import { connectDevice, instantDevice, requestRun, startTestNats, type TestNats, type Replica } from '#libs/testing';
import { startOrchestrator } from './rig.testing.js';
let nats: TestNats;
let nc: NatsConnection;
let orchestrator: Replica;
/** What task `a` of a run answers, by the run's name. */
const answers = new Map<string, AttemptFinished>();
let device: { stop(): void };

beforeAll(async () => {
  nats = await startTestNats({ provisioned: true });
  nc = await connectBus({ url: nats.url, name: 'test', inboxPrefix: '_INBOX_test' });
  await connectDevice(nc, 'web-1');
  orchestrator = await startOrchestrator(nc, { instance: 'one' });
  const answer = ({ command }: { command?: { arguments: Record<string, unknown> } | undefined }): AttemptFinished =>
    answers.get(String(command?.arguments['answer'])) ?? { status: 'completed', result: { value: null } };
  device = instantDevice(nc, { answer });
});
afterAll(async () => {
  device.stop();
  await orchestrator.stop();
  await nc.close();
  await nats.stop();
});

const seq = (from: number, to: number): string =>
  Array.from({ length: to - from + 1 }, (_, index) => `${from + index}\n`).join('');

/** A command's answer as an event holds it when its output is long. */
async function longAnswer(stdout: string, store = true): Promise<AttemptFinished> {
  const whole = new TextEncoder().encode(JSON.stringify({ exit_code: 0, stdout, stderr: '' }));
  const artifact = store ? await putArtifact(nc, whole) : { sha256: 'f'.repeat(64), bytes: whole.length };
  const cut = `${stdout.slice(0, 7_000)}\n[... cut ...]\n${stdout.slice(-7_000)}`;
  return {
    status: 'completed',
    result: { value: { exit_code: 0, stdout: cut, stderr: '' }, cut: ['stdout'], artifact },
  };
}

async function ranWith(name: string, condition: string, answer: AttemptFinished): Promise<Run> {
  answers.set(name, answer);
  const task = (id: string, say: string) => ({
    id,
    name: id,
    target: { device: 'web-1' },
    command: { tool: 'NOOP', arguments: { answer: say } },
  });
  const lines = [{ id: 'a-b', from: 'a', to: 'b', type: 'conditional', condition }];
  const constellation = { name, tasks: [task('a', name), task('b', 'nothing')], lines };
  return ended(await requestRun(nc, { requestId: name, constellation }));
}

async function ended(runId: string): Promise<Run> {
  const commits: RunCommit[] = [];
  for await (const entry of readCommits(nc, 'RUNS', { afterSequence: 0, filter: subjects.run(runId) })) {
    commits.push(JSON.parse(new TextDecoder().decode(entry.data)) as RunCommit);
    if (entry.types.some((type) => type === 'RUN_COMPLETED' || type === 'RUN_FAILED')) break;
  }
  const run = foldRun(commits);
  if (run === undefined) throw new Error('no run');
  return run;
}

describe('a condition over a result of which an event holds a part', () => {
  it('is judged on the whole of it: what stands in the middle chooses the branch', async () => {
    const answer = await longAnswer(`${seq(1, 3000)}NEEDLE\n${seq(3001, 6000)}`);
    const run = await ranWith('needle', 'result.stdout.contains("NEEDLE")', answer);
    expect([findTask(run, 'b')?.status, run.outcome]).toEqual(['COMPLETED', 'succeeded']);
    const lines = await ranWith('lines', 'result.stdout.lines().size() == 6001', answer);
    expect([findTask(lines, 'b')?.status, lines.outcome]).toEqual(['COMPLETED', 'succeeded']);
    const other = await ranWith('no-needle', 'result.stdout.contains("THREAD")', answer);
    expect([findTask(other, 'b')?.status, other.outcome]).toEqual(['SKIPPED', 'succeeded']);
  });

  it('is no no when the whole of it is gone', async () => {
    const run = await ranWith('gone', 'result.stdout.contains("NEEDLE")', await longAnswer(seq(1, 6000), false));
    expect(findTask(run, 'b')).toMatchObject({ status: 'FAILED', error: { code: 'CONDITION_UNDECIDABLE' } });
    expect(findTask(run, 'b')?.error?.message).toContain('the whole result is not there');
    expect(run.outcome).toBe('partially_failed');
  });

  it('is no no when it cannot be judged', async () => {
    const answer: AttemptFinished = { status: 'completed', result: { value: { exit_code: 0, stdout: '16627\n' } } };
    const number = await ranWith('number', 'int(result.stdout) > 200', answer);
    expect(findTask(number, 'b')?.error?.message).toContain('trim() takes line ends off');
    expect(number.outcome).toBe('partially_failed');
    const typo = await ranWith('typo', 'result.exit_cod == 0', answer);
    expect(findTask(typo, 'b')?.error?.message).toContain('No such key: exit_cod');
    const trimmed = await ranWith('trimmed', 'int(result.stdout.trim()) > 200', answer);
    expect(trimmed.outcome).toBe('succeeded');
  });
});
