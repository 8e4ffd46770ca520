// One frame, and then this thread is over: what it took of memory goes with it.
import { createHash } from 'node:crypto';
import { parentPort } from 'node:worker_threads';
import { takeLongTexts, type TakeLimits } from './long-texts.js';

parentPort?.once('message', ({ bytes, limits }: { bytes: Uint8Array<ArrayBuffer>; limits: TakeLimits }) => {
  const frame = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const taken = takeLongTexts(frame, limits);
  const texts = taken?.texts.map((text) => ({
    ...text,
    sha256: createHash('sha256').update(frame.subarray(text.start, text.end)).digest('hex'),
  }));
  parentPort?.postMessage({ text: taken?.text, texts, bytes }, [bytes.buffer]);
});
