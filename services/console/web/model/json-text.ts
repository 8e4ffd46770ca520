import { parseJson, type Json } from '#proto';

/** What is typed as a value: JSON where it is some, else a text. `isText`: a text in any case. */
export function valueTyped(text: string, isText = false): Json {
  const parsed = isText ? undefined : (parseJson(text) as Json | undefined);
  return parsed === undefined ? text : parsed;
}

/** Of which kind a value is, so that nobody writes a text where a number was meant. */
export function kindOfValue(value: Json): 'text' | 'number' | 'flag' | 'list' | 'object' | 'nothing' {
  if (value === null) return 'nothing';
  if (Array.isArray(value)) return 'list';
  switch (typeof value) {
    case 'string':
      return 'text';
    case 'number':
      return 'number';
    case 'boolean':
      return 'flag';
    default:
      return 'object';
  }
}

/** A text as it is, all else as JSON: what is short on one line. */
export function shownJson(value: Json): string {
  if (typeof value === 'string') return value;
  const line = JSON.stringify(value);
  return line.length > LINE_CHARS_MAX ? JSON.stringify(value, null, 2) : line;
}

const LINE_CHARS_MAX = 80;

/** How a value is typed that is to stay what it is: a text that would be read as something else has its quotes. */
export function asTyped(value: Json): string {
  return typeof value === 'string' && valueTyped(value) === value ? value : JSON.stringify(value, null, 2);
}
