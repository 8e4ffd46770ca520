import type { FeedMessage, OutputChunk, RunEventType } from '#proto';

export const SSE_LIMITS = {
  heartbeatMs: 15_000,
  /** What may wait to be sent to one client. */
  bufferBytesMax: 256 * 1024,
  /** What lies here of a log that a client reads more slowly than it is read for him. */
  readAheadMessages: 16,
  /** A client that does not take what waits within this is dropped. */
  drainMsMax: 10_000,
} as const;
export type SseLimits = { readonly [K in keyof typeof SSE_LIMITS]: number };

/** After one of these a run takes annotations only: the stream of its events is over. */
const ENDS: readonly RunEventType[] = ['RUN_COMPLETED', 'RUN_FAILED'];

export const HEARTBEAT = ': still here\n\n';
/** What a browser waits before it comes back, in ms. */
export const RETRY = 'retry: 3000\n\n';

/** One event of the stream. JSON has no line breaks of its own, so one data line is enough. */
export function sseEvent(message: FeedMessage): string {
  return `id: ${oneLine(message.id)}\nevent: ${typeOf(message)}\ndata: ${JSON.stringify(message)}\n\n`;
}

/** Without an id: who comes again gets all of it, and knows by the offsets what he has. */
export function sseOutput(chunk: OutputChunk): string {
  return `event: output\ndata: ${JSON.stringify(chunk)}\n\n`;
}

export function isEnd(message: FeedMessage): boolean {
  return ENDS.includes(typeOf(message));
}

function typeOf({ type }: FeedMessage): RunEventType {
  return type.slice('orrery.'.length) as RunEventType;
}

function oneLine(id: string): string {
  return id.replaceAll(/[\r\n\0]/gu, '');
}
