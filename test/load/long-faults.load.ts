import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { FaultRig } from '../e2e/aip-faults-rig.js';
import { FaultStories, some } from '../e2e/aip-faults-stories.js';
import { type Row, tableOf, withOutcome } from '../e2e/aip-faults-table.js';
import { scaled } from './load-system.js';

const FLAPPING = scaled(
  { forMs: 300_000, upMs: 2_000, downMs: 2_000, commands: 500 },
  { forMs: 10_000, upMs: 2_000, downMs: 2_000, commands: 20 },
);
const PARTITION_MS = scaled(600_000, 20_000);
/** Longer than the grace of a minute: what runs then is lost, and told of afterwards. */
const GRACE_MS = scaled(60_000, 8_000);
const RECONNECT_MS_MAX = 1_000;
const COMMAND_SECONDS = scaled(30, 3);

describe('faults that take their time', () => {
  let rig: FaultRig;
  let stories: FaultStories;
  /** How to end what was started, the last one first. */
  const ends: (() => unknown)[] = [];
  let flapping: Promise<Row>;
  let partition: Promise<Row>;

  beforeAll(async () => {
    const environment = {
      ORRERY_DEVICE_GRACE_MS: String(GRACE_MS),
      ORRERY_AIP_DEAD_AFTER_MS: String(scaled(45_000, 3_000)),
    };
    const config = { reconnectMsMax: RECONNECT_MS_MAX, deadAfterMs: scaled(45_000, 3_000) };
    rig = await FaultRig.start({ environment, config, gateways: 1 });
    ends.unshift(() => rig.stop());
    stories = new FaultStories(rig);
    ends.unshift(() => process.stderr.write(`${tableOf(stories.rows)}\n`));
    flapping = stories.flap('flapping', FLAPPING);
    partition = stories.away('partition', some('partition', 4, { seconds: COMMAND_SECONDS }), PARTITION_MS);
    for (const story of [flapping, partition]) story.catch(() => undefined);
  });

  afterAll(async () => {
    for (const end of ends) await end();
  });

  it(`flapping every 2 s for ${FLAPPING.forMs / 1_000} s`, async () => {
    const { fates } = await flapping;
    expect(withOutcome(fates, 'completed')).toHaveLength(fates.length);
  });

  it(`a partition of ${PARTITION_MS / 1_000} s`, async () => {
    const { fates } = await partition;
    expect(withOutcome(fates, 'device_lost')).toHaveLength(fates.length);
  });

  it('left a log that is verified from end to end', async () => {
    expect(await rig.system.json('verify', '--all')).toMatchObject({ ok: true });
  });
});
