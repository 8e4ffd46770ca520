import type { Readable, Stream } from 'node:stream';
import { MCP_LIMITS } from './tool-server.js';

/**
 * Reads a stream to nowhere at a bounded rate and remembers its end. A server that writes faster fills its own pipe and
 * waits; reading nothing at all would block honest servers, reading everything would burn our processor.
 */
export function drainSlowly(stream: Stream | null): () => string {
  if (stream === null) return () => '';
  const readable = stream as Readable;
  let tail = '';
  let budget: number = MCP_LIMITS.stderrBytesPerSecondMax;
  const refill = setInterval(() => {
    budget = MCP_LIMITS.stderrBytesPerSecondMax;
    if (readable.isPaused()) readable.resume();
  }, 1_000);
  refill.unref();
  readable.on('data', (chunk: Buffer) => {
    tail = (tail + chunk.subarray(-MCP_LIMITS.stderrTailBytes).toString('utf8')).slice(-MCP_LIMITS.stderrTailBytes);
    budget -= chunk.length;
    if (budget <= 0) readable.pause();
  });
  readable.once('close', () => clearInterval(refill));
  readable.once('end', () => clearInterval(refill));
  return () => tail.trim();
}
