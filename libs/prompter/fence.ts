/**
 * Text that others wrote enters a prompt as data: between two lines that carry a random boundary, which its author could not
 * know. It is never rewritten: what the agent reads is what was there, byte for byte.
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
    if (text.includes(this.boundary)) throw new BoundaryTaken(label);
    return `--- begin ${label} ${this.boundary} ---\n${text}\n--- end ${this.boundary} ---`;
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
