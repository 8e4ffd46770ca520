import { LIMITS, type AttentionAbout, type Instant } from '#proto';

/** One thing that needs somebody, as facts tell it: an entry without what people have said to it. */
export interface Attention extends AttentionAbout {
  readonly what: string;
  /** What to type. */
  readonly next: string;
  readonly since: Instant;
  /** It ends by itself then; null: by a fact, or a person. */
  readonly until: Instant | null;
}

const CUT = '…';

/** An entry with its sentence as long as one may be. */
export function attention(entry: Omit<Attention, 'until'> & { readonly until?: Instant }): Attention {
  return { until: null, ...entry, key: cut(entry.key, LIMITS.attentionKeyCharsMax), what: sentence(entry.what) };
}

function sentence(text: string): string {
  return cut(text.replaceAll(/\s+/gu, ' ').trim(), LIMITS.attentionCharsMax);
}

function cut(text: string, charsMax: number): string {
  return text.length <= charsMax ? text.toWellFormed() : `${text.slice(0, charsMax - 1).toWellFormed()}${CUT}`;
}
