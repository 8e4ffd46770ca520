import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { errors, type NatsConnection } from '@nats-io/transport-node';
import { pino } from 'pino';
import type { DeviceRequest } from '#proto';
import { NatsDeviceLink } from './link.client.js';

const STOP: DeviceRequest = { kind: 'stop', attempt: { runId: 'r', taskId: 't', attempt: 1 }, deviceId: 'd' };
const STORED: DeviceRequest = { kind: 'stored', commandId: 'r.t.1.0.0', deviceId: 'd' };

/** A link to a device that nobody serves for the first `away` requests. */
function linked(away: number) {
  const asked: DeviceRequest[] = [];
  const request = async (_: string, body: string) => {
    asked.push(JSON.parse(body));
    if (asked.length <= away) throw new errors.RequestError('', { cause: new errors.NoRespondersError('s') });
    return { data: Buffer.from('{"state":"done"}') };
  };
  const nc = { request, status: async function* () {} } as unknown as NatsConnection;
  const link = new NatsDeviceLink(nc, pino({ level: 'silent' }), { msMin: 0, msMax: 0 });
  const untilAsked = async (times: number): Promise<void> => {
    while (asked.length < times) await turn();
  };
  return { link, asked, untilAsked };
}

describe('what a device is told', () => {
  it('is a stop for as long as the device may be away, and once when it is there', async () => {
    const { link, asked, untilAsked } = linked(100);
    link.tell(STOP);
    await untilAsked(101);
    link.tell(STORED);
    await untilAsked(102);
    expect(asked.at(-1)).toEqual(STORED);
  });

  it('ends with the service that says it', async () => {
    const { link, asked, untilAsked } = linked(Infinity);
    link.tell(STOP);
    await untilAsked(3);
    link.end();
    const before = asked.length;
    for (let turns = 0; turns < 50; turns++) await turn();
    expect(asked.length).toBeLessThanOrEqual(before + 1);
  });
});
