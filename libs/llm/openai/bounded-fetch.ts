import { LIMITS } from '#proto';
import { BodyTooLargeError } from './fault.js';

/** What surrounds each piece of a streamed reply is many times the piece. */
const BODY_BYTES_MAX = 64 * LIMITS.replyBytesMax;

/** A `fetch` whose answers, also those that say what is wrong, end with an error when they are larger than anything sensible. */
export function boundedFetch(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    if (response.body === null) return response;
    const { status, statusText, headers } = response;
    return new Response(response.body.pipeThrough(counting(BODY_BYTES_MAX)), { status, statusText, headers });
  };
}

function counting(max: number): TransformStream<Uint8Array, Uint8Array> {
  let seen = 0;
  return new TransformStream({
    transform(piece, controller) {
      seen += piece.byteLength;
      if (seen > max) controller.error(new BodyTooLargeError(`more than ${max} bytes`));
      else controller.enqueue(piece);
    },
  });
}
