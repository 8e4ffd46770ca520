import type { ServerResponse } from 'node:http';
import type { NatsConnection } from '@nats-io/transport-node';
import { ArtifactError, openArtifact } from '#libs/messaging';
import type { ArtifactRef } from '#proto';
import { RefusedError } from '../http/index.js';
import { drained } from './sse-responses.adapter.js';

/** Of what is sent: bytes, unless its type is one that no browser runs anything of. */
export interface SentArtifact {
  readonly sha256: ArtifactRef['sha256'];
  readonly name: string;
  readonly mediaType: string;
}

/** Sends the content of an artifact at the pace of who reads it. Checked while it is read: what turns out to be damaged breaks off before its end. */
export async function sendArtifact(
  nc: NatsConnection,
  { sha256, name, mediaType }: SentArtifact,
  { response, signal, drainMsMax }: { response: ServerResponse; signal: AbortSignal; drainMsMax: number },
): Promise<void> {
  const reader = await openArtifact(nc, sha256).catch((error: unknown) => {
    throw error instanceof ArtifactError ? new RefusedError({ code: 'NOT_FOUND', message: error.message }) : error;
  });
  response.writeHead(200, {
    'Content-Type': mediaType,
    'Content-Length': reader.bytes,
    'Content-Disposition': `attachment; filename*=UTF-8''${encodeURIComponent(name)}`,
    'Content-Security-Policy': 'sandbox',
    'X-Content-Type-Options': 'nosniff',
    'X-Accel-Buffering': 'no',
  });
  try {
    for (let data = await reader.next(); data !== null; data = await reader.next()) {
      if (signal.aborted) return;
      if (!response.write(data) && !(await drained(response, signal, drainMsMax))) return void response.destroy();
    }
    response.end();
  } catch (error) {
    response.destroy();
    if (!(error instanceof ArtifactError)) throw error;
  }
}
