/** Where a reading is in a text that is still being written; made by `startReading`, moved on by `readOn`. */
export interface Reading {
  /** The decoded value of the field so far. */
  readonly value: string;
  /** The field is whole: nothing that follows changes the value. */
  readonly done: boolean;
  readonly state: ReadingState;
}

interface ReadingState {
  readonly field: string;
  readonly depth: number;
  readonly place: 'before-key' | 'after-key' | 'in-value' | 'after-value';
  /** Inside of a string: which one, and its text so far; null outside. */
  readonly string: { readonly role: 'key' | 'field' | 'other'; readonly text: string } | null;
  /** The characters of an escape that is not complete. */
  readonly escape: string;
  readonly key: string;
}

export function startReading(field: string): Reading {
  const state: ReadingState = { field, depth: 0, place: 'before-key', string: null, escape: '', key: '' };
  return { value: '', done: false, state };
}

/** Reads on with the next piece of the text. The same for every way of cutting a text into pieces. */
export function readPiece(reading: Reading, piece: string): Reading {
  if (reading.done || piece === '') return reading;
  const reader = new Reader(reading);
  for (const character of splitKeepingAll(piece)) {
    reader.take(character);
    if (reader.done) break;
  }
  return reader.reading();
}

/**
 * Follows a text that grows (`onText`), and gives the decoded value of the top-level string field of this name so far at each
 * call; the empty text before it has begun. A text that does not go on from the one before has
 * begun anew; calls may be left out.
 */
export function thoughtFollower(field = 'thought'): (soFar: string) => string {
  let reading = startReading(field);
  let before = '';
  return (soFar) => {
    const goesOn = soFar.startsWith(before);
    reading = goesOn ? readPiece(reading, soFar.slice(before.length)) : readPiece(startReading(field), soFar);
    before = soFar;
    return shown(reading.value);
  };
}

/** Half a character at the end is not shown: its other half is on its way. */
function shown(value: string): string {
  return (/[\uD800-\uDBFF]$/u.test(value) ? value.slice(0, -1) : value).toWellFormed();
}

/** By code units: a piece may end in the middle of a character. */
const splitKeepingAll = (piece: string): string[] => piece.split('');

const SIMPLE: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

/** A copy of a reading that may change while one piece is read. */
class Reader {
  done = false;
  #value: string[];
  #depth: number;
  #place: ReadingState['place'];
  #role: 'key' | 'field' | 'other' | null;
  #text: string;
  #escape: string;
  #key: string;
  readonly #field: string;

  constructor({ value, state }: Reading) {
    this.#value = [value];
    this.#field = state.field;
    this.#depth = state.depth;
    this.#place = state.place;
    this.#role = state.string?.role ?? null;
    this.#text = state.string?.text ?? '';
    this.#escape = state.escape;
    this.#key = state.key;
  }

  reading(): Reading {
    const string = this.#role === null ? null : { role: this.#role, text: this.#text };
    const { done } = this;
    const state = {
      field: this.#field,
      depth: this.#depth,
      place: this.#place,
      string,
      escape: this.#escape,
      key: this.#key,
    };
    return { value: this.#value.join(''), done, state };
  }

  take(character: string): void {
    if (this.#role === null) this.#outside(character);
    else if (this.#escape !== '') this.#escaped(character);
    else if (character === '\\') this.#escape = character;
    else if (character === '"') this.#endString();
    else this.#append(character);
  }

  #outside(character: string): void {
    switch (character) {
      case '{':
      case '[':
        this.#depth++;
        break;
      case '}':
      case ']':
        this.#depth--;
        break;
      case '"':
        this.#text = '';
        this.#role = this.#roleHere();
        break;
      case ':':
        if (this.#depth === 1) this.#place = 'in-value';
        break;
      case ',':
        if (this.#depth === 1) this.#place = 'before-key';
        break;
      default:
    }
  }

  #roleHere(): 'key' | 'field' | 'other' {
    if (this.#depth !== 1) return 'other';
    if (this.#place === 'before-key') return 'key';
    return this.#place === 'in-value' && this.#key === this.#field ? 'field' : 'other';
  }

  #escaped(character: string): void {
    const escape = this.#escape + character;
    if (escape[1] === 'u' && escape.length < 6) {
      this.#escape = escape;
      return;
    }
    this.#escape = '';
    if (escape[1] !== 'u') this.#append(SIMPLE[character] ?? character);
    else if (/^\\u[0-9a-f]{4}$/iu.test(escape)) this.#append(String.fromCharCode(Number.parseInt(escape.slice(2), 16)));
  }

  #append(text: string): void {
    if (this.#role === 'field') this.#value.push(text);
    // No key of ours is longer than the one looked for; of others the beginning is enough to tell them from it.
    else if (this.#role === 'key' && this.#text.length <= this.#field.length) this.#text += text;
  }

  #endString(): void {
    if (this.#role === 'field') this.done = true;
    if (this.#role === 'key') {
      this.#key = this.#text;
      this.#place = 'after-key';
    } else if (this.#depth === 1) this.#place = 'after-value';
    this.#role = null;
  }
}
