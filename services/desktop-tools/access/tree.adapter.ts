import {
  bitsOf,
  commonRect,
  displacementOf,
  hasState,
  isEmptyRect,
  movedBy,
  rectOf,
  ROLES,
  type Point,
  type Rect,
  type StateBits,
} from '#libs/screen';
import { DesktopFault } from '../faults/index.js';
import type { Accessible, AccessibleFacts, AccessibleNode, WindowTree } from './accessible.js';
import type { AccessBus } from './bus.client.js';

const REGISTRY: Accessible = { bus: 'org.a11y.atspi.Registry', path: '/org/a11y/atspi/accessible/root' };
const SCREEN_COORDINATES = 0;
const APPLICATIONS_MAX = 200;
const WINDOWS_MAX = 100;
const NODES_MAX = 3_000;
/** A sheet says that it has two thousand million children: what has more than this is not entered. */
const CHILDREN_MAX = 500;
const DEPTH_MAX = 60;
const WALK_MS = 6_000;
/** Where toolkits put what is not laid out. */
const NOWHERE = -1_000_000;
/** A question for all that has the keyboard: its states as bits, nothing else asked of it, and all of what is asked must be so. */
const ALL = 1;
const FOCUSED = [bitsOf('focused'), ALL, [], ALL, [], ALL, [], ALL, false] as const;
const IN_ORDER = 1;
const TOLD_MAX = 2;

/** The window that is looked for: what the display knows of it. */
export interface SoughtWindow {
  readonly process: number;
  readonly title: string;
  readonly rect: Rect;
}

/** Reads trees of programs. */
export class AccessTree {
  readonly #bus: AccessBus;

  constructor(bus: AccessBus) {
    this.#bus = bus;
  }

  /** Everything that is shown in a window; undefined for a program that tells nothing. */
  async of(window: SoughtWindow): Promise<WindowTree | undefined> {
    const frame = await this.#frameOf(window);
    if (frame === undefined) return undefined;
    const walk = new Walk({
      shown: (at, moved) => this.#shown(at, moved),
      children: (at) => this.#children(at),
    });
    return { root: await walk.from(frame), isCut: walk.isCut };
  }

  /** What a program says of one thing now. Rejects when it is gone. */
  async facts(at: Accessible, moved: Point = [0, 0]): Promise<AccessibleFacts> {
    return this.#factsWith(at, await this.#states(at), moved);
  }

  /**
   * What says in a thing that it has the keyboard, as its program finds it in one call, and two of them at most; undefined for a
   * program that is not asked like that. All that is in it is gone through: nothing for what may have a sheet in it.
   */
  async focusedIn(at: Accessible): Promise<Accessible[] | undefined> {
    const body = [FOCUSED, IN_ORDER, TOLD_MAX, true];
    const signature = '(aiia{ss}iaiiasib)uib';
    const told = await this.#bus
      .call({ at, interface: 'Collection', member: 'GetMatches', signature, body })
      .catch(unlessSilent);
    return told === undefined ? undefined : accessiblesIn(told);
  }

  /** The same of what is shown, put right where its program tells it displaced; undefined for what is not shown. */
  async #shown(at: Accessible, moved: Point): Promise<AccessibleFacts | undefined> {
    // Half of what is in a window is not shown: of that nothing else is asked.
    const states = await this.#states(at);
    if (!hasState(states, 'showing')) return undefined;
    const [facts, isNative] = await Promise.all([
      this.#factsWith(at, states, [0, 0]),
      isMoved(moved) && this.#isNative(at),
    ]);
    return isNative ? facts : { ...facts, rect: movedBy(facts.rect, moved), moved };
  }

  async #states(at: Accessible): Promise<StateBits> {
    return listIn(await this.#bus.call({ at, interface: 'Accessible', member: 'GetState' })).map(numberIn);
  }

  async #factsWith(at: Accessible, states: StateBits, moved: Point): Promise<AccessibleFacts> {
    const [role, name, count, extents] = await Promise.all([
      this.#bus.call({ at, interface: 'Accessible', member: 'GetRole' }),
      this.#bus.property(at, 'Accessible', 'Name'),
      this.#bus.property(at, 'Accessible', 'ChildCount'),
      this.#bus
        .call({ at, interface: 'Component', member: 'GetExtents', signature: 'u', body: [SCREEN_COORDINATES] })
        .catch(unlessSilent),
    ]);
    return {
      at,
      role: numberIn(role),
      name: typeof name === 'string' ? name : '',
      states,
      childCount: numberIn(count),
      rect: movedBy(extentsIn(extents), moved),
      moved,
    };
  }

  async #frameOf({ process, title, rect }: SoughtWindow): Promise<AccessibleFacts | undefined> {
    const applications = (await this.#children(REGISTRY)).slice(0, APPLICATIONS_MAX);
    const processes = await Promise.all(applications.map(({ bus }) => this.#bus.processOf(bus).catch(() => 0)));
    const own = applications.filter((_, index) => processes[index] === process);
    await Promise.all(own.map(({ bus }) => this.#bus.meet(bus)));
    const windows = (await Promise.all(own.map((at) => this.#children(at)))).flat().slice(0, WINDOWS_MAX);
    const told = await Promise.all(windows.map((at) => this.#shown(at, [0, 0]).catch(unlessSilent)));
    const shown = told.filter((facts) => facts !== undefined);
    const nearest = shown.toSorted((one, other) => distance(one.rect, rect) - distance(other.rect, rect));
    return nearest.find(({ name }) => name === title) ?? nearest[0];
  }

  /** Whether the toolkit itself tells where a thing is, also inside of what a program tells displaced. */
  async #isNative(at: Accessible): Promise<boolean> {
    const attributes = await this.#bus
      .call({ at, interface: 'Accessible', member: 'GetAttributes' })
      .catch(unlessSilent);
    return typeof attributes === 'object' && attributes !== null && 'toolkit' in attributes;
  }

  async #children(at: Accessible): Promise<Accessible[]> {
    return accessiblesIn(await this.#bus.call({ at, interface: 'Accessible', member: 'GetChildren' }));
  }
}

/** What a walk asks of each thing. */
interface Asked {
  readonly shown: (at: Accessible, moved: Point) => Promise<AccessibleFacts | undefined>;
  readonly children: (at: Accessible) => Promise<Accessible[]>;
}

/** One walk through a window, all of a level at once. */
class Walk {
  readonly #asked: Asked;
  readonly #end = performance.now() + WALK_MS;
  #nodes = 0;
  isCut = false;

  constructor(asked: Asked) {
    this.#asked = asked;
  }

  async from(frame: AccessibleFacts): Promise<AccessibleNode> {
    return { ...frame, children: await this.#below(frame, frame.rect, 0) };
  }

  async #below(parent: AccessibleFacts, seen: Rect, depth: number): Promise<AccessibleNode[]> {
    if (parent.childCount > CHILDREN_MAX || depth >= DEPTH_MAX) {
      this.isCut ||= parent.childCount > 0;
      return [];
    }
    // The bar of a program whose menus another one shows has no place, and its menus say that they are at others.
    const isNowhere = parent.role === MENU_BAR && isEmptyRect(parent.rect);
    if (parent.childCount <= 0 || isNowhere) return [];
    const children = await this.#asked.children(parent.at).catch(unlessSilent);
    const nodes = await Promise.all((children ?? []).map((at) => this.#node(at, parent, seen, depth + 1)));
    return nodes.filter((node) => node !== undefined);
  }

  async #node(at: Accessible, parent: AccessibleFacts, seen: Rect, depth: number): Promise<AccessibleNode | undefined> {
    if (++this.#nodes > NODES_MAX || performance.now() > this.#end) {
      this.isCut = true;
      return undefined;
    }
    // A thing that is gone while others are read is not there; a program that is silent ends the walk.
    const told = await this.#asked.shown(at, parent.moved).catch(unlessSilent);
    if (told === undefined) return undefined;
    if (told.rect[0] < NOWHERE || told.rect[1] < NOWHERE) return undefined;
    const facts = told.role === ROLES.rootPane ? putRight(told, parent.rect) : told;
    // A list may show a thousand rows of which ten are on the screen.
    const isOutside = !isEmptyRect(facts.rect) && isEmptyRect(commonRect(facts.rect, seen));
    const children = isOutside && !HOLDS_OUTSIDE.has(facts.role) ? [] : await this.#below(facts, seen, depth);
    return { ...facts, children };
  }
}

const MENU_BAR = 34;

const isMoved = ([dx, dy]: Point): boolean => dx !== 0 || dy !== 0;

/** What may have something to be seen where it is not itself: menus, and tabs that say that they are elsewhere. */
const HOLDS_OUTSIDE: ReadonlySet<number> = new Set([33, 34, 35, 37, 38]);

function putRight(facts: AccessibleFacts, frame: Rect): AccessibleFacts {
  const by = displacementOf(frame, facts.rect);
  return { ...facts, rect: movedBy(facts.rect, by), moved: [facts.moved[0] + by[0], facts.moved[1] + by[1]] };
}

/** Errors of a thing that is gone, or that has no such side; a program that does not answer is something else. */
function unlessSilent(error: unknown): undefined {
  if (error instanceof DesktopFault) throw error;
  return undefined;
}

const distance = (one: Rect, other: Rect): number =>
  one.reduce((sum, side, index) => sum + Math.abs(side - (other[index] ?? 0)), 0);

const listIn = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as unknown[]) : []);
const numberIn = (value: unknown): number => (typeof value === 'number' ? value : 0);

const accessiblesIn = (list: unknown): Accessible[] =>
  listIn(list).flatMap((one) => {
    const [bus, path] = listIn(one);
    return typeof bus === 'string' && typeof path === 'string' && bus.startsWith(':') ? [{ bus, path }] : [];
  });

function extentsIn(value: unknown): Rect {
  const [x = 0, y = 0, width = 0, height = 0] = listIn(value).map(numberIn);
  return rectOf(x, y, Math.max(width, 0), Math.max(height, 0));
}
