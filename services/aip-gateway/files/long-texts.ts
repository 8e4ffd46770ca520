/*
 * A result of a hundred megabytes is nearly always one text: the output of a command, a picture. It is taken out of its frame
 * where it lies, byte by byte, without the frame ever becoming a string or a tree; what is left is small and read as usual.
 * No imports: this runs in a worker.
 */

/** Where a long text was, in the frame: property names and positions. */
export type TextPath = readonly (string | number)[];

export interface LongText {
  readonly path: TextPath;
  /** Its bytes as UTF-8, in the frame's own memory. */
  readonly start: number;
  readonly end: number;
}

export interface Taken {
  /** The frame with head and tail of its long texts. */
  readonly text: string;
  readonly texts: readonly LongText[];
}

export interface TakeLimits {
  /** Bytes of a text that stays where it is. */
  readonly textBytesMax: number;
  /** Bytes of head, and of tail, that are left of a longer one. */
  readonly shownBytes: number;
  /** Texts that are taken out; of more only head and tail are left. */
  readonly textsMax: number;
  /** Bytes of what is left in the end. */
  readonly restBytesMax: number;
  /** What may stand in no text: it is overwritten. */
  readonly secrets: readonly string[];
}

interface Container {
  readonly isArray: boolean;
  key: string;
  index: number;
  expectsKey: boolean;
}

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];
const DEPTH_MAX = 64;
const KEY_BYTES_MAX = 1_024;

/** Takes long texts out of JSON. The bytes of `frame` are used up. Undefined when too much is left, or it is nested too deep. */
export function takeLongTexts(frame: Buffer, limits: TakeLimits): Taken | undefined {
  const texts: LongText[] = [];
  const rest: string[] = [];
  const stack: Container[] = [];
  let [copied, restBytes] = [0, 0];
  const keep = (text: string): void => {
    restBytes += text.length;
    rest.push(text);
  };
  for (let at = 0; at < frame.length; at++) {
    const byte = frame[at];
    const top = stack.at(-1);
    if (byte === QUOTE) {
      const end = endOfString(frame, at + 1);
      if (top?.expectsKey === true) {
        top.key = frame.toString('utf8', at + 1, Math.min(end, at + 1 + KEY_BYTES_MAX));
        top.expectsKey = false;
      } else if (end - at - 1 > limits.textBytesMax) {
        keep(frame.toString('utf8', copied, at));
        const bytes = unescaped(frame, at + 1, end);
        const text = { path: pathOf(stack), start: at + 1, end: at + 1 + bytes };
        for (const secret of limits.secrets) overwrite(frame.subarray(text.start, text.end), secret);
        if (texts.length < limits.textsMax) texts.push(text);
        keep(JSON.stringify(shown(frame, text, limits.shownBytes)));
        copied = end + 1;
      }
      at = end;
    } else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) {
      const isArray = byte === OPEN_ARRAY;
      stack.push({ isArray, key: '', index: 0, expectsKey: !isArray });
      if (stack.length > DEPTH_MAX) return undefined;
    } else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) stack.pop();
    else if (byte === COMMA && top !== undefined) {
      if (top.isArray) top.index++;
      else top.expectsKey = true;
    }
    if (restBytes + at - copied > limits.restBytesMax && restBytes > limits.restBytesMax) return undefined;
  }
  if (restBytes + frame.length - copied > limits.restBytesMax) return undefined;
  keep(frame.toString('utf8', copied));
  return { text: rest.join(''), texts };
}

const pathOf = (stack: readonly Container[]): TextPath =>
  stack.map(({ isArray, key, index }) => (isArray ? index : key));

/** Position of the quote that ends the string which begins at `from`, or the end of the frame. */
function endOfString(frame: Buffer, from: number): number {
  for (let at = from; ;) {
    const quote = frame.indexOf(QUOTE, at);
    if (quote === -1) return frame.length;
    let backslashes = 0;
    while (quote - 1 - backslashes >= from && frame[quote - 1 - backslashes] === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return quote;
    at = quote + 1;
  }
}

const ESCAPES: Readonly<Record<string, number>> = {
  b: 8,
  f: 12,
  n: 10,
  r: 13,
  t: 9,
  '"': QUOTE,
  '\\': BACKSLASH,
  '/': 0x2f,
};
const REPLACEMENT = 0xfffd;

/** Resolves the escapes of a string where it lies, which never makes it longer. Returns how many bytes it has then. */
function unescaped(frame: Buffer, from: number, to: number): number {
  let write = frame.indexOf(BACKSLASH, from);
  if (write === -1 || write >= to) return to - from;
  for (let read = write; read < to;) {
    if (frame[read] !== BACKSLASH) {
      const next = frame.indexOf(BACKSLASH, read);
      const end = next === -1 ? to : Math.min(next, to);
      frame.copyWithin(write, read, end);
      write += end - read;
      read = end;
      continue;
    }
    const kind = String.fromCharCode(frame[read + 1] ?? 0);
    if (kind !== 'u') {
      frame[write++] = ESCAPES[kind] ?? 0x3f;
      read += 2;
      continue;
    }
    const [code, length] = codePointAt(frame, read);
    write += frame.write(String.fromCodePoint(code), write, 'utf8');
    read += length;
  }
  return write - from;
}

/** Of an escape `\uXXXX`, or two that are one character; half a character becomes U+FFFD. */
function codePointAt(frame: Buffer, at: number): [code: number, length: number] {
  const unit = unitAt(frame, at);
  if (unit < 0xd800 || unit > 0xdfff) return [unit, 6];
  const isPair = unit < 0xdc00 && frame[at + 6] === BACKSLASH && frame[at + 7] === 0x75;
  const low = isPair ? unitAt(frame, at + 6) : 0;
  if (low < 0xdc00 || low > 0xdfff) return [REPLACEMENT, 6];
  return [0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00), 12];
}

function unitAt(frame: Buffer, at: number): number {
  const unit = Number.parseInt(frame.toString('latin1', at + 2, at + 6), 16);
  return Number.isNaN(unit) ? REPLACEMENT : unit;
}

function overwrite(text: Buffer, secret: string): void {
  const bytes = Buffer.byteLength(secret);
  for (let at = text.indexOf(secret); at !== -1; at = text.indexOf(secret, at + bytes)) text.fill('*', at, at + bytes);
}

function shown(frame: Buffer, { start, end }: LongText, bytes: number): string {
  const clean = (text: string): string => text.replaceAll('�', '');
  const head = clean(frame.toString('utf8', start, start + bytes));
  const tail = clean(frame.toString('utf8', end - bytes, end));
  return `${head}\n[... ${end - start - 2 * bytes} bytes cut ...]\n${tail}`;
}
