import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { AgentProfile } from '#proto';
import { enrolled, given, HELD } from '../given.testing.js';
import { KvProfiles } from './kv-profiles.adapter.js';
import { profileOf } from './profile.js';
import { Rig } from '../rig.testing.js';

let rig: Rig;
beforeAll(async () => {
  rig = await Rig.start();
});
afterAll(() => rig.stop());

const profile = (changes: Partial<AgentProfile>): AgentProfile => {
  const device = given(enrolled());
  if (device === undefined) throw new Error('no device');
  return { ...profileOf(device, null), ...changes };
};

describe('AGENT_PROFILES', () => {
  it('is not overwritten by who did not know what is written: what is newest is asked for again', async () => {
    const [one, other] = [new KvProfiles(rig.nc), new KvProfiles(rig.nc)];
    let fleetHeld: AgentProfile['held'] = null;
    const told: AgentProfile['held'][] = [];
    await one.write('web-1', async () => {
      const profileThen = profile({ held: fleetHeld });
      told.push(fleetHeld);
      // Between this answer and the write, everything is held and another replica writes the profile.
      if (told.length === 1) {
        fleetHeld = HELD;
        await other.write('web-1', async () => profile({ held: HELD }));
      }
      return profileThen;
    });
    expect(told).toEqual([null, HELD]);
    expect((await one.read('web-1'))?.held).toEqual(HELD);
  });

  it('keeps the newest revision, and takes other content of the same one', async () => {
    const kv = new KvProfiles(rig.nc);
    const write = (changes: Partial<AgentProfile>) => kv.write('web-1', async () => profile(changes));
    await write({ revision: 3, tags: ['newer'] });
    await write({ revision: 2, tags: ['older'] });
    expect((await kv.read('web-1'))?.tags).toEqual(['newer']);
    await write({ revision: 3, tags: ['newer'], held: HELD });
    expect((await kv.read('web-1'))?.held).toEqual(HELD);
  });

  it('is written anew after it was removed', async () => {
    const kv = new KvProfiles(rig.nc);
    await kv.write('web-2', async () => profile({}));
    await kv.remove('web-2');
    expect([await kv.read('web-2'), await kv.list()]).toEqual([undefined, ['web-1']]);
    await kv.write('web-2', async () => profile({}));
    expect(await kv.read('web-2')).toEqual(profile({}));
  });
});
