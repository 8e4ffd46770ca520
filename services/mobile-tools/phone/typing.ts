import { PhoneFault } from '../faults/index.js';

/** How a device can be given text. */
export type Keyboard = 'plain' | 'any-text';

/** Words for the device that type a part of a text, in order. */
export type TypedPiece = readonly string[];

/** The input method that takes any text as a message, from the open source project ADBKeyBoard. */
export const TEXT_KEYBOARD = 'com.android.adbkeyboard/.AdbIME';

export const TYPED_CHARS_MAX = 10_000;
/** Of one command; Android makes two events of each. */
const PIECE_CHARS_MAX = 500;
const KEYS_MAX = 100;
const KEY_OF: ReadonlyMap<string, string> = new Map([
  ['\n', 'KEYCODE_ENTER'],
  ['\t', 'KEYCODE_TAB'],
]);

/**
 * The commands that type a text exactly. Android's `input text` knows the keys of a plain keyboard only, and makes a blank of `%s`: what
 * it cannot type is either given to an input method that takes any text, or refused as a whole. Nothing is typed in part.
 */
export function typedPieces(text: string, keyboard: Keyboard): readonly TypedPiece[] {
  const lines = text.replaceAll('\r\n', '\n');
  const length = Array.from(lines).length;
  if (length > TYPED_CHARS_MAX) {
    throw new PhoneFault('TEXT', `a text has at most ${TYPED_CHARS_MAX} characters; this one has ${length}`);
  }
  const control = /[^\P{Cc}\n\t]|\p{Cs}/u.exec(lines)?.[0];
  if (control !== undefined) throw new PhoneFault('TEXT', `no key types the character ${codeOf(control)}`);
  if (keyboard === 'any-text') return broadcasts(lines);
  const foreign = /[^\n\t\x20-\x7e]/u.exec(lines)?.[0];
  if (foreign === undefined) return pieces(lines);
  throw new PhoneFault(
    'TEXT',
    `this device types plain ASCII only, and the text has ${JSON.stringify(foreign)} (${codeOf(foreign)}): its input method would have to be ${TEXT_KEYBOARD}`,
  );
}

/** Deletes what a field holds, from its end. */
export function clearingPieces(characters: number): readonly TypedPiece[] {
  const keys = ['KEYCODE_MOVE_END', ...Array.from({ length: characters }, () => 'KEYCODE_DEL')];
  return chunks(keys, KEYS_MAX).map((some) => ['input', 'keyevent', ...some]);
}

function pieces(text: string): TypedPiece[] {
  return text
    .split(/([\n\t])/u)
    .filter((part) => part !== '')
    .flatMap((part) => {
      const key = KEY_OF.get(part);
      if (key !== undefined) return [['input', 'keyevent', key]];
      // A % and an s that follow each other never stand in the same command.
      const parts = part.split(/(?<=%)(?=s)/u).flatMap((one) => chunks(Array.from(one), PIECE_CHARS_MAX));
      return parts.map((one) => ['input', 'text', one.join('')]);
    });
}

function broadcasts(text: string): TypedPiece[] {
  return chunks(Array.from(text), PIECE_CHARS_MAX).map((some) => {
    const message = Buffer.from(some.join(''), 'utf8').toString('base64');
    return ['am', 'broadcast', '-a', 'ADB_INPUT_B64', '--es', 'msg', message];
  });
}

const chunks = <T>(items: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, index) => items.slice(index * size, (index + 1) * size));

const codeOf = (character: string): string =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
