import { isUtf8 } from 'node:buffer';
import type { ClientTaskEnd } from '#libs/aip';
import { ArtifactError } from '#libs/messaging';
import { AIP_LIMITS, ArtifactRef, type Json, type TaskResult } from '#proto';

/** Room in a frame for everything around a result; what was asked is said again there. */
const ENVELOPE_BYTES = 256 * 1024;
export const RESULT_BYTES_MAX = AIP_LIMITS.foreignFrameBytesMax - ENVELOPE_BYTES;

/** Where large answers lie. Throws ArtifactError when one is not what it should be. */
export type ReadArtifact = (sha256: string) => Promise<Uint8Array>;

/** How a run ended, with what its event holds of the result. */
export interface RunEnd {
  readonly end: ClientTaskEnd;
  readonly result: TaskResult | null;
}

const STREAMS = ['stdout', 'stderr'] as const;

/** Whether the end is more than its event holds: then the store is asked, and a frame may become large. */
export function isLarge({ result }: RunEnd): boolean {
  return result !== null && (result.artifact !== undefined || storedStreams(result.value).length > 0);
}

/**
 * The end with the whole result, as far as a frame carries it. Past that the result stays as the event holds it, and `cut` says
 * how large the whole is and by which checksum it is found: nobody takes a part for all of it. Throws when the store cannot be read.
 */
export async function wholeEnd({ end, result }: RunEnd, read: ReadArtifact): Promise<ClientTaskEnd> {
  if (result === null) return end;
  const { artifact, incomplete = [] } = result;
  try {
    if (artifact !== undefined && artifact.bytes > RESULT_BYTES_MAX) return cutEnd(end, { field: '', ...artifact });
    const parsed = artifact === undefined ? result.value : (JSON.parse(decoded(await read(artifact.sha256))) as Json);
    const { value, left } = await withStreams(parsed, read);
    const [lost] = incomplete.filter((field) => !STREAMS.some((stream) => stream === field));
    const unsaid = left ?? (lost === undefined ? undefined : { field: lost, sha256: null, bytes: null });
    const whole = { ...end, result: value };
    return unsaid === undefined ? whole : cutEnd(whole, unsaid);
  } catch (error) {
    if (!(error instanceof ArtifactError)) throw error;
    return cutEnd(end, { field: '', sha256: artifact?.sha256 ?? null, bytes: artifact?.bytes ?? null });
  }
}

type Left = Omit<NonNullable<ClientTaskEnd['cut']>, 'message'>;

function cutEnd(end: ClientTaskEnd, { field, sha256, bytes }: Left): ClientTaskEnd {
  const what = field === '' ? 'the result' : `${field} of the result`;
  const size = bytes === null ? 'is not kept whole' : `has ${bytes} bytes, and this is a part of it`;
  const where = sha256 === null ? '' : `; the whole is the artifact ${sha256}`;
  return { ...end, cut: { field, sha256, bytes, message: `${what} ${size}${where}` } };
}

interface Streams {
  readonly value: Json;
  /** The first output that could not be put in. */
  readonly left: Left | undefined;
}

/** Outputs that the device has stored, put where the result holds a part of them, as long as all of it fits into a frame. */
async function withStreams(value: Json, read: ReadArtifact): Promise<Streams> {
  let whole = value;
  let left: Left | undefined = partly(value);
  for (const { stream, artifact } of storedStreams(value)) {
    const filled = await filledIn(whole, { stream, artifact }, read);
    if (filled === null) left ??= { field: stream, ...artifact };
    else whole = filled;
  }
  return { value: whole, left };
}

type Stored = { readonly stream: (typeof STREAMS)[number]; readonly artifact: ArtifactRef };

async function filledIn(value: Json, { stream, artifact }: Stored, read: ReadArtifact): Promise<Json | null> {
  if (artifact.bytes > RESULT_BYTES_MAX) return null;
  try {
    const bytes = await read(artifact.sha256);
    if (!isUtf8(bytes)) return null;
    const text = decoded(bytes);
    const filled = { ...(value as Record<string, Json>), [stream]: text };
    return Buffer.byteLength(JSON.stringify(filled)) > RESULT_BYTES_MAX ? null : filled;
  } catch (error) {
    // It is gone: what the result holds of it is shown, with where the bytes were.
    if (error instanceof ArtifactError) return null;
    throw error;
  }
}

function storedStreams(value: Json): Stored[] {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return [];
  return STREAMS.flatMap((stream) => {
    const artifact = ArtifactRef.safeParse(value[`${stream}_artifact`]).data;
    return artifact === undefined ? [] : [{ stream, artifact }];
  });
}

/** An output of which the device has kept a part only. */
function partly(value: Json): Left | undefined {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return undefined;
  for (const stream of STREAMS) {
    const { [stream]: text, [`${stream}_bytes`]: bytes, [`${stream}_artifact`]: stored } = value;
    if (typeof text !== 'string' || typeof bytes !== 'number') continue;
    const kept = ArtifactRef.safeParse(stored).data?.bytes ?? Buffer.byteLength(text);
    if (kept < bytes) return { field: stream, sha256: null, bytes };
  }
  return undefined;
}

const decoded = (bytes: Uint8Array): string => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
