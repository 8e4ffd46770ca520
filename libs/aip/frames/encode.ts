import type { ClientMessage, ServerMessage } from '#proto';

/** A message as it is sent: a text, or the head of a binary frame and the bytes that follow it. */
export interface Encoded {
  readonly text: string;
  readonly data?: Uint8Array;
}

/** `takesBytes`: the other end takes pieces of files as binary frames. */
export function encoded(message: ClientMessage | ServerMessage, takesBytes: boolean): Encoded {
  if (message.type !== 'file_chunk' || typeof message.orrery.data === 'string')
    return { text: JSON.stringify(message) };
  const { data } = message.orrery;
  const withData = (text: string): string => JSON.stringify({ ...message, orrery: { ...message.orrery, data: text } });
  if (takesBytes) return { text: withData(''), data };
  return { text: withData(Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('base64')) };
}
