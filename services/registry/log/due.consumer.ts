import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import { DeviceId, deviceIdOfSubject, DURABLES, parseWith } from '#proto';
import { consumeDurable, TimerBody, type BusMessage, type Consumption, type Outcome } from '#libs/messaging';
import type { FleetHandler } from './fleet.handler.js';

const DONE: Outcome = { kind: 'done' };

/** Due timers of devices: whoever of the replicas gets one looks at the device. */
export function consumeDue(nc: NatsConnection, fleet: FleetHandler, logger: Logger): Consumption {
  return consumeDurable(nc, DURABLES.registryDue, (message) => handleDue(message, fleet), {
    service: 'registry',
    report: (event) => logger.warn({ event }, 'due timers'),
  });
}

/** Acknowledged after the facts that follow are stored; a second delivery finds nothing left to decide. */
export async function handleDue(message: BusMessage, fleet: FleetHandler): Promise<Outcome> {
  const deviceId = DeviceId.safeParse(deviceIdOfSubject(message.subject));
  const due = parseDue(message.data);
  if (!deviceId.success || due === undefined) return { kind: 'poison', reason: 'not a due timer of a device' };
  await fleet.due(deviceId.data, { kind: 'timer', id: String(message.sequence) }, due);
  return DONE;
}

function parseDue(data: Uint8Array): number | undefined {
  try {
    const body = parseWith(TimerBody, JSON.parse(new TextDecoder().decode(data)));
    return body.ok ? Date.parse(body.value.at) : undefined;
  } catch {
    return undefined;
  }
}
