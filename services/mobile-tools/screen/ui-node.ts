/** Left, top, right, bottom, in pixels of the screen. */
export type ScreenRect = readonly [left: number, top: number, right: number, bottom: number];

/** One node of what an Android device says that it shows: hostile input, whatever it is named. */
export interface UiNode {
  /** The last part of its class: `Button`, `EditText`, ... */
  readonly type: string;
  /** The package of the application that shows it. */
  readonly application: string;
  readonly resource: string;
  readonly text: string;
  readonly description: string;
  /** What is said of it with `true`: `clickable`, `password`, ... */
  readonly flags: ReadonlySet<string>;
  readonly rect: ScreenRect;
  readonly children: readonly UiNode[];
}

/** A node and all in it, in the order in which they are drawn. */
export function* nodesOf(root: UiNode): Generator<UiNode> {
  const open = [root];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    yield node;
    for (let index = node.children.length - 1; index >= 0; index--) {
      const child = node.children[index];
      if (child !== undefined) open.push(child);
    }
  }
}
