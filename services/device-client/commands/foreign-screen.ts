import { isScreenTool, fieldsOf, type Json } from '#proto';
import type { ToolAnswer } from '#libs/mcp';

type Answered = Extract<ToolAnswer, { kind: 'answered' }>;

const PICTURE = 'data:image/png;base64,';

/**
 * What a tool of a screen has answered, as servers of UFO know it of their own devices: lists and texts without what our agents read
 * beside them, and a picture as the text of it.
 */
export function screenAnswer(tool: string, { value, parts = [] }: Pick<Answered, 'value' | 'parts'>): Json {
  if (!isScreenTool(tool)) return value;
  const { result, pictures } = fieldsOf(value);
  if (Array.isArray(pictures)) return `${PICTURE}${blobIn(parts)}`;
  return result === undefined ? value : result;
}

/** The first picture of an answer; the others are for who asks for them by arguments that such servers do not know. */
function blobIn(parts: NonNullable<Answered['parts']>): string {
  const blobs = parts.map((part) => fieldsOf((part['resource'] ?? null) as Json)['blob']);
  return blobs.find((blob) => typeof blob === 'string') ?? '';
}

/** A picture that lost its end would be none. */
export const isUncut = (result: Json, bytesMax: number): boolean =>
  typeof result !== 'string' || !result.startsWith(PICTURE) || result.length < bytesMax;
