import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { NatsConnection } from '@nats-io/transport-node';
import { run, TestBench } from '../testing/test-bench.adapter.js';

let bench: TestBench;
beforeAll(async () => {
  bench = await TestBench.start();
});
afterEach(() => bench.clear());
afterAll(() => bench.stop());

async function reconnected(nc: NatsConnection): Promise<void> {
  for await (const { type } of nc.status()) if (type === 'reconnect') return;
}

describe('a bus that dies', () => {
  it('costs no connection: PRESENCE, which the server has forgotten, is written again for the same session', async () => {
    const gate = await bench.gateway();
    const device = await bench.device(gate, 'n1');
    await bench.ask(run(device, 'before'));
    const back = reconnected(bench.caller);
    await bench.nats.kill9();
    await bench.nats.restart();
    await back;
    expect(await bench.sessionOf('n1')).toBe(device.sessionId);
    expect(await bench.ask(run(device, 'after'))).toMatchObject({ state: 'finished', outcome: { state: 'COMPLETED' } });
    // A watch that ended with the server is back: a newer connection elsewhere is noticed.
    const newer = await bench.device(await bench.gateway(), 'n1');
    expect(await device.closed).toMatchObject({ code: 4000 });
    expect(await bench.sessionOf('n1')).toBe(newer.sessionId);
  });
});
