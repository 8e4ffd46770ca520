import type { NatsConnection } from '@nats-io/transport-node';
import { cutParts, type CutPart } from '#libs/constellation';
import { ArtifactError, openArtifact, readArtifact } from '#libs/messaging';
import { fieldsOf, isObject, type ArtifactRef, type Json, type TaskResult } from '#proto';

/** `result`: what a tool answered that is no output of a command. `answer`: what an agent said at its end. */
export type RecordedStream = 'stdout' | 'stderr' | 'result' | 'answer';

/** How much there is of what was written. */
export interface StreamKept {
  readonly stream: RecordedStream;
  /** That were written; null where nobody has counted them. */
  readonly bytes: number | null;
  readonly kept: 'whole' | 'part';
  /** Of a part: why there is not more. Words of a device may be among them. */
  readonly why: string | null;
}

/** One stream of what a command wrote, as far as it is kept. */
export interface KeptStream extends StreamKept {
  /** What is kept begins where the stream began, and has no hole. */
  readonly isBeginning: boolean;
  /** From the beginning, each time. Throws ArtifactError, at the latest instead of ending: what is damaged is never taken for whole. */
  readonly read: () => AsyncIterable<Uint8Array>;
}

/** An answer that is kept as JSON is read whole to find a text in it, up to this many bytes. */
const ANSWER_BYTES_MAX = 128 * 1024 * 1024;

const PRINTED = ['stdout', 'stderr'] as const;

/** What there is of a result, wherever it lies: in the log, by itself, or as a field of a whole answer. */
export async function keptStreams(
  nc: NatsConnection,
  result: TaskResult,
  only: 'result' | 'answer' = 'result',
): Promise<KeptStream[]> {
  const { value } = result;
  const cut = new Map(cutParts(result).map((part) => [part.part, part]));
  const printed = PRINTED.filter((name) => isObject(value) && typeof fieldsOf(value)[name] === 'string');
  if (printed.length === 0) return [{ ...(await keptOf(nc, result, 'result', cut.get('result'))), stream: only }];
  return Promise.all(printed.map((name) => keptOf(nc, result, name, cut.get(name))));
}

/** A part of a result that is kept beside it, as text. Throws ArtifactError, at the latest instead of ending. */
export function readCutPart(
  nc: NatsConnection,
  { part, isText, ref }: CutPart & { readonly ref: ArtifactRef },
): AsyncIterable<Uint8Array> {
  const kept = readArtifact(nc, ref.sha256);
  return isText ? kept : fieldOf(kept, part);
}

type Part = CutPart['part'];

async function keptOf(
  nc: NatsConnection,
  { value, incomplete = [] }: TaskResult,
  stream: Part,
  cut: CutPart | undefined,
): Promise<KeptStream> {
  const text = textOf(value, stream);
  const rest = (bytes: number | null, why: string): KeptStream => ({
    stream,
    bytes,
    kept: 'part',
    why,
    isBeginning: false,
    read: () => once(text),
  });
  const isCutThere = incomplete.includes(stream) || (stream === 'result' && incomplete.length > 0);
  const lost = isCutThere ? 'its device could not send the whole and has cut it' : null;
  if (cut === undefined) {
    if (lost !== null) return rest(null, lost);
    return {
      stream,
      bytes: Buffer.byteLength(text),
      kept: 'whole',
      why: null,
      isBeginning: true,
      read: () => once(text),
    };
  }
  const { bytes, ref, isText, problem } = cut;
  if (ref === null) return rest(bytes, problem ?? 'its device has kept only the beginning and the end');
  try {
    await openArtifact(nc, ref.sha256);
  } catch (error) {
    if (!(error instanceof ArtifactError)) throw error;
    return rest(bytes, error.message);
  }
  if (isText) {
    const isWhole = problem === null && (bytes === null || bytes === ref.bytes);
    const why = isWhole ? null : (problem ?? `its device has kept ${ref.bytes} bytes of it`);
    return {
      stream,
      bytes,
      kept: isWhole ? 'whole' : 'part',
      why,
      isBeginning: true,
      read: () => readCutPart(nc, { ...cut, ref }),
    };
  }
  if (ref.bytes > ANSWER_BYTES_MAX)
    return rest(bytes, `it is in an answer of ${ref.bytes} bytes: orrery artifacts get ${ref.sha256}`);
  const read = (): AsyncIterable<Uint8Array> => readCutPart(nc, { ...cut, ref });
  return {
    stream,
    bytes: stream === 'result' ? null : bytes,
    kept: lost === null ? 'whole' : 'part',
    why: lost,
    isBeginning: lost === null,
    read,
  };
}

/** A string as it is; anything else as JSON for people. */
function textOf(value: Json, stream: Part): string {
  const found = stream === 'result' ? value : fieldsOf(value)[stream];
  return typeof found === 'string' ? found : JSON.stringify(found ?? null, null, 2);
}

async function* once(text: string): AsyncGenerator<Uint8Array> {
  if (text !== '') yield Buffer.from(text);
}

async function* fieldOf(pieces: AsyncIterable<Uint8Array>, stream: Part): AsyncGenerator<Uint8Array> {
  const all: Uint8Array[] = [];
  for await (const piece of pieces) all.push(piece);
  yield* once(textOf(JSON.parse(Buffer.concat(all).toString()) as Json, stream));
}
