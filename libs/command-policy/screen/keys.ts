/*
 * Keys as they are written for `keyboard_input`: `{NAME}` or `{NAME 3}` is a key, `{VK_CONTROL}` and its like hold one down for
 * what follows, all else is typed.
 */

const CONTROL = /^(?:VK_)?L?R?(?:CONTROL|CTRL)$/u;
const SHIFT = /^(?:VK_)?L?R?SHIFT$/u;
const NAVIGATION =
  /^(?:VK_)?(?:TAB|ESC|ESCAPE|UP|DOWN|LEFT|RIGHT|HOME|END|PGUP|PGDN|PRIOR|NEXT|PAGE_?UP|PAGE_?DOWN|BACK|BACKSPACE|BS|BKSP)$/u;
const PRESSES = /^(?:VK_)?(?:ENTER|RETURN|SPACE)$/u;
const DELETES = /^(?:VK_)?(?:DEL|DELETE)$/u;
/** With Ctrl: select all, copy, cut, paste, undo, save, find. */
const CHORDS = /^[acxvzsf]$/iu;

export interface KeysMeaning {
  /** Something that a person has to allow; empty: nothing. */
  readonly unusual: string;
  /** They press what has the focus, or the button that a dialog has for that. */
  readonly presses: boolean;
  readonly deletes: boolean;
}

/** What keys are likely to do. What is not understood is unusual. */
export function keysMeaning(keys: string): KeysMeaning {
  let [held, unusual, presses, deletes] = [false, '', /[\r\n]/u.test(keys), false];
  for (const [token, inner] of keys.matchAll(/\{([^{}]*)\}|[^]/gu)) {
    if (inner === undefined) {
      // A brace that is left over belongs to nothing that can be read.
      if (token === '{' || token === '}' || (held && !CHORDS.test(token))) unusual ||= token;
      continue;
    }
    const name = inner.trim().split(/\s+/u)[0]?.toUpperCase() ?? '';
    if (CONTROL.test(name)) held = true;
    else if (PRESSES.test(name)) {
      presses = true;
      if (held) unusual ||= token;
    } else if (DELETES.test(name)) deletes = true;
    else if (!NAVIGATION.test(name) && !SHIFT.test(name)) unusual ||= token;
  }
  return { unusual, presses, deletes };
}
