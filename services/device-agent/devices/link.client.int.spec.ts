import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { pino } from 'pino';
import { type DeviceRequest, subjects } from '#proto';
import { startTestNats, type TestNats } from '#libs/testing';
import { NatsDeviceLink, type GatewayReply } from './link.client.js';

const stored = (deviceId: string): DeviceRequest => ({ kind: 'stored', commandId: 'r.t.1.0.0', deviceId });

describe('NatsDeviceLink', () => {
  let server: TestNats;
  let nc: NatsConnection;
  let link: NatsDeviceLink;

  beforeAll(async () => {
    server = await startTestNats();
    nc = await connect({ servers: server.url });
    link = new NatsDeviceLink(nc, pino({ level: 'silent' }));
  });

  afterAll(async () => {
    link.end();
    await nc.close();
    await server.stop();
  });

  /** Somebody who takes requests for the device and says nothing, as a gateway that is killed then. */
  async function silentGateway(deviceId: string): Promise<() => Promise<unknown>> {
    const { promise: asked, resolve } = Promise.withResolvers<unknown>();
    nc.subscribe(subjects.deviceCommand(deviceId), { callback: (_, message) => resolve(message) });
    await nc.flush();
    return () => asked;
  }

  it('waits no longer for a gateway when the device has another session; who asks other devices waits on', async () => {
    const [moved, stays] = [await silentGateway('moved'), await silentGateway('stays')];
    const asking = [link.ask(stored('moved')), link.ask(stored('moved'))];
    const other = link.ask(stored('stays'));
    await Promise.all([moved(), stays()]);
    link.moved('moved');
    expect(await Promise.all(asking)).toEqual([{ state: 'silent' }, { state: 'silent' }]);
    const first = await Promise.race<GatewayReply | 'waiting'>([other, Promise.resolve('waiting' as const)]);
    expect(first).toBe('waiting');
    link.moved('stays');
    expect(await other).toEqual({ state: 'silent' });
  });

  it('says that nobody serves the device', async () => {
    expect(await link.ask(stored('nobody'))).toEqual({ state: 'away' });
  });
});
