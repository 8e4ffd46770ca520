import { errors, type Msg, type NatsConnection } from '@nats-io/transport-node';

/** The same connection, but for the first publish to a run: its message or its ack gets lost, which looks the same from here. */
export function losing(
  nc: NatsConnection,
  what: 'ack' | 'message',
  meanwhile = (): Promise<void> => Promise.resolve(),
): NatsConnection {
  let lost = false;
  const request = async (...args: Parameters<NatsConnection['request']>): Promise<Msg> => {
    if (lost || !args[0].startsWith('orrery.run.')) return nc.request(...args);
    lost = true;
    if (what === 'ack') await nc.request(...args);
    await meanwhile();
    throw new errors.TimeoutError();
  };
  return new Proxy(nc, {
    get: (target, property) => {
      if (property === 'request') return request;
      const value: unknown = Reflect.get(target, property, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}
