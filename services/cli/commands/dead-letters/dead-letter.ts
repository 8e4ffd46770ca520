import type { StoredMsg } from '@nats-io/jetstream';
import { DeadLetter, parseJson, parseWith, sentenceOf } from '#proto';

/** A dead letter and its position in the DLQ, by which the other commands name it. */
export type Buried = DeadLetter & {
  readonly id: number;
  /** What is stored is no letter of the service whose subject it has; these are its bytes and headers as they came. */
  readonly unreadable: boolean;
};

/** What a stored message of the DLQ says. One that says nothing, or speaks for another service, is shown for what it is: it never throws. */
export function letterFrom(message: Pick<StoredMsg, 'seq' | 'subject' | 'data' | 'header' | 'time'>): Buried {
  const { seq, subject, data } = message;
  const service = subject.split('.').slice(2).join('.');
  const parsed = parseWith(DeadLetter, parseJson(data));
  if (parsed.ok && parsed.value.service === service) return { id: seq, ...parsed.value, unreadable: false };
  const why = parsed.ok ? 'it names another service than its subject does' : parsed.issues.map(sentenceOf).join('; ');
  return {
    id: seq,
    service,
    stream: null,
    sequence: null,
    durable: null,
    subject,
    headers: headersOf(message),
    payloadBase64: Buffer.from(data).toString('base64'),
    reason: `this is no dead letter: ${why}`,
    deliveries: 1,
    at: new Date(message.time).toISOString(),
    unreadable: true,
  };
}

/** The letters of one message, of each service that could not handle it one or more. */
export function ofOneMessage(letters: readonly Buried[]): readonly (readonly Buried[])[] {
  const isOwn = ({ stream, sequence, unreadable }: Buried): boolean =>
    unreadable || stream === null || sequence === null;
  const keyOf = (letter: Buried): string => (isOwn(letter) ? `${letter.id}` : `${letter.stream} ${letter.sequence}`);
  return [...Map.groupBy(letters, keyOf).values()];
}

/** Each once, in their order. */
export const servicesOf = (letters: readonly Buried[]): string[] => [...new Set(letters.map(({ service }) => service))];

function headersOf({ header }: Pick<StoredMsg, 'header'>): Record<string, string[]> {
  return Object.fromEntries(header.keys().map((name) => [name, header.values(name)]));
}
