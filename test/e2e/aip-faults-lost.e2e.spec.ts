import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { FaultRig } from './aip-faults-rig.js';
import { FaultStories, some } from './aip-faults-stories.js';
import { tableOf, withOutcome } from './aip-faults-table.js';

/** A device that is away for longer is lost. */
const GRACE_MS = 1_000;
const DEAD_AFTER_MS = 3_000;

describe('a device that is away for longer than the grace', () => {
  let rig: FaultRig;
  let stories: FaultStories;
  /** How to end what was started, the last one first. */
  const ends: (() => unknown)[] = [];

  beforeAll(async () => {
    const environment = { ORRERY_DEVICE_GRACE_MS: String(GRACE_MS), ORRERY_AIP_DEAD_AFTER_MS: String(DEAD_AFTER_MS) };
    const config = { deadAfterMs: DEAD_AFTER_MS, reconnectMsMax: GRACE_MS };
    rig = await FaultRig.start({ environment, config, gateways: 1 });
    ends.unshift(() => rig.stop());
    stories = new FaultStories(rig);
    ends.unshift(() => process.stderr.write(`${tableOf(stories.rows)}\n`));
  });

  afterAll(async () => {
    for (const end of ends) await end();
  });

  it('is lost with what runs on it; what it brings later is added to the log and changes no outcome', async () => {
    const { fates } = await stories.away('away', some('away', 4, { seconds: 0, gated: true }));
    expect(withOutcome(fates, 'device_lost')).toHaveLength(fates.length);
  });

  it('left a log that is verified from end to end', async () => {
    const verified = await rig.system.json<{ ok: boolean; runs: unknown[] }>('verify', '--all');
    expect(verified).toMatchObject({ ok: true, runs: [expect.anything()] });
  });
});
