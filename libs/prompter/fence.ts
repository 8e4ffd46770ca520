import { unseenIn, visibleText } from '#libs/visible';

/**
 * Text that others wrote enters a prompt as data: between two lines that carry a random boundary, which its author could not
 * know. What can be seen of it is never rewritten. What cannot (controls, direction marks, zero width, tags), and could say
 * something else to a model than to a person, stands there as an escape, and the last line says how many.
 *
 *     --- begin <label> <boundary> ---
 *     the text
 *     --- end <boundary> ---
 */
export class Fence {
  constructor(readonly boundary: string) {
    if (!BOUNDARY.test(boundary)) {
      throw new RangeError(
        'a boundary must be 16 to 64 letters, digits, "_" or "-": anything shorter could be guessed',
      );
    }
  }

  /** `label` says what the text is, in our own words. Throws BoundaryTaken when the text contains the boundary. */
  around(label: string, text: string): string {
    if (!LABEL.test(label)) throw new RangeError(`a label must be plain words of ours, not ${JSON.stringify(label)}`);
    const shown = visibleText(text);
    if (shown.includes(this.boundary)) throw new BoundaryTaken(label);
    const unseen = unseenIn(text);
    const end = unseen === 0 ? this.boundary : `${this.boundary}, escapes: ${unseen}`;
    return `--- begin ${label} ${this.boundary} ---\n${shown}\n--- end ${end} ---`;
  }
}

/** A text contains the boundary that was to part it from ours: the prompt has to be made again, with another boundary. */
export class BoundaryTaken extends Error {
  constructor(readonly label: string) {
    super(`the ${label} contains the boundary of the prompt; make the prompt again with another one`);
    this.name = 'BoundaryTaken';
  }
}

const BOUNDARY = /^[A-Za-z0-9_-]{16,64}$/u;
const LABEL = /^[A-Za-z0-9][A-Za-z0-9 ._:,-]{0,159}$/u;
