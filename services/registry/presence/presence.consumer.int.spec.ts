import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createLogger } from '#libs/platform';
import { PresenceConsumer } from './presence.consumer.js';
import { Rig } from '../rig.testing.js';

let rig: Rig;
beforeAll(async () => {
  rig = await Rig.start();
});
afterAll(() => rig.stop());

describe('PresenceConsumer', () => {
  it('ends when it is stopped before its watch stands', async () => {
    const hints: string[] = [];
    const consumer = new PresenceConsumer({
      nc: rig.nc,
      logger: createLogger({ service: 'registry', instance: 'a', level: 'silent' }),
      view: {
        isRecorded: () => false,
        connected: () => [],
        hint: (id) => void hints.push(id),
        seen: () => undefined,
        gone: () => undefined,
      },
    });
    const stop = new AbortController();
    const running = consumer.run(stop.signal);
    stop.abort();
    await running;
    expect(hints).toEqual([]);
  });
});
