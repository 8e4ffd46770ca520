/*
 * Keys as they are written for `keyboard_input`: `{NAME}` or `{NAME 3}` is a key, `{VK_CONTROL}` and its like hold one down for the
 * key that follows, `{VK_CONTROL down}` until `{VK_CONTROL up}`; all else is typed.
 */
import type { TypedRun } from '#libs/screen';

const CONTROL = /^(?:VK_)?L?R?(?:CONTROL|CTRL)$/u;
const SHIFT = /^(?:VK_)?L?R?SHIFT$/u;
const NAVIGATION =
  /^(?:VK_)?(?:TAB|ESC|ESCAPE|UP|DOWN|LEFT|RIGHT|HOME|END|PGUP|PGDN|PRIOR|NEXT|PAGE_?UP|PAGE_?DOWN|BACK|BACKSPACE|BS|BKSP)$/u;
const PRESSES = /^(?:VK_)?(?:ENTER|RETURN|SPACE)$/u;
const DELETES = /^(?:VK_)?(?:DEL|DELETE)$/u;
/** They leave a cell, and put into it what was typed. */
const ENTERS = /^(?:VK_)?(?:TAB|ENTER|RETURN)$/u;
/** With Ctrl: select all, copy, cut, paste, undo, save, find. */
const CHORDS = /^[acxvzsf]$/iu;

export interface KeysMeaning {
  /** Something that a person has to allow; empty: nothing. */
  readonly unusual: string;
  /** They press what has the focus, or the button that a dialog has for that. */
  readonly presses: boolean;
  readonly deletes: boolean;
  /** A text that begins with the sign of a hidden file, or of a home: at first, or after a key that may have emptied the field. */
  readonly hidden: boolean;
  /** What is typed, in pieces between other keys. */
  readonly typed: readonly TypedRun[];
}

/** What keys are likely to do. What is not understood is unusual. */
export function keysMeaning(keys: string): KeysMeaning {
  const hands = new HeldKeys();
  const typed: TypedRun[] = [];
  let run = '';
  const ends = (isEntered: boolean): void => {
    if (run !== '') typed.push({ text: run, isEntered });
    run = '';
  };
  let [unusual, presses, deletes, hidden, isFresh] = ['', /[\r\n]/u.test(keys), false, false, true];
  for (const [token, inner] of keys.matchAll(/\{([^{}]*)\}|[^]/gu)) {
    const [name = '', how] = (inner ?? '').trim().toUpperCase().split(/\s+/u);
    if (inner !== undefined && hands.hold(name, how)) continue;
    const isHeld = hands.press();
    if (inner === undefined && !isHeld) run += token;
    else ends(ENTERS.test(name) && !isHeld);
    hidden ||= isFresh && !isHeld && (token === '.' || token === '~');
    isFresh = inner !== undefined || isHeld || (isFresh && token === ' ');
    if (inner === undefined) {
      // A brace that is left over belongs to nothing that can be read.
      if (token === '{' || token === '}' || (isHeld && !CHORDS.test(token))) unusual ||= token;
    } else if (PRESSES.test(name)) {
      presses = true;
      if (isHeld) unusual ||= token;
    } else if (DELETES.test(name)) deletes = true;
    else if (!NAVIGATION.test(name)) unusual ||= token;
  }
  ends(false);
  return { unusual: unusual || hands.left, presses, deletes, hidden, typed };
}

/** Whether Ctrl is held while a key is pressed: for that key, or until it is let go. */
class HeldKeys {
  /** Held until they are let go. */
  readonly #down = new Set<string>();
  #isNext = false;

  /** True: it is a key that is held, and no other. */
  hold(name: string, how: string | undefined): boolean {
    const isControl = CONTROL.test(name);
    if (!isControl && !SHIFT.test(name)) return false;
    const key = isControl ? 'Ctrl' : 'Shift';
    if (how === 'DOWN') this.#down.add(key);
    else if (how === 'UP') this.#down.delete(key);
    else this.#isNext ||= isControl;
    return true;
  }

  /** A key is pressed. True: with Ctrl. */
  press(): boolean {
    const isHeld = this.#isNext || this.#down.has('Ctrl');
    this.#isNext = false;
    return isHeld;
  }

  /** What is not let go: the next keys of whoever types there would be other ones. */
  get left(): string {
    return [...this.#down].map((key) => `${key} that is held on`).join(', ');
  }
}
