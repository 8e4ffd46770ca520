import type { FeedMessage, RunEventType } from '#proto';

/** After one of these a run takes annotations only: the stream of its events is over. */
const ENDS: readonly RunEventType[] = ['RUN_COMPLETED', 'RUN_FAILED'];

export const HEARTBEAT = ': still here\n\n';
/** What a browser waits before it comes back, in ms. */
export const RETRY = 'retry: 3000\n\n';

/** One event of the stream. JSON has no line breaks of its own, so one data line is enough. */
export function sseEvent(message: FeedMessage): string {
  return `id: ${oneLine(message.id)}\nevent: ${typeOf(message)}\ndata: ${JSON.stringify(message)}\n\n`;
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
