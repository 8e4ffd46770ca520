import { jetstream } from '@nats-io/jetstream';
import type { JsMsg } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { subjects } from '#proto';
import type { DeadLetter, DurableSpec } from '#proto';
import type { Clock } from './clock.js';
import { ConnectionWatch } from './connection-watch.adapter.js';

const BURY_TIMEOUT_MS = 4_000;

export interface Grave {
  readonly service: string;
  readonly durable: DurableSpec;
  readonly clock: Clock;
}

/** Stores a copy of a bad message in the DLQ. The same message buried twice is one dead letter (within the dedupe window). */
export async function bury(nc: NatsConnection, message: JsMsg, reason: string, grave: Grave): Promise<void> {
  const { service, durable, clock } = grave;
  const { info } = message;
  const letter: DeadLetter = {
    service,
    stream: info.stream,
    sequence: info.streamSequence,
    durable: durable.durable,
    subject: message.subject,
    headers: Object.fromEntries(message.headers?.keys().map((key) => [key, message.headers?.values(key) ?? []]) ?? []),
    payloadBase64: Buffer.from(message.data).toString('base64'),
    reason,
    deliveries: info.deliveryCount,
    at: new Date(clock.now()).toISOString(),
  };
  await ConnectionWatch.of(nc).request(() =>
    jetstream(nc).publish(subjects.dlq(service), JSON.stringify(letter), {
      msgID: `${info.stream}:${info.streamSequence}:${durable.durable}`,
      timeout: BURY_TIMEOUT_MS,
    }),
  );
}
