import type { ToolPart } from '#libs/mcp';
import { fieldsOf, FileName, MediaType } from '#proto';

export const TOOL_FILE_LIMITS = {
  /** Of one answer; what comes after them is counted. */
  filesMax: 32,
  fileBytesMax: 32 * 1024 * 1024,
  /** Of all files of one answer. */
  answerBytesMax: 64 * 1024 * 1024,
  nameCharsMax: 100,
  /** Of what a server said, where it is told again. */
  quotedCharsMax: 80,
  problemCharsMax: 300,
  /** Storing all files of one answer, and reading what it links to. */
  answerMs: 120_000,
} as const;

/** Where the bytes of a file are: in the answer, or under an address that only its server knows. */
export type PartContent =
  | { readonly kind: 'base64'; readonly base64: string }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'link'; readonly uri: string; readonly bytes: number | null }
  | { readonly kind: 'none'; readonly why: string };

/** A file as a server described it. */
export interface FilePart {
  readonly kind: 'file';
  /** What it is, where it has no name. */
  readonly noun: string;
  /** As the server says it, and not clean. */
  readonly name: string | null;
  readonly mediaType: unknown;
  readonly content: PartContent;
}

export type AnswerPart = { readonly kind: 'text'; readonly text: string } | FilePart;

type Fields = Readonly<Record<string, unknown>>;

/** What a part of an answer is. Never throws: what is not understood is a file that is not kept. */
export function answerPart(part: ToolPart): AnswerPart {
  switch (part.type) {
    case 'text':
      return typeof part['text'] === 'string'
        ? { kind: 'text', text: part['text'] }
        : file('text', part, { kind: 'none', why: 'it is a text without its text' });
    case 'image':
    case 'audio':
      return file(part.type, part, base64In(part['data']));
    case 'resource':
      return resourcePart(fieldsOf(part['resource']));
    case 'resource_link':
      return linkPart(part);
    default:
      return file('part', part, { kind: 'none', why: `nobody here knows parts of the type ${quotedWord(part.type)}` });
  }
}

/** An embedded resource, or what a server has read: with its text, or its bytes. */
export function resourcePart(resource: Fields, name: string | null = null): FilePart {
  const { uri, text, blob } = resource;
  const content: PartContent = typeof text === 'string' ? { kind: 'text', text } : base64In(blob);
  return { ...file('resource', resource, content), name: name ?? nameIn(uri) };
}

function linkPart(link: Fields): FilePart {
  const { uri, name, size } = link;
  const bytes = typeof size === 'number' && Number.isSafeInteger(size) && size >= 0 ? size : null;
  const content: PartContent =
    typeof uri === 'string' && uri !== ''
      ? { kind: 'link', uri, bytes }
      : { kind: 'none', why: 'it is a link without an address' };
  return { ...file('resource', link, content), name: typeof name === 'string' && name !== '' ? name : nameIn(uri) };
}

const file = (noun: string, { mimeType: mediaType }: Fields, content: PartContent): FilePart => ({
  kind: 'file',
  noun,
  name: null,
  mediaType,
  content,
});

const base64In = (data: unknown): PartContent =>
  typeof data === 'string' ? { kind: 'base64', base64: data } : { kind: 'none', why: 'it has no content' };

/** The last part of the path of an address; null when it has none. */
function nameIn(uri: unknown): string | null {
  if (typeof uri !== 'string') return null;
  const path = uri.slice(0, URI_CHARS_MAX).replace(/[?#].*$/su, '');
  const last = path.slice(path.lastIndexOf('/') + 1);
  if (last === '' || last.endsWith(':')) return null;
  try {
    return decodeURIComponent(last);
  } catch {
    return last;
  }
}

const URI_CHARS_MAX = 8_192;

/** The bytes of what is in the answer itself, or why there are none. */
export function bytesOfContent(
  content: Extract<PartContent, { kind: 'base64' | 'text' }>,
): { readonly bytes: Buffer } | { readonly why: string } {
  const { fileBytesMax } = TOOL_FILE_LIMITS;
  const size = content.kind === 'text' ? Buffer.byteLength(content.text) : base64Bytes(content.base64);
  if (size > fileBytesMax) return { why: tooLong(size) };
  if (content.kind === 'text') return { bytes: Buffer.from(content.text) };
  if (content.base64.length % 4 !== 0 || !BASE64.test(content.base64)) return { why: 'its content is not base64' };
  return { bytes: Buffer.from(content.base64, 'base64') };
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

const base64Bytes = (text: string): number =>
  Math.floor((text.length * 3) / 4) - (text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0);

export const tooLong = (bytes: number): string =>
  `it has ${bytes} bytes, and a file of a tool has at most ${TOOL_FILE_LIMITS.fileBytesMax}`;

/** What somebody else said, short, and visible in all its characters. */
export const quotedWord = (text: string): string =>
  JSON.stringify(text.slice(0, TOOL_FILE_LIMITS.quotedCharsMax).toWellFormed());

const EXTENSIONS: Readonly<Record<string, string>> = {
  'application/json': '.json',
  'application/pdf': '.pdf',
  'application/zip': '.zip',
  'audio/mpeg': '.mp3',
  'audio/ogg': '.ogg',
  'audio/wav': '.wav',
  'image/gif': '.gif',
  'image/jpeg': '.jpg',
  'image/png': '.png',
  'image/svg+xml': '.svg',
  'image/webp': '.webp',
  'text/csv': '.csv',
  'text/html': '.html',
  'text/markdown': '.md',
  'text/plain': '.txt',
};

const ANY_TYPE = 'application/octet-stream';

/** What a file is called and what it is, with what is to be said where that is not what its server said. */
export interface Described {
  readonly name: string;
  readonly mediaType: MediaType;
  readonly remarks: readonly string[];
}

/** Gives the files of one answer their names: each one once, and none that anybody could take for a path. */
export class FileNames {
  readonly #taken = new Set<string>();
  readonly #counts = new Map<string, number>();

  describe({ noun, name, mediaType: said, content }: FilePart): Described {
    const mediaType = mediaTypeOf(said, content);
    const remarks = mediaType === null ? [`its server says that it is ${quotedWord(String(said))}`] : [];
    const type = mediaType ?? ANY_TYPE;
    const clean = name === null ? '' : cleanName(name);
    if (name !== null && clean !== name.normalize('NFC')) remarks.push(`its server calls it ${quotedWord(name)}`);
    const wished = clean === '' ? this.#numbered(noun, EXTENSIONS[type] ?? '.bin') : clean;
    return { name: this.#free(wished), mediaType: type, remarks };
  }

  #numbered(noun: string, extension: string): string {
    const count = (this.#counts.get(noun) ?? 0) + 1;
    this.#counts.set(noun, count);
    return `${noun}-${count}${extension}`;
  }

  #free(wished: string): string {
    const dot = wished.lastIndexOf('.');
    const [stem, extension] = dot > 0 ? [wished.slice(0, dot), wished.slice(dot)] : [wished, ''];
    let name = wished;
    for (let number = 2; this.#taken.has(name); number++) name = `${stem}-${number}${extension}`;
    this.#taken.add(name);
    return name;
  }
}

/** Null: something is said, and it is no media type. */
function mediaTypeOf(said: unknown, { kind }: PartContent): MediaType | null {
  if (said === undefined || said === null) return kind === 'text' ? 'text/plain' : ANY_TYPE;
  if (typeof said !== 'string') return null;
  const [type = ''] = said.split(';', 1);
  return MediaType.safeParse(type.trim().toLowerCase()).data ?? null;
}

/** The last part of a path, without what no name of a file may have; empty when nothing is left. */
function cleanName(raw: string): string {
  const path = raw.slice(-URI_CHARS_MAX).normalize('NFC');
  const last = path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);
  const allowed = last.replace(/[^\p{L}\p{M}\p{N} ._()+@=,-]/gu, '_').replace(/^[^\p{L}\p{N}_]+/u, '');
  const name = shortened(allowed.trimEnd());
  return FileName.safeParse(name).success && /[\p{L}\p{N}]/u.test(name) ? name : '';
}

const EXTENSION_CHARS_MAX = 16;

/** With its extension, which says more than its end. */
function shortened(name: string): string {
  const chars = Array.from(name);
  if (chars.length <= TOOL_FILE_LIMITS.nameCharsMax) return name;
  const dot = chars.lastIndexOf('.');
  const extension = dot > 0 && chars.length - dot <= EXTENSION_CHARS_MAX ? chars.slice(dot) : [];
  return [...chars.slice(0, TOOL_FILE_LIMITS.nameCharsMax - extension.length), ...extension].join('');
}
