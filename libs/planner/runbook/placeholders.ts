import type { Json } from '#proto';

/** A filter: `sh` quotes for a POSIX shell, `list` parts at commas. */
export type Filter = 'sh' | 'list';

export interface Placeholder {
  readonly kind: 'placeholder';
  /** `p.<parameter>`, `device.id`, `fleet.devices` or `fleet.left_out`. */
  readonly name: string;
  readonly filter: Filter | null;
}
export type TemplatePiece = { readonly kind: 'text'; readonly text: string } | Placeholder;

export type Pieces =
  { readonly ok: true; readonly pieces: readonly TemplatePiece[] } | { readonly ok: false; readonly message: string };

/** Values of placeholders by name; a parameter that was not given has none. */
export type Values = ReadonlyMap<string, Json>;

const INSIDE = /^\s*(?:(["'])\{\{\1|([a-z][a-z0-9_]*\.[a-z][a-z0-9_]*)(?:\s*\|\s*([a-z]+))?)\s*$/u;
const FORMS = '{{ p.name }}, {{ p.name | sh }}, {{ p.name | list }}, or {{ "{{" }} for the two braces themselves';

/** Parts a text at its placeholders. That is all the language there is: no expressions, nothing is evaluated. */
export function piecesOf(text: string): Pieces {
  const pieces: TemplatePiece[] = [];
  let at = 0;
  for (let open = text.indexOf('{{'); open !== -1; open = text.indexOf('{{', at)) {
    if (open > at) pieces.push({ kind: 'text', text: text.slice(at, open) });
    const close = text.indexOf('}}', open);
    const found = close === -1 ? null : INSIDE.exec(text.slice(open + 2, close));
    const [, quote, name = '', filter] = found ?? [];
    if (found === null || (filter !== undefined && filter !== 'sh' && filter !== 'list')) {
      const shown = text.slice(open, close === -1 ? open + 40 : close + 2);
      return { ok: false, message: `${shown} is not a placeholder; there are ${FORMS}` };
    }
    pieces.push(quote === undefined ? { kind: 'placeholder', name, filter: filter ?? null } : BRACES);
    at = close + 2;
  }
  if (at < text.length) pieces.push({ kind: 'text', text: text.slice(at) });
  return { ok: true, pieces };
}

const BRACES: TemplatePiece = { kind: 'text', text: '{{' };

/** A text that stands for itself in a template. */
export function escaped(text: string): string {
  return text.replaceAll('{{', '{{ "{{" }}');
}

/** The placeholder that is the whole text. */
export function onlyPlaceholder(pieces: readonly TemplatePiece[]): Placeholder | undefined {
  const [first, second] = pieces;
  return first?.kind === 'placeholder' && second === undefined ? first : undefined;
}

/** The text with its values put in, as they are or quoted; nothing for a value that is not there. */
export function rendered(pieces: readonly TemplatePiece[], values: Values): string {
  return pieces.map((piece) => (piece.kind === 'text' ? piece.text : put(piece, values))).join('');
}

function put({ name, filter }: Placeholder, values: Values): string {
  const value = values.get(name);
  const text = value === undefined ? '' : textOf(value);
  return filter === 'sh' ? shellQuoted(text) : text;
}

/** One word for a POSIX shell, whatever it holds (POSIX.1-2017, XCU 2.2.2). */
export function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Of a placeholder that is the whole text, the value with its type; undefined when there is none. */
export function typedValue({ name, filter }: Placeholder, values: Values): Json | undefined {
  const value = values.get(name);
  if (filter === 'list') return value === undefined ? undefined : listOf(textOf(value));
  return filter === 'sh' && value !== undefined ? shellQuoted(textOf(value)) : value;
}

/** undefined when there is nothing in it. */
function listOf(text: string): string[] | undefined {
  const items = text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
  return items.length === 0 ? undefined : items;
}

const textOf = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value));
