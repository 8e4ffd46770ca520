import type { Point, Rect, StateBits } from '#libs/screen';

/** Where a program has something that can be asked about. */
export interface Accessible {
  readonly bus: string;
  readonly path: string;
}

/** What a program says of one thing: the input of others. */
export interface AccessibleFacts {
  readonly at: Accessible;
  readonly role: number;
  readonly name: string;
  readonly states: StateBits;
  readonly childCount: number;
  /** On the screen, put right where the program tells it displaced. */
  readonly rect: Rect;
  /** What was added to the place that the program tells. */
  readonly moved: Point;
}

/** A thing with all in it that is shown. */
export interface AccessibleNode extends AccessibleFacts {
  readonly children: readonly AccessibleNode[];
}

export interface WindowTree {
  readonly root: AccessibleNode;
  /** It is not all: it was too large, or took too long. */
  readonly isCut: boolean;
}
