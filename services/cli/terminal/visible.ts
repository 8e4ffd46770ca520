import { visibleLine } from '#libs/visible';
import { clipToWidth } from './clean.js';

/** Text of several lines that a person decides about: each line is one of the result, with nothing hidden in it. */
export function visibleLines(text: string): string[] {
  return text.split('\n').map(visibleLine);
}

export function visibleClip(text: string, width: number): string {
  return clipToWidth(visibleLine(text), width);
}
