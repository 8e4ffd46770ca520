import { keySyms } from 'x11';
import type { Modifier, Stroke } from '#libs/screen';
import { DesktopFault, pause } from '../faults/index.js';
import type { XScreen } from './x-display.adapter.js';

/** Faster, and programs need seconds for what they have got. */
const SIGN_MS = 3;
/** Until every program knows what a key means from now on. */
const REMAP_MS = 60;
const UNICODE = 0x01_00_00_00;

const HELD: Readonly<Record<Modifier, string>> = {
  Control: 'Control_L',
  Shift: 'Shift_L',
  Alt: 'Alt_L',
  Super: 'Super_L',
};

/** Where a symbol is: on which key, and whether with Shift. */
interface Place {
  readonly key: number;
  readonly isShifted: boolean;
}

/** The keyboard of a screen. Signs that no key has get one that has none, for as long as they are needed. */
export class XKeyboard {
  readonly #screen: XScreen;

  constructor(screen: XScreen) {
    this.#screen = screen;
  }

  /** Presses the keys one after the other; `mayGoOn` is asked before so many of them, and throws to end it. */
  async press(strokes: readonly Stroke[], mayGoOn: () => Promise<void>, every = CHECK_EVERY): Promise<void> {
    const layout = await Layout.read(this.#screen);
    let rest = strokes;
    while (rest.length > 0) {
      const count = layout.countWithKeys(rest);
      await layout.giveKeys(rest.slice(0, count));
      for (const [index, stroke] of rest.slice(0, count).entries()) {
        if (index % every === 0) await mayGoOn();
        await this.#stroke(stroke, layout);
      }
      rest = rest.slice(count);
    }
  }

  /** Holds a key down while something is done with the mouse. */
  async holding(modifier: Modifier, act: () => Promise<void>): Promise<void> {
    const { key } = (await Layout.read(this.#screen)).placeOf(namedSymbol(HELD[modifier]));
    this.#screen.input('KeyPress', key);
    try {
      await this.#screen.settled();
      await act();
    } finally {
      this.#screen.input('KeyRelease', key);
      await this.#screen.settled();
    }
  }

  async #stroke(stroke: Stroke, layout: Layout): Promise<void> {
    const place = layout.placeOf(symbolOf(stroke));
    const held = stroke.held.map((modifier) => layout.placeOf(namedSymbol(HELD[modifier])).key);
    const shift = layout.placeOf(namedSymbol(HELD.Shift)).key;
    const holding = place.isShifted && !held.includes(shift) ? [...held, shift] : held;
    const down: number[] = [];
    try {
      for (const code of [...holding, place.key]) {
        this.#screen.input('KeyPress', code);
        down.push(code);
      }
    } finally {
      for (const code of down.toReversed()) this.#screen.input('KeyRelease', code);
    }
    await this.#screen.settled();
    await pause(SIGN_MS);
  }
}

/** Signs between two looks at who gets them. */
const CHECK_EVERY = 16;

/** What the keys of the display mean. */
class Layout {
  readonly #screen: XScreen;
  readonly #fixed = new Map<number, Place>();
  /** Symbols that have a key for now, which had none. */
  #given = new Map<number, Place>();
  readonly #spare: number[];
  readonly #symbolsPerKey: number;

  private constructor(screen: XScreen, rows: readonly (readonly number[])[]) {
    const [first] = screen.keycodes;
    this.#screen = screen;
    this.#symbolsPerKey = rows[0]?.length ?? 1;
    this.#spare = rows.flatMap((row, index) => (row.every((symbol) => symbol === 0) ? [first + index] : []));
    for (const isShifted of [false, true]) {
      for (const [index, row] of rows.entries()) {
        const symbol = row[isShifted ? 1 : 0] ?? 0;
        if (symbol !== 0 && !this.#fixed.has(symbol)) this.#fixed.set(symbol, { key: first + index, isShifted });
      }
    }
  }

  static async read(screen: XScreen): Promise<Layout> {
    const [first, last] = screen.keycodes;
    const rows = await screen.ask<readonly (readonly number[])[]>((client, answered) =>
      client.GetKeyboardMapping(first, last - first + 1, answered),
    );
    return new Layout(screen, rows);
  }

  placeOf(symbol: number): Place {
    const place = this.#fixed.get(symbol) ?? this.#given.get(symbol);
    if (place === undefined) throw new DesktopFault('KEYS', 'this keyboard has no such key');
    return place;
  }

  /** How many of the strokes need no more keys than there are to give. */
  countWithKeys(strokes: readonly Stroke[]): number {
    const wanted = new Set<number>();
    const count = strokes.findIndex((stroke) => {
      if (this.#needsKey(stroke)) wanted.add(symbolOf(stroke));
      return wanted.size > this.#spare.length;
    });
    if (count === 0) throw new DesktopFault('KEYS', 'no key of this keyboard is free for a sign that none has');
    return count === -1 ? strokes.length : count;
  }

  /** Gives keys to all signs of the strokes that have none. */
  async giveKeys(strokes: readonly Stroke[]): Promise<void> {
    const needed = [...new Set(strokes.filter((stroke) => this.#needsKey(stroke)).map(symbolOf))];
    if (needed.every((symbol) => this.#given.has(symbol))) return;
    this.#given = new Map();
    for (const [index, symbol] of needed.entries()) {
      const key = this.#spare[index] ?? 0;
      const symbols = Array.from({ length: this.#symbolsPerKey }, () => symbol);
      this.#screen.client.ChangeKeyboardMapping(key, this.#symbolsPerKey, symbols);
      this.#given.set(symbol, { key, isShifted: false });
    }
    await this.#screen.settled();
    await pause(REMAP_MS);
  }

  #needsKey(stroke: Stroke): boolean {
    return 'sign' in stroke.key && !this.#fixed.has(symbolOf(stroke));
  }
}

function symbolOf({ held, key }: Stroke): number {
  if ('named' in key) return namedSymbol(key.named);
  // With Control or Alt a capital is how people write the key, not that it is shifted.
  const sign = held.includes('Control') || held.includes('Alt') ? key.sign.toLowerCase() : key.sign;
  const point = sign.codePointAt(0) ?? 0;
  if (point < 0x20 || (point >= 0x7f && point < 0xa0)) {
    throw new DesktopFault('KEYS', `the sign U+${point.toString(16).padStart(4, '0')} cannot be typed`);
  }
  return point < 0x1_00 ? point : UNICODE + point;
}

function namedSymbol(name: string): number {
  const symbol = keySyms[`XK_${name}`]?.code;
  if (symbol === undefined) throw new DesktopFault('KEYS', `there is no key ${name}`);
  return symbol;
}
