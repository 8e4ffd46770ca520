import type { JsMsg } from '@nats-io/jetstream';

/** A delivered message as handlers see it: they read it, they never acknowledge it. */
export interface BusMessage {
  readonly subject: string;
  readonly data: Uint8Array;
  readonly stream: string;
  /** Position in its stream. */
  readonly sequence: number;
  /** 1 for the first delivery. */
  readonly deliveries: number;
  /** Messages of the durable that wait behind this one. */
  readonly pending: number;
  /** Case-sensitive; undefined when absent. */
  header(name: string): string | undefined;
  headers(): Record<string, string[]>;
}

export function busMessage(message: JsMsg): BusMessage {
  const { info } = message;
  return {
    subject: message.subject,
    data: message.data,
    stream: info.stream,
    sequence: info.streamSequence,
    deliveries: info.deliveryCount,
    pending: info.pending,
    header: (name) => (message.headers?.has(name) === true ? message.headers.get(name) : undefined),
    headers: () =>
      Object.fromEntries(message.headers?.keys().map((key) => [key, message.headers?.values(key) ?? []]) ?? []),
  };
}
