import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { LIMITS } from '#proto';
import { HANGING, hangs, TASK_MS } from './aip-faults-hangs.js';
import type { Way } from '#libs/testing';
import { FaultRig } from './aip-faults-rig.js';
import { cutEverywhere, FaultStories, type Harm, silentUntilNoticed, some } from './aip-faults-stories.js';
import { writeRequest } from './requests.js';
import { type Row, tableOf, withOutcome } from './aip-faults-table.js';
import { until } from './system.js';

/** As short as it may be configured for lines that are good: nothing here waits for three quarters of a minute. */
const DEAD_AFTER_MS = 3_000;
const FLAPPING = { forMs: 24_000, upMs: 2_000, downMs: 2_000, commands: 40 };
/** A device that is cut off again and again waits no longer than this before it dials. */
const RECONNECT_MAX_MS = 1_000;
/** A frame that carries this much more than it has to can be told from the others. */
const LARGE_BYTES = 4_000;
/** At 20 kB/s one is under way for longer than a silent peer is waited for. */
const SLOW_BYTES = 80_000;
/** What a device comes back from happens to this one, one after the other. */
const ON = 'survivor';
/** Ten times what is aimed at (the timeout and the grace): a liveness deadline. */
const STATED_WITHIN_MS = 10 * (TASK_MS + LIMITS.stopGraceMs);

describe('a device whose network or processes fail', () => {
  let rig: FaultRig;
  let stories: FaultStories;
  /** How to end what was started, the last one first. */
  const ends: (() => unknown)[] = [];
  let beside: ReturnType<typeof longStories>;
  let hanging: Awaited<ReturnType<typeof hangs>>;

  beforeAll(async () => {
    const environment = { ORRERY_AIP_DEAD_AFTER_MS: String(DEAD_AFTER_MS) };
    const config = { deadAfterMs: DEAD_AFTER_MS, reconnectMsMax: RECONNECT_MAX_MS };
    rig = await FaultRig.start({ environment, config, gateways: 2 });
    ends.unshift(() => rig.stop());
    stories = new FaultStories(rig);
    ends.unshift(() => process.stderr.write(`${tableOf(stories.rows)}\n`));
    beside = longStories(stories);
    for (const story of Object.values(beside)) story.catch(() => undefined);
    hanging = await hangs(rig);
    ends.unshift(() => hanging.stop());
  });

  afterAll(async () => {
    for (const end of ends) await end();
  });

  const allCompleted = ({ fates }: Row): void => expect(withOutcome(fates, 'completed')).toHaveLength(fates.length);

  it.each(['rst', 'fin'] as const)('is cut off with %s in mid-command: every command completes', async (how) => {
    const fault = `cut-${how}`;
    const harm: Harm = async ({ proxy }) => {
      await until('a connection to cut', async () => proxy.cut(how) > 0 || undefined);
      return undefined;
    };
    allCompleted(await stories.tell({ fault, on: ON, commands: some(fault, 6, { seconds: 1.5 }), harm }));
  });

  it.each(['up', 'down'] as const)('is cut off in the middle of a frame that goes %s', async (way) => {
    const fault = `mid-frame-${way}`;
    const size = way === 'up' ? { prints: LARGE_BYTES } : { padding: LARGE_BYTES };
    const lurking: Harm = ({ proxy }) =>
      proxy.cutInFrame({ way, bytesMin: LARGE_BYTES / 2 }).then(() => performance.now());
    allCompleted(await stories.tell({ fault, on: ON, commands: some(fault, 6, { seconds: 0.3, ...size }), lurking }));
  });

  it.each(['up', 'down'] as const)(
    'is cut off again and again, everywhere in a beginning that goes %s',
    async (way) => {
      allCompleted(await beside[`cut-everywhere-${way}`]);
    },
  );

  it('has a slow line: a result takes longer than its peers wait in silence', async () => {
    allCompleted(await beside['slow-line']);
  });

  it('hears nothing for less than its peers wait: the connection survives, nothing is lost', async () => {
    const harm: Harm = async ({ proxy }) => {
      proxy.hold();
      await sleep(DEAD_AFTER_MS / 2);
      proxy.release();
      return undefined;
    };
    const fault = 'held-short';
    allCompleted(await stories.survived({ fault, on: ON, commands: some(fault, 6, { seconds: 0.5 }), harm }));
  });

  it.each([
    ['both directions', ['up', 'down']],
    ['what it says', ['up']],
    ['what it hears', ['down']],
  ] as const)('is half-open in %s until its peers count it as dead', async (_, ways) => {
    const fault = ['half-open', ...ways].join('-');
    const harm: Harm = (device) => silentUntilNoticed(rig, device, ways);
    allCompleted(await stories.tell({ fault, on: ON, commands: some(fault, 6, { seconds: 0.5 }), harm }));
  });

  it.each([
    ['keeps', 'device-killed'],
    ['loses', 'journal-gone'],
  ] as const)(
    'is killed in mid-command and %s its journal: what ran is unknown, the rest is executed',
    async (does, fault) => {
      const commands = some(fault, 6, { seconds: 0, gate: `gate-of-${fault}` });
      const ids = new Set(commands.map(({ id }) => id));
      let ran: string[] = [];
      const harm: Harm = async (device) => {
        ran = (await device.effects()).filter((id) => ids.has(id));
        await device.process.kill9();
        const killed = performance.now();
        // What is left of the commands may end; those that nobody has begun pass through.
        await device.openGate(`gate-of-${fault}`);
        if (does === 'loses') await device.process.forget();
        await device.process.begin();
        return killed;
      };
      const { fates } = await stories.tell({ fault, on: ON, commands, harm });
      expect(withOutcome(fates, 'unknown')).toEqual(ran.toSorted());
      expect(withOutcome(fates, 'completed')).toHaveLength(fates.length - ran.length);
    },
  );

  it.each([
    ['another one takes over', { gateways: [1, 2] }],
    ['it alone is started again', { gateways: [1], on: ON }],
  ] as const)('loses its gateway to kill -9 in mid-command, and %s', async (_, where) => {
    const fault = `gateway-killed-of-${where.gateways.length}`;
    const commands = some(fault, 6, { seconds: 1.5 });
    const harm: Harm = () => rig.system.kill9('aip-gateway').then(() => performance.now());
    allCompleted(await stories.tell({ fault, commands, harm, ...where }));
  });

  it('never lets a run hang: a tool that the device does not have is refused before anything begins', async () => {
    const task = { id: 'a', name: 'a', target: { device: 'hang-0' }, command: { tool: 'NO_SUCH_TOOL', arguments: {} } };
    const constellation = { name: 'unknown tool', tasks: [task], lines: [] };
    const file = await writeRequest(rig.system.home, { requestId: 'unknown-tool', constellation });
    const refused = { code: 3, stderr: expect.stringContaining('NO_SUCH_TOOL') };
    expect(await rig.system.cli('submit', '-f', file)).toMatchObject(refused);
  });

  it.each(HANGING)('never lets a run hang: %s', async (what) => {
    const { outcome, code, ms } = await hanging.stated(what);
    process.stderr.write(`${what}: ${outcome} ${code} after ${Math.round(ms)} ms\n`);
    expect(outcome).not.toBe('completed');
    expect(ms).toBeLessThan(STATED_WITHIN_MS);
  });

  it('flaps while commands are given: every command completes once', async () => {
    allCompleted(await beside.flapping);
  });

  it('left a log that is verified from end to end', async () => {
    const verified = await rig.system.json<{ ok: boolean; runs: unknown[] }>('verify', '--all');
    expect(verified.ok).toBe(true);
    expect(verified.runs).toHaveLength(rig.watch.runs().size);
  });
});

/** What takes long happens beside the others, each on a device of its own. */
function longStories(stories: FaultStories) {
  const sweep = (way: Way): Promise<Row> => {
    const fault = `cut-everywhere-${way}`;
    const harm: Harm = (device) => cutEverywhere(device, way);
    return stories.tell({ fault, commands: some(fault, 12, { seconds: 1 }), harm });
  };
  const slow: Harm = async ({ proxy }) => {
    proxy.shape({ delayMs: 50, jitterMs: 50, bytesPerSecond: 20_000 });
    return undefined;
  };
  return {
    flapping: stories.flap('flapping', FLAPPING),
    'cut-everywhere-up': sweep('up'),
    'cut-everywhere-down': sweep('down'),
    'slow-line': stories.survived({
      fault: 'slow-line',
      commands: some('slow-line', 2, { seconds: 0.5, prints: SLOW_BYTES }),
      harm: slow,
    }),
  };
}
