import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DeadLetter, type RunCommit } from '#proto';
import { foldRun, viewOf } from '#libs/constellation';
import { sealCommit } from '#libs/event-log';
import { attemptCommitsOf, generateHistory, runCommitsOf } from '#libs/testing';
import { CommandEntity } from '../entities/index.js';
import { emptied } from './rebuild.adapter.js';
import { logger, Rig } from '../rig.testing.js';

let rig: Rig;
beforeAll(async () => {
  rig = await Rig.start();
});
afterAll(() => rig.stop());

let seed = 40;
/** A run to poison, with what cannot follow on its first commit, and a healthy one beside it. */
function subject() {
  const steps = generateHistory({ seed: ++seed });
  const good = generateHistory({ seed: ++seed });
  const [first, second, third] = runCommitsOf(steps);
  if (first === undefined || second === undefined || third === undefined) throw new Error('the history is too short');
  return { steps, good, first, second, third, runId: first.runId, goodRun: foldRun(runCommitsOf(good)) ?? fail() };
}
type Subject = ReturnType<typeof subject>;

const POISON: Record<string, (subject: Subject) => string> = {
  'is no JSON': () => '{',
  'is no commit': ({ runId }) => JSON.stringify({ runId }),
  'has an unknown event': ({ second }) => resealed(second, { type: 'TASK_TELEPORTED' }),
  'belongs to another run': ({ second, goodRun }) => JSON.stringify({ ...second, runId: goodRun.runId }),
  'leaves a gap': ({ third }) => JSON.stringify(third),
  'breaks the chain': ({ second }) => JSON.stringify(sealCommit(unsealed(second), 'e'.repeat(64))),
  'contradicts the history': ({ second }) => resealed(second, { type: 'TASK_SKIPPED', data: skipOf(second.at) }),
  'has what PostgreSQL cannot hold': ({ second }) => resealed(second, { sequence: 2 ** 40 }),
};

function unsealed({ hash: _hash, prevHash: _prevHash, ...draft }: RunCommit) {
  return draft;
}

/** The commit with another first event, well sealed. */
function resealed(commit: RunCommit, change: object): string {
  const events = commit.events.map((event) => ({ ...event, ...change }));
  return JSON.stringify(sealCommit({ ...unsealed(commit), events }, commit.prevHash));
}

function skipOf(skippedAt: string) {
  return { taskId: 'nobody', by: 'failure', lineId: 'l', reason: 'x', lines: [], skippedAt };
}

async function projectAll(): Promise<void> {
  const follower = rig.follower(rig.runs());
  void follower.begin();
  await rig.checkpointed('RUNS');
  await follower.end();
}

/** The letters after the first `count`. */
async function lettersAfter(count: number): Promise<DeadLetter[]> {
  const all = await rig.read('DLQ', await rig.lastSequence('DLQ'));
  return all.slice(count).map((letter) => DeadLetter.parse(letter));
}

describe('a commit that cannot be projected', () => {
  it.each(Object.entries(POISON))('stops its run and nothing else when it %s', async (_, poison) => {
    const { steps, good, first, runId, goodRun, ...rest } = subject();
    const letters = await rig.lastSequence('DLQ');
    await rig.appendAll(steps.slice(0, 1));
    const body = poison({ steps, good, first, runId, goodRun, ...rest });
    const sequence = await rig.publishRaw(runId, body);
    await rig.publishRaw(runId, 'whatever follows');
    await rig.appendAll(good);
    await projectAll();
    const written = await lettersAfter(letters);
    expect(written).toEqual([
      expect.objectContaining({ service: 'logging', stream: 'RUNS', sequence, subject: `orrery.run.${runId}` }),
    ]);
    expect(Buffer.from(written[0]?.payloadBase64 ?? '', 'base64').toString()).toBe(body);
    expect(await rig.reader.whyBroken(runId)).toBe(written[0]?.reason);
    expect(await rig.reader.readRun(runId)).toEqual(viewOf(foldRun([first]) ?? fail()));
    expect(await rig.reader.readRun(goodRun.runId)).toEqual(viewOf(goodRun));
    expect(await rig.reader.whyBroken(goodRun.runId)).toBeUndefined();
  });

  it('is buried once, over restarts and rebuilds', async () => {
    const { runId } = subject();
    await rig.publishRaw(runId, '{');
    await projectAll();
    const letters = await rig.lastSequence('DLQ');
    await emptied(rig.postgres, logger).ready();
    expect(await rig.reader.whyBroken(runId)).toBeUndefined();
    await projectAll();
    expect(await rig.reader.whyBroken(runId)).toBeDefined();
    expect(await rig.lastSequence('DLQ')).toBe(letters);
  });

  it('does not stop the attempts either', async () => {
    const { good, runId } = subject();
    const letters = await rig.lastSequence('DLQ');
    const [attempt] = attemptCommitsOf(good);
    if (attempt === undefined) throw new Error('the history has no attempt');
    const sequence = await rig.publishRawAttempt({ ...attempt, runId }, JSON.stringify(attempt));
    await rig.appendAll(good);
    const follower = rig.follower(rig.attempts());
    void follower.begin();
    await rig.checkpointed('ATTEMPTS');
    await follower.end();
    expect(await lettersAfter(letters)).toEqual([expect.objectContaining({ stream: 'ATTEMPTS', sequence })]);
    const { runId: goodRunId } = attempt;
    const count = await rig.source.getRepository(CommandEntity).countBy({ runId: goodRunId });
    expect(count).toBe(attemptCommitsOf(good).length);
  });

  it('of the planner is buried, and stops nobody', async () => {
    const { good, runId } = subject();
    const letters = await rig.lastSequence('DLQ');
    const sequence = await rig.publishRawPlan(runId, '{"commit":"no"}');
    await rig.appendAll(good);
    const follower = rig.follower(rig.plans());
    void follower.begin();
    await rig.checkpointed('PLANS');
    await follower.end();
    expect(await lettersAfter(letters)).toEqual([expect.objectContaining({ stream: 'PLANS', sequence })]);
  });
});

function fail(): never {
  throw new Error('the history has no run');
}
