import { LIMITS } from '#proto';
import { refused } from '#libs/messaging';

/** Room for the envelope of the answer. */
const ANSWER_BYTES_MAX = LIMITS.natsPayloadBytesMax - 64 * 1024;

/** The answer, where one message can hold it. Throws QueryRefusedError where it cannot. */
export function inOneMessage<T>(answer: T): T {
  if (Buffer.byteLength(JSON.stringify(answer)) <= ANSWER_BYTES_MAX) return answer;
  throw refused('TOO_LARGE', 'The answer is larger than one message may be; read the run from the log instead.');
}
