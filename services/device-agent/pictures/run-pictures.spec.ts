import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, it } from '@jest/globals';
import type { KeptPictures } from '#libs/command-policy';
import { pngOf, pngOfRun } from '#libs/picture';
import { commandIdOf, type ArtifactRef, type AttemptEvent, type CommandClass } from '#proto';
import { AttemptCommits, changeBy } from '../live/index.js';
import { CLOCK, keyOf, messageOf, TestAgent, World } from '../testing/agent.js';
import { ScriptedDevice } from '../testing/device.js';
import { DEVICE_ID, ENDED_AT, NOW, RUN_ID, SESSION_ID, TestRun } from '../testing/run.js';

/* What becomes of pictures of a screen when their run has ended. */

const DAY_MS = 24 * 60 * 60 * 1_000;
let world: World;
let run: TestRun;

beforeEach(() => {
  world = new World(new ScriptedDevice());
  run = new TestRun([{ id: 'a', agent: true }]);
  run.start({ id: 'a', agent: true });
});

/** A picture in the store, as one of this run; its colour tells it from others. */
function stored(colour: number, of: string | null = RUN_ID): ArtifactRef {
  const png = pngOf({ width: 1, height: 1, rgb: Uint8Array.of(colour, 0, 0) });
  const content = of === null ? png : pngOfRun(png, of);
  const sha256 = createHash('sha256').update(content).digest('hex');
  world.stored.set(sha256, content);
  return { sha256, bytes: content.length };
}

/** A command that has run, with what was recorded of it. */
function ran(step: number, tool: string, judged: CommandClass, pictures: readonly ArtifactRef[] = []): AttemptEvent[] {
  const commandId = commandIdOf(keyOf('a'), step);
  const command = { tool, arguments: {} };
  const at = { step, index: 0, commandId, command };
  const where = { deviceId: DEVICE_ID, sessionId: SESSION_ID };
  const files = pictures.map((artifact) => ({ name: 'window.png', mediaType: 'image/png', artifact }));
  const verdict = { class: judged, decision: 'allow' as const, rule: 'r', reasons: [], grantable: true };
  return [
    { type: 'COMMAND_JUDGED', data: { ...at, ...verdict, origin: 'agent', policyHash: 'a'.repeat(64) } },
    { type: 'COMMAND_ISSUED', data: { ...at, ...where, journalId: null, notAfter: ENDED_AT } },
    {
      type: 'COMMAND_FINISHED',
      data: {
        ...where,
        commandId,
        command,
        state: 'COMPLETED',
        result: { value: null, ...(files.length > 0 && { files }) },
        error: null,
        startedAt: null,
        durationMs: null,
      },
    },
  ];
}

/** Two looks, and an act after the second; the run ends. Tells the service of it. */
async function ended(pictures: readonly [ArtifactRef, ArtifactRef]): Promise<ReturnType<typeof messageOf>> {
  const [first, second] = pictures;
  const commits = new AttemptCommits({ attempts: world.attempts, runs: world.runs, clock: CLOCK, instance: 'i0' });
  const key = keyOf('a');
  const facts = [
    ...ran(1, 'capture_window_screenshot', 'read', [first]),
    ...ran(2, 'capture_window_screenshot', 'read', [second]),
    ...ran(3, 'click_input', 'write'),
  ];
  const cause = run.commits.at(-1)?.commit ?? '';
  await commits.change(key, () => changeBy({ key, kind: 'step', cause }, facts, undefined));
  const end = run.end();
  await world.record(run);
  return messageOf(end);
}

const agentOf = (kept: KeptPictures, now = NOW) =>
  new TestAgent(world, { pictures: () => kept, clock: { now: () => now } }).ends;

async function recorded(): Promise<unknown[]> {
  const commits = await world.attempt('a');
  return commits.flatMap(({ commit }) =>
    commit.events.flatMap(({ type, data }) => (type === 'PICTURES_DROPPED' ? [data] : [])),
  );
}

describe('pictures of a run that has ended', () => {
  it('are kept where no policy says otherwise, and nothing of its attempts is read', async () => {
    const pictures = [stored(1), stored(2)] as const;
    const end = await ended(pictures);
    const calls: string[] = [];
    const { ends } = new TestAgent(world, { before: async (call) => void calls.push(call) });
    expect(await ends.handle(end)).toEqual({ kind: 'done' });
    expect(calls.filter((call) => call.startsWith('attempts'))).toEqual([]);
    expect(world.stored.size).toBe(2);
  });

  it('are dropped but for those of acts, recorded with hash, size and rule', async () => {
    const [look, ofAct] = [stored(1), stored(2)];
    expect(await agentOf({ keep: 'acts' }).handle(await ended([look, ofAct]))).toEqual({ kind: 'done' });
    expect(await recorded()).toEqual([{ rule: 'pictures: { keep: acts }', pictures: [look] }]);
    expect([...world.stored.keys()]).toEqual([ofAct.sha256]);
  });

  it('are all dropped where none is kept, once, however often the end is told', async () => {
    const [look, ofAct] = [stored(1), stored(2)];
    const end = await ended([look, ofAct]);
    const ends = agentOf({ keep: 'none' });
    await ends.handle(end);
    await ends.handle(end);
    expect(await recorded()).toEqual([{ rule: 'pictures: { keep: none }', pictures: [ofAct, look] }]);
    expect(world.stored.size).toBe(0);
  });

  it('are dropped after so many days, and the end is held until then', async () => {
    const end = await ended([stored(1), stored(2)]);
    const kept = { keep: 'all', days: 2 } as const;
    expect(await agentOf(kept).handle(end)).toMatchObject({ kind: 'retry', delayMs: DAY_MS });
    const last = Date.parse(ENDED_AT) + 2 * DAY_MS;
    expect(await agentOf(kept, last - 5).handle(end)).toMatchObject({ kind: 'retry', delayMs: 5 });
    expect(world.stored.size).toBe(2);
    expect(await agentOf(kept, last).handle(end)).toEqual({ kind: 'done' });
    expect(world.stored.size).toBe(0);
  });

  it('are taken away later when that failed after they were recorded', async () => {
    const end = await ended([stored(1), stored(2)]);
    let isBroken = true;
    const before = async (call: string): Promise<void> => {
      if (call === 'artifacts.drop' && isBroken) throw new Error('the store is away');
    };
    const { ends } = new TestAgent(world, { pictures: () => ({ keep: 'none' }), before });
    await expect(ends.handle(end)).rejects.toThrow('the store is away');
    expect(await recorded()).toHaveLength(1);
    isBroken = false;
    expect(await ends.handle(end)).toEqual({ kind: 'done' });
    expect([await recorded(), world.stored.size]).toEqual([[expect.anything()], 0]);
  });

  it.each([
    ['another run', 'run2'],
    ['nobody', null],
  ])('are not dropped where they say that they are of %s', async (_, of) => {
    const [others, own] = [stored(1, of), stored(2)];
    await agentOf({ keep: 'none' }).handle(await ended([others, own]));
    expect(await recorded()).toEqual([{ rule: 'pictures: { keep: none }', pictures: [own] }]);
    expect([...world.stored.keys()]).toEqual([others.sha256]);
  });

  it('stay while the run is open again', async () => {
    const end = await ended([stored(1), stored(2)]);
    run.reopen('2026-11-20T10:00:00.060Z');
    await world.record(run);
    expect(await agentOf({ keep: 'none' }).handle(end)).toEqual({ kind: 'done' });
    expect(world.stored.size).toBe(2);
  });
});
