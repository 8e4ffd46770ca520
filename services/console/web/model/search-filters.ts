import type { FoundText } from '#proto';

/** What commands of all runs are looked for by, as the service calls it: kept in the address, so that a link shows the same. */
export const SEARCH_FILTERS = [
  'words',
  'device',
  'by',
  'state',
  'exit',
  'rule',
  'run',
  'task',
  'since',
  'until',
] as const;
export type SearchFilter = (typeof SEARCH_FILTERS)[number];
export type SearchFilters = Readonly<Record<SearchFilter, string>>;

export function searchFiltersIn(search: URLSearchParams): SearchFilters {
  const said = SEARCH_FILTERS.map((name) => [name, search.get(name) ?? ''] as const);
  return Object.fromEntries(said) as Record<SearchFilter, string>;
}

/** What stands behind the `?`, of the page and of what is asked alike; empty: nothing is looked for. */
export function searchSaid(filters: SearchFilters, before?: string): string {
  const said = new URLSearchParams();
  for (const name of SEARCH_FILTERS) {
    const text = filters[name].trim();
    if (text !== '') said.set(name, text);
  }
  if (said.size > 0 && before !== undefined) said.set('before', before);
  return said.toString();
}

/** An instant as a field for local time has it; empty where it is none. */
export function localField(instant: string): string {
  const at = new Date(instant);
  if (Number.isNaN(at.getTime())) return '';
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** The instant that is meant by such a field. */
export function instantOfField(field: string): string {
  const at = new Date(field);
  return Number.isNaN(at.getTime()) ? '' : at.toISOString();
}

export interface MarkedPiece {
  readonly text: string;
  readonly isHit: boolean;
}

const AROUND_CHARS = 160;
/** What stands between the texts of JSON, and at both ends; what was escaped in the texts is so no more. */
const BETWEEN = /\s*"(?:\s*[{}[\]:,])+\s*"?|[{}[\]:,]+\s*"|^[{["\s]+|["}\]\s]+$/gu;

/** An answer of a tool as names and values: its brackets and quotation marks say nothing to who reads a part of it. */
export function shownAnswer({ text, marks }: Pick<FoundText, 'text' | 'marks'>): Pick<FoundText, 'text' | 'marks'> {
  let plain = '';
  let at = 0;
  const shifts: { readonly from: number; readonly by: number }[] = [];
  for (const { 0: found, index } of text.matchAll(BETWEEN)) {
    const isEdge = index === 0 || index + found.length === text.length;
    const sign = isEdge ? '' : found.includes(':') ? ': ' : found.includes(',') ? ' · ' : ' ';
    plain += text.slice(at, index) + sign;
    at = index + found.length;
    shifts.push({ from: index, by: sign.length - found.length });
  }
  const moved = (place: number): number => shifts.reduce((sum, { from, by }) => (from < place ? sum + by : sum), place);
  return {
    text: plain + text.slice(at),
    marks: marks.map(({ from, to }) => ({ from: moved(from), to: moved(to) })),
  };
}

/** What was looked for and what stands between: some of what is around it, not all of a long output. */
export function markedPieces({ text, marks }: Pick<FoundText, 'text' | 'marks'>): MarkedPiece[] {
  const start = Math.max(0, (marks[0]?.from ?? 0) - AROUND_CHARS);
  const end = Math.min(text.length, (marks.at(-1)?.to ?? 0) + AROUND_CHARS);
  const pieces: MarkedPiece[] = [{ text: start > 0 ? '…' : '', isHit: false }];
  let at = start;
  for (const { from, to } of marks) {
    pieces.push({ text: text.slice(at, from), isHit: false }, { text: text.slice(from, to), isHit: true });
    at = to;
  }
  pieces.push({ text: `${text.slice(at, end)}${end < text.length ? '…' : ''}`, isHit: false });
  return pieces.filter((piece) => piece.text !== '');
}
