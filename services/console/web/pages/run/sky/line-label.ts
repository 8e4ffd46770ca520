import { visibleText } from '#libs/visible';
import type { LineView } from '#proto';
import { words } from '../../../words/index.js';

const CHARS_MAX = 28;
/** About as wide as a character is drawn, and what is around all of them. */
const CHAR_WIDTH = 6.4;
const PADDING = 22;

/** What stands on a line: when it is followed; nothing where that is as usual. */
export function lineLabel({ type, condition }: LineView): string {
  const label = type === 'conditional' ? visibleText(condition ?? '') : type === 'success-only' ? '' : words.line[type];
  return label.length > CHARS_MAX ? `${label.slice(0, CHARS_MAX - 1)}…` : label;
}

export function labelWidth(label: string): number {
  return label === '' ? 0 : label.length * CHAR_WIDTH + PADDING;
}
