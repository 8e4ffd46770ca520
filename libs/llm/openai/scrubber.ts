/** Shorter ones are placeholders of endpoints that want any key; to take them out of texts would spoil the texts. */
const KEY_CHARS_MIN = 8;
const SHOWN = '[key]';

/** Takes keys out of everything that is kept or shown: endpoints and proxies are known to repeat what they were sent. */
export class Scrubber {
  readonly #forms: readonly string[];
  readonly #firsts: ReadonlySet<string>;
  /** Any form, the longest first: what begins with another one goes as a whole. Null without keys. */
  readonly #any: RegExp | null;

  constructor(keys: readonly string[]) {
    const forms = keys.filter((key) => key.length >= KEY_CHARS_MIN).flatMap(formsOf);
    this.#forms = [...new Set(forms)].sort((one, other) => other.length - one.length);
    this.#firsts = new Set(this.#forms.map((form) => form.charAt(0)));
    const escaped = this.#forms.map((form) => form.replace(/[\\^$.*+?()[\]{}|]/gu, String.raw`\$&`));
    this.#any = escaped.length === 0 ? null : new RegExp(escaped.join('|'), 'gu');
  }

  scrub(text: string): string {
    return this.#any === null ? text : text.replace(this.#any, SHOWN);
  }

  /**
   * The same for a text that grows with every call: what could still become a key is held back. Shorter than before means that the
   * text began anew.
   */
  growing(): (soFar: string) => string {
    let done = 0;
    let shown = '';
    return (soFar) => {
      if (soFar.length < done) {
        done = 0;
        shown = '';
      }
      const until = this.#certainUntil(soFar, done);
      shown += this.scrub(soFar.slice(done, until));
      done = until;
      return shown;
    };
  }

  /** Where the first thing begins that may be the beginning of a key, and is not inside of a whole one; else the end. */
  #certainUntil(text: string, from: number): number {
    if (this.#any === null) return text.length;
    const longest = this.#forms[0]?.length ?? 0;
    const wholes = [...text.slice(from).matchAll(this.#any)].map(({ index, 0: { length } }) => {
      return { start: from + index, end: from + index + length };
    });
    for (let at = Math.max(from, text.length - longest + 1); at < text.length; at++) {
      if (!this.#firsts.has(text.charAt(at)) || wholes.some(({ start, end }) => start < at && at < end)) continue;
      const rest = text.slice(at);
      if (this.#forms.some((form) => form.length > rest.length && form.startsWith(rest))) return at;
    }
    return text.length;
  }
}

function formsOf(key: string): string[] {
  const bytes = Buffer.from(key);
  const json = JSON.stringify(key).slice(1, -1);
  return [key, json, encodeURIComponent(key), bytes.toString('hex'), ...base64FormsOf(bytes)];
}

/** As it looks inside of longer base64, wherever it begins: by the three ways its bytes can lie, without what neighbours change. */
function base64FormsOf(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((shift) => {
    const padded = Buffer.concat([Buffer.alloc(shift), bytes]);
    const first = Math.ceil((shift * 8) / 6);
    const last = Math.floor((padded.length * 8) / 6);
    return (['base64', 'base64url'] as const).map((encoding) => padded.toString(encoding).slice(first, last));
  });
}
