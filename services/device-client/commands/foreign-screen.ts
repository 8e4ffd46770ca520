import { isScreenTool, fieldsOf, type Json } from '#proto';
import type { ToolAnswer } from '#libs/mcp';

type Answered = Extract<ToolAnswer, { kind: 'answered' }>;

const PICTURE = 'data:image/png;base64,';

/** Looks that are pictures, and nothing else. */
const CAPTURES: ReadonlySet<string> = new Set(['capture_window_screenshot', 'capture_desktop_screenshot']);

/**
 * What a tool of a screen has answered, as servers of UFO know it of their own devices: lists and texts without what our agents read
 * beside them, and a picture as the text of it. A server of MCP that has no structured answer says a picture as an image among its parts.
 */
export function screenAnswer(tool: string, { value, parts = [] }: Pick<Answered, 'value' | 'parts'>): Json {
  if (!isScreenTool(tool)) return value;
  if (Array.isArray(value) && CAPTURES.has(tool)) return imageIn(value) ?? value;
  const { result, pictures } = fieldsOf(value);
  if (Array.isArray(pictures)) return `${PICTURE}${blobIn(parts)}`;
  return result === undefined ? value : result;
}

function imageIn(parts: readonly Json[]): string | undefined {
  const images = parts.map(fieldsOf).filter(({ type, mimeType }) => type === 'image' && mimeType === 'image/png');
  const data = images[0]?.['data'];
  return typeof data === 'string' ? `${PICTURE}${data}` : undefined;
}

/** The first picture of an answer; the others are for who asks for them by arguments that such servers do not know. */
function blobIn(parts: NonNullable<Answered['parts']>): string {
  const blobs = parts.map((part) => fieldsOf((part['resource'] ?? null) as Json)['blob']);
  return blobs.find((blob) => typeof blob === 'string') ?? '';
}

/** A picture that lost its end would be none, and so would what an answer of parts has in it beside texts. */
export function isUncut(result: Json, bytesMax: number): boolean {
  if (typeof result === 'string') return !result.startsWith(PICTURE) || result.length < bytesMax;
  const hasBytes = Array.isArray(result) && result.some(isBytes);
  return !hasBytes || Buffer.byteLength(JSON.stringify(result)) < bytesMax;
}

/** A part of an answer of MCP that is an image, a sound or a file. */
function isBytes(part: Json): boolean {
  const { type, data, resource } = fieldsOf(part);
  return typeof type === 'string' && (typeof data === 'string' || typeof fieldsOf(resource)['blob'] === 'string');
}
