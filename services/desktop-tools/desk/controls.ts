import {
  commonRect,
  controlTypeOf,
  hasState,
  isEmptyRect,
  nodeTypeOf,
  ROLES,
  screenName,
  stateWords,
  type ListedThing,
  type Rect,
} from '#libs/screen';
import { nameWithin, type AccessibleFacts, type AccessibleNode } from '../access/index.js';

/** A control of a listing, with all by which it is known again. */
export interface ListedControl extends ListedThing {
  readonly facts: AccessibleFacts;
  readonly state: readonly string[];
  readonly value?: string | undefined;
}

/** Before it has an id. */
export type SeenControl = Omit<ListedControl, 'id'>;

export const CONTROLS_MAX = 500;

/** The controls of a window in the order of its tree: those that can be seen and are something to use or to read. */
export function controlsIn(root: AccessibleNode, window: Rect): SeenControl[] {
  const found: SeenControl[] = [];
  const enter = (node: AccessibleNode): void => {
    const control = controlOf(node, window);
    if (control !== undefined) found.push(control);
    for (const child of node.children) enter(child);
  };
  for (const child of root.children) enter(child);
  return found;
}

function controlOf(node: AccessibleNode, window: Rect): SeenControl | undefined {
  const { role, states, rect } = node;
  const type = controlTypeOf(role);
  // Menus of a bar are open outside of the window: what is told of those is where they are.
  const isSeen = !isEmptyRect(rect) && (type === 'MenuItem' || !isEmptyRect(commonRect(rect, window)));
  if (type === undefined || !isSeen) return undefined;
  const name = screenName(role === ROLES.listItem ? nameWithin(node) : node.name);
  if (NAMED_ONLY.has(type) && name === '') return undefined;
  return { name, type, rect, facts: factsOf(node), state: stateWords(role, states) };
}

/** They are there to be read: without a name there is nothing to read. */
const NAMED_ONLY: ReadonlySet<string> = new Set(['Text', 'Image']);

/** What a node says of itself, without what is in it. */
export const factsOf = (node: AccessibleNode): AccessibleFacts => {
  const { at, role, name, states, childCount, rect, moved } = node;
  return { at, role, name, states, childCount, rect, moved };
};

/** The thing in a window that gets what is typed, as far as the program tells it: the innermost that has the focus. */
export function focusedIn(root: AccessibleNode): AccessibleFacts | undefined {
  for (const child of root.children) {
    const inner = focusedIn(child);
    if (inner !== undefined) return inner;
  }
  return hasState(root.states, 'focused') ? factsOf(root) : undefined;
}

export const hasTerminalIn = (node: AccessibleNode): boolean =>
  node.role === ROLES.terminal || node.children.some(hasTerminalIn);

/** A node of the tree as agents of UFO know it. */
export interface TreeNode {
  readonly id: string;
  readonly name: string;
  readonly control_type: string;
  readonly rectangle: Sides;
  readonly adjusted_rectangle: Sides;
  readonly relative_rectangle: Sides;
  readonly level: number;
  readonly children: readonly TreeNode[];
}
interface Sides {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** The tree of a window, so many nodes of it. */
export function uiTreeOf(root: AccessibleNode, window: Rect, nodesMax: number): TreeNode {
  let count = 0;
  const [x, y] = window;
  const [width, height] = [Math.max(window[2] - x, 1), Math.max(window[3] - y, 1)];
  const sides = ([left, top, right, bottom]: Rect): Sides => ({ left, top, right, bottom });
  const node = (one: AccessibleNode, level: number): TreeNode => {
    const id = `node_${count++}`;
    const { rect } = one;
    const children = [];
    for (const child of one.children) if (count < nodesMax) children.push(node(child, level + 1));
    return {
      id,
      name: screenName(one.name),
      control_type: nodeTypeOf(one.role),
      rectangle: sides(rect),
      adjusted_rectangle: sides([rect[0] - x, rect[1] - y, rect[2] - x, rect[3] - y]),
      relative_rectangle: sides([
        (rect[0] - x) / width,
        (rect[1] - y) / height,
        (rect[2] - x) / width,
        (rect[3] - y) / height,
      ]),
      level,
      children,
    };
  };
  return node(root, 0);
}
