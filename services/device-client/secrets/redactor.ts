// What must not leave the device is replaced on its way out, however a command has cut it into pieces.
//
//   secret ──► its forms (as it is, base64, hex, URL, JSON) ──► one table by the first two bytes
//   bytes ──► at each place: the longest form that begins there? ──yes──► [secret:name]
//                └── it might, the bytes end here ──► held until more come, or the end
//
// Whether a form begins at a place depends on the bytes from there on and on nothing else, so the cuts do not matter.
import type { Json } from '#proto';

/** Characters that tools put between the digits of a long value: `base64` breaks lines, `xxd` and `od` make groups. */
const LINE_BREAKS = '\r\n';
const HEX_GROUPS = '\r\n \t:-';
/** So many of them between two digits are the tool's; more are not one value any more. */
const SEPARATORS_MAX = 4;
/** Of a value with several lines each line counts, too: who prints a key prints its lines. */
const LINE_CHARS_MIN = 12;

const BYTES = 256;
const PAIRS = BYTES * BYTES;

interface Form {
  readonly bytes: Buffer;
  /** Bytes that may stand between two bytes of the form. */
  readonly between: ReadonlySet<number>;
  readonly mark: Buffer;
}

/** `more`: the bytes so far may be the beginning of a form. */
type Match = { readonly length: number; readonly mark: Buffer } | 'no' | 'more';

/** Replaces the values of secrets, and what they look like in usual encodings, by `[secret:<name>]`. */
export class Redactor {
  /** By the two bytes that they may begin with, the longest first. */
  readonly #forms = new Map<number, Form[]>();
  /** Whether there are any for two bytes: nearly always not, and then no closer look is needed. */
  readonly #mayBegin = new Uint8Array(PAIRS);
  readonly #firsts = new Uint8Array(BYTES);
  readonly #values: ReadonlyMap<string, string>;

  /** Pairs of name and value; a name may stand for several values. */
  constructor(secrets: Iterable<readonly [name: string, value: string]>) {
    const pairs = [...secrets];
    this.#values = new Map(pairs.map(([name, value]) => [value, name]));
    const forms = pairs.flatMap(([name, value]) => formsOf(value, Buffer.from(`[secret:${name}]`)));
    for (const form of forms.toSorted((one, other) => other.bytes.length - one.bytes.length)) this.#add(form);
  }

  /** What begins at the place; `isLast`: after these bytes come no more. */
  match(bytes: Buffer, at: number, isLast: boolean): Match {
    const [first = 0, second] = [bytes[at], bytes[at + 1]];
    if (second === undefined) return isLast || this.#firsts[first] === 0 ? 'no' : 'more';
    for (const form of this.#forms.get(first * BYTES + second) ?? []) {
      const match = matchForm(form, bytes, at);
      if (match === 'more' ? !isLast : match !== 'no') return match;
    }
    return 'no';
  }

  /** The first place from `at` on that is worth a look. */
  next(bytes: Buffer, at: number): number {
    let place = at;
    const last = bytes.length - 1;
    while (place < last && this.#mayBegin[(bytes[place] ?? 0) * BYTES + (bytes[place + 1] ?? 0)] === 0) place++;
    return place === last && this.#firsts[bytes[last] ?? 0] === 0 ? bytes.length : place;
  }

  text(text: string): string {
    const stream = new RedactedStream(this);
    const parts = [stream.push(Buffer.from(text)), stream.end()];
    // What is not well formed would change on its way through bytes.
    return stream.found ? Buffer.concat(parts).toString('utf8') : text;
  }

  /** Texts and keys everywhere in it, and numbers that are the whole of a value. */
  json(value: Json): Json {
    if (typeof value === 'string') return this.text(value);
    if (typeof value === 'number') {
      const name = this.#values.get(String(value));
      return name === undefined ? value : `[secret:${name}]`;
    }
    if (value === null || typeof value !== 'object') return value;
    if (Array.isArray(value)) return value.map((item) => this.json(item));
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [this.text(key), this.json(item)]));
  }

  #add(form: Form): void {
    const [first, second] = form.bytes;
    if (first === undefined || second === undefined) return;
    this.#firsts[first] = 1;
    for (const follower of new Set([second, ...form.between])) {
      const pair = first * BYTES + follower;
      this.#mayBegin[pair] = 1;
      this.#forms.set(pair, [...(this.#forms.get(pair) ?? []), form]);
    }
  }
}

/** One stream on its way out. What may become a secret is held back, and nothing else. */
export class RedactedStream {
  readonly #redactor: Redactor;
  #held: Buffer = Buffer.alloc(0);
  #found = false;

  constructor(redactor: Redactor) {
    this.#redactor = redactor;
  }

  /** Whether something was replaced. */
  get found(): boolean {
    return this.#found;
  }

  /** What of it may go on now. */
  push(chunk: Buffer): Buffer {
    return this.#take(this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]), false);
  }

  /** The rest; nothing follows. */
  end(): Buffer {
    return this.#take(this.#held, true);
  }

  #take(bytes: Buffer, isLast: boolean): Buffer {
    const redactor = this.#redactor;
    const parts: Buffer[] = [];
    let from = 0;
    let at = redactor.next(bytes, 0);
    while (at < bytes.length) {
      const match = redactor.match(bytes, at, isLast);
      if (match === 'more') break;
      if (match === 'no') {
        at = redactor.next(bytes, at + 1);
        continue;
      }
      this.#found = true;
      parts.push(bytes.subarray(from, at), match.mark);
      from = at + match.length;
      at = redactor.next(bytes, from);
    }
    const end = Math.min(at, bytes.length);
    this.#held = Buffer.from(bytes.subarray(end));
    const rest = bytes.subarray(from, end);
    return parts.length === 0 ? rest : Buffer.concat([...parts, rest]);
  }
}

function matchForm({ bytes: form, between, mark }: Form, bytes: Buffer, from: number): Match {
  let at = from;
  for (let index = 0; index < form.length; index++) {
    if (index > 0) at = afterSeparators(bytes, at, between);
    if (at >= bytes.length) return 'more';
    if (bytes[at] !== form[index]) return 'no';
    at++;
  }
  return { length: at - from, mark };
}

function afterSeparators(bytes: Buffer, from: number, between: ReadonlySet<number>): number {
  const last = between.size === 0 ? from : Math.min(bytes.length, from + SEPARATORS_MAX);
  let at = from;
  while (at < last && between.has(bytes[at] ?? 0)) at++;
  return at;
}

const NONE: ReadonlySet<number> = new Set();
const bytesIn = (characters: string): ReadonlySet<number> => new Set(Buffer.from(characters));

/** Every way in which the value is looked for. */
function formsOf(value: string, mark: Buffer): Form[] {
  const lines = value.split(/\r?\n/).filter((line) => line.length >= LINE_CHARS_MIN && !line.startsWith('-----'));
  return [...new Set([value, ...lines])].flatMap((part) => {
    const form = (text: string, between = NONE): Form => ({ bytes: Buffer.from(text), between, mark });
    const url = encodeURIComponent(part);
    const plain = [part, JSON.stringify(part).slice(1, -1), url, lowered(url), url.replaceAll('%20', '+')];
    const hex = Buffer.from(part).toString('hex');
    const digits = [hex, hex.toUpperCase(), ...[hex, hex.toUpperCase()].map((text) => text.replaceAll(/../g, '\\x$&'))];
    return [
      ...[...new Set(plain)].map((text) => form(text)),
      ...[...new Set(digits)].map((text) => form(text, bytesIn(HEX_GROUPS))),
      ...base64Of(Buffer.from(part)).map((text) => form(text, bytesIn(LINE_BREAKS))),
    ];
  });
}

const lowered = (url: string): string => url.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());

/**
 * In base64 a value looks different after one or two bytes of something else, as in `user:password`. Of those the digits
 * that depend on the value alone are looked for.
 */
function base64Of(value: Buffer): string[] {
  const inner = [0, 1, 2].map((before) => {
    const text = Buffer.concat([Buffer.alloc(before), value]).toString('base64');
    return text.slice(Math.ceil((before * 8) / 6), Math.floor(((before + value.length) * 8) / 6));
  });
  const padded = value.toString('base64');
  const all = [padded, padded.replaceAll('=', ''), ...inner];
  return [...new Set([...all, ...all.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'))])];
}
