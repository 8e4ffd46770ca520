/**
 * The notation of keys that agents of UFO write: signs are typed, `{ENTER}` and `{VK_DOWN}` are keys, `{TAB 2}` is one twice, and
 * `{VK_CONTROL}c` holds a key while the next is pressed. `{VK_SHIFT down}` and `{VK_SHIFT up}` hold one for longer.
 */

const MODIFIERS = {
  VK_CONTROL: 'Control',
  VK_SHIFT: 'Shift',
  VK_MENU: 'Alt',
  VK_LWIN: 'Super',
  VK_RWIN: 'Super',
} as const;
export type Modifier = (typeof MODIFIERS)[keyof typeof MODIFIERS];

/** Names of keys, to names of X key symbols. */
const NAMED: Readonly<Record<string, string>> = {
  ENTER: 'Return',
  RETURN: 'Return',
  TAB: 'Tab',
  ESC: 'Escape',
  ESCAPE: 'Escape',
  SPACE: 'space',
  BACK: 'BackSpace',
  BACKSPACE: 'BackSpace',
  BKSP: 'BackSpace',
  BS: 'BackSpace',
  DEL: 'Delete',
  DELETE: 'Delete',
  INS: 'Insert',
  INSERT: 'Insert',
  HOME: 'Home',
  END: 'End',
  PGUP: 'Prior',
  PRIOR: 'Prior',
  PGDN: 'Next',
  NEXT: 'Next',
  UP: 'Up',
  DOWN: 'Down',
  LEFT: 'Left',
  RIGHT: 'Right',
  APPS: 'Menu',
  ...Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`F${n + 1}`, `F${n + 1}`])),
};

export const KEYS_LIMITS = { textCharsMax: 20_000, strokesMax: 20_000, timesMax: 100 } as const;

/** One key pressed and let go, while others are held. */
export interface Stroke {
  readonly held: readonly Modifier[];
  readonly key: { readonly sign: string } | { readonly named: string };
}

export type ParsedKeys = { readonly strokes: readonly Stroke[] } | { readonly why: string };

const TOKEN = /\{([{}])\}|\{([A-Za-z0-9_]+)(?: (\d{1,4}|down|up))?\}|([\s\S])/gu;

/** What the keys are; a sentence that says which of it is not understood. */
export function parseKeys(text: string): ParsedKeys {
  if (text.length > KEYS_LIMITS.textCharsMax) return { why: `keys are at most ${KEYS_LIMITS.textCharsMax} signs long` };
  const hands = new Hands();
  for (const [whole, brace, name, word, sign] of text.matchAll(TOKEN)) {
    const why =
      name === undefined
        ? hands.sign(brace ?? sign ?? '', brace !== undefined)
        : hands.named(name.toUpperCase(), word, whole);
    if (why !== undefined) return { why };
    if (hands.strokes.length > KEYS_LIMITS.strokesMax) return { why: `keys are at most ${KEYS_LIMITS.strokesMax}` };
  }
  return hands.end();
}

/** Text that is typed as it is; only lines and tabs are keys. */
export const strokesOfText = (text: string): Stroke[] =>
  Array.from(text.replaceAll('\r\n', '\n'), (sign) => ({ held: [], key: keyOf(sign) }));

const keyOf = (sign: string): Stroke['key'] => {
  if (sign === '\n' || sign === '\r') return { named: 'Return' };
  return sign === '\t' ? { named: 'Tab' } : { sign };
};

class Hands {
  readonly strokes: Stroke[] = [];
  readonly #down = new Set<Modifier>();
  /** Held for the next key only. */
  readonly #next = new Set<Modifier>();

  /** A brace that begins no name is a mistake: typed, it would be taken for what was meant. */
  sign(sign: string, isBrace: boolean): string | undefined {
    return sign === '{' && !isBrace ? LOOSE : this.#press(keyOf(sign), 1);
  }

  named(name: string, word: string | undefined, whole: string): string | undefined {
    const modifier = modifierOf(name);
    if (modifier !== undefined) return this.#hold(modifier, word, whole);
    const named = NAMED[name.startsWith('VK_') ? name.slice(3) : name];
    if (named === undefined) return `${whole} is no key`;
    const times = word === undefined ? 1 : Number(word);
    if (!Number.isInteger(times) || times < 1 || times > KEYS_LIMITS.timesMax) {
      return `${whole} must be pressed 1 to ${KEYS_LIMITS.timesMax} times`;
    }
    return this.#press({ named }, times);
  }

  end(): ParsedKeys {
    // Nothing followed: the key itself was meant.
    const [last] = this.#next;
    if (last !== undefined) this.strokes.push({ held: [], key: { named: `${last}_L` } });
    return { strokes: this.strokes };
  }

  #hold(modifier: Modifier, word: string | undefined, whole: string): string | undefined {
    if (word === undefined) this.#next.add(modifier);
    else if (word === 'down') this.#down.add(modifier);
    else if (word === 'up') this.#down.delete(modifier);
    else return `${whole} is held or let go, not counted`;
    return undefined;
  }

  #press(key: Stroke['key'], times: number): undefined {
    const held = [...new Set([...this.#down, ...this.#next])];
    this.#next.clear();
    for (let n = 0; n < times; n++) this.strokes.push({ held, key });
  }
}

const LOOSE = 'a brace that is to be typed is written {{} or {}}';

const modifierOf = (name: string): Modifier | undefined => Object.entries(MODIFIERS).find(([key]) => key === name)?.[1];

/** Keys that the window manager or the system takes, and not the window: nobody presses them through a window. */
export function leavesWindow({ held, key }: Stroke): boolean {
  const named = 'named' in key ? key.named : '';
  const has = (modifier: Modifier): boolean => held.includes(modifier);
  if (has('Super') || named === 'Super_L') return true;
  if (has('Control') && has('Alt')) return true;
  return (
    has('Alt') && ['Tab', 'Escape', 'space', 'F1', 'F2'].includes('sign' in key && key.sign === ' ' ? 'space' : named)
  );
}
