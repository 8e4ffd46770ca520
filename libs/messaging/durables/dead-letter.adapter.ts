import { jetstream, type JsMsg } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { LIMITS, subjects, type DeadLetter, type DurableSpec } from '#proto';
import { busMessage } from './bus-message.js';
import { type Clock, ConnectionWatch } from '../connection/index.js';

const BURY_TIMEOUT_MS = 4_000;
const REASON_CHARS_MAX = 4_000;
/** Room in a letter for everything but the payload. */
const ENVELOPE_BYTES = 64 * 1024;

export interface Grave {
  readonly service: string;
  readonly durable: DurableSpec;
  readonly clock: Clock;
}

/** Stores a copy of a bad message in the DLQ. The same message buried twice is one dead letter (within the dedupe window). */
export async function bury(nc: NatsConnection, raw: JsMsg, reason: string, grave: Grave): Promise<void> {
  const { service, durable, clock } = grave;
  const message = busMessage(raw);
  const { payload, note } = fitting(message.data, nc.info?.max_payload ?? LIMITS.natsPayloadBytesMax);
  const letter: DeadLetter = {
    service,
    stream: message.stream,
    sequence: message.sequence,
    durable: durable.durable,
    subject: message.subject,
    headers: message.headers(),
    payloadBase64: Buffer.from(payload).toString('base64'),
    reason: reason.slice(0, REASON_CHARS_MAX) + note,
    deliveries: message.deliveries,
    at: new Date(clock.now()).toISOString(),
  };
  await ConnectionWatch.of(nc).request(() =>
    jetstream(nc).publish(subjects.dlq(service), JSON.stringify(letter), {
      msgID: `${message.stream}:${message.sequence}:${durable.durable}`,
      timeout: BURY_TIMEOUT_MS,
    }),
  );
}

/** A message as large as the server takes does not fit into a letter; the whole of it stays where it came from. */
function fitting(data: Uint8Array, bytesMax: number): { payload: Uint8Array; note: string } {
  const payloadMax = Math.floor(((bytesMax - ENVELOPE_BYTES) / 4) * 3);
  if (data.length <= payloadMax) return { payload: data, note: '' };
  return { payload: data.subarray(0, payloadMax), note: ` (the first ${payloadMax} of ${data.length} bytes are here)` };
}
