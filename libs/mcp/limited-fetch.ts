import { MCP_LIMITS } from './tool-server.js';

/** Ends of lines, of which two end an event of a stream. */
const NEWLINE = 10;
const RETURN = 13;

/** Fetches as always, but a body that holds a longer message than a server may send breaks off with the reason. */
export async function limitedFetch(url: string | URL, init?: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  if (response.body === null) return response;
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(messageLimit(isStream)), { status, statusText, headers });
}

/** `isStream`: each of its events counts by itself. */
function messageLimit(isStream: boolean): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes = isStream && hasBlankLine(chunk) ? chunk.length : bytes + chunk.length;
      if (bytes <= MCP_LIMITS.messageBytesMax) controller.enqueue(chunk);
      else controller.error(new Error(`the server sent a message of more than ${MCP_LIMITS.messageBytesMax} bytes`));
    },
  });
}

function hasBlankLine(chunk: Uint8Array): boolean {
  let isStart = false;
  for (const byte of chunk) {
    if (byte === NEWLINE && isStart) return true;
    if (byte !== RETURN) isStart = byte === NEWLINE;
  }
  return false;
}
