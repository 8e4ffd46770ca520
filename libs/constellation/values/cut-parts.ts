import { ArtifactRef, isObject, type Json, type TaskResult } from '#proto';

/** A part of a result of which its event holds head and tail only. */
export interface CutPart {
  readonly part: 'stdout' | 'stderr' | 'result';
  /** Of the whole; null where nobody has counted them. */
  readonly bytes: number | null;
  /** Where the whole lies; null: it is not kept. */
  readonly ref: ArtifactRef | null;
  /** The artifact is the text itself; else it is JSON, with the part as one of its fields. */
  readonly isText: boolean;
  /** Why not all of it is kept: a device's words. */
  readonly problem: string | null;
}

type Fields = Readonly<Record<string, Json>>;

/**
 * What of a result is cut, and where the whole of it is. A device keeps a long output apart, and what it then answers holds
 * head and tail of it: the answer is not the whole, even as an artifact.
 */
export function cutParts({ value, cut = [], artifact }: TaskResult): CutPart[] {
  const ref = artifact ?? null;
  const isPrinted = isObject(value) && PARTS.some((part) => typeof value[part] === 'string');
  if (!isPrinted) {
    return ref === null ? [] : [{ part: 'result', bytes: ref.bytes, ref, isText: false, problem: null }];
  }
  const parts = PARTS.flatMap((part) => cutOutput(value, part, { ref, isCut: cut.includes(part) }));
  if (parts.length > 0 || ref === null) return parts;
  return [{ part: 'result', bytes: ref.bytes, ref, isText: false, problem: null }];
}

/** `stdout is cut: the whole has 2000000 bytes: orrery artifacts get 9f86… -o FILE`, in parts of which only the last are foreign. */
export function cutText({ part, bytes, ref, isText, problem }: CutPart): { words: string; foreign: string[] } {
  const size = bytes === null ? '' : ` has ${bytes} bytes${part === 'result' ? ' as JSON' : ''}`;
  const why = problem === null ? [] : [problem];
  if (ref === null) return { words: `${part} is cut: the whole${size}, and is not kept`, foreign: why };
  const command = `orrery artifacts get ${ref.sha256} -o FILE`;
  if (problem !== null)
    return { words: `${part} is cut: the whole${size}, of which ${ref.bytes} are kept`, foreign: [command, problem] };
  const where =
    isText || part === 'result' ? '' : `${size === '' ? '' : ' and'} is the field ${part} of an answer that is kept`;
  return { words: `${part} is cut: the whole${size}${where}`, foreign: [command] };
}

const PARTS = ['stdout', 'stderr'] as const;
const encoder = new TextEncoder();

function cutOutput(
  value: Fields,
  part: (typeof PARTS)[number],
  { ref, isCut }: { readonly ref: ArtifactRef | null; readonly isCut: boolean },
): CutPart[] {
  const own = ArtifactRef.safeParse(value[`${part}_artifact`]).data ?? null;
  const counted = value[`${part}_bytes`];
  const bytes = typeof counted === 'number' ? counted : null;
  const said = value['artifact_error'];
  const problem = typeof said === 'string' && said.includes(`${part}: `) ? said : null;
  if (own !== null) return [{ part, bytes: bytes ?? own.bytes, ref: own, isText: true, problem }];
  if (problem !== null) return [{ part, bytes, ref: null, isText: false, problem }];
  if (isCut) return [{ part, bytes, ref, isText: false, problem: null }];
  const text = value[part];
  const isShort = bytes !== null && typeof text === 'string' && encoder.encode(text).length < bytes;
  return isShort ? [{ part, bytes, ref: null, isText: false, problem: null }] : [];
}
