import {
  commonRect,
  controlTypeOf,
  hasState,
  rectHeight,
  leavesWindow,
  middleOf,
  parseKeys,
  pointAt,
  ROLES,
  screenName,
  strokesOfText,
  rectWidth,
  type Act,
  type Modifier,
  type Point,
  type Stroke,
} from '#libs/screen';
import type { SeenOn } from '#proto';
import { nameWithin, type Accessible, type AccessibleFacts } from '../access/index.js';
import type { DesktopWindow, MouseButton } from '../display/index.js';
import { DesktopFault } from '../faults/index.js';
import type { Reach } from './connection.runner.js';
import type { ListedControl } from './controls.js';
import type { ControlListing, DeskState } from './desk.runner.js';
import { isStillFocused, lookForFocus } from './focus.runner.js';
import { isPaste, mayPaste, pastes } from './pasting.runner.js';
import { settled } from './settling.runner.js';

/** A control as a caller names it, with what its agent saw where it says so. */
export interface ControlTarget {
  readonly id: string;
  readonly name: string;
  readonly on: SeenOn | undefined;
}

/** A secret of the device, with its value where the device client has given it. */
export interface NamedSecret {
  readonly name: string;
  readonly value: string | undefined;
}

/** What came of an act. */
export interface Acted {
  readonly result: string;
  /** Another window is in front than before: its controls are to be listed. */
  readonly changed: boolean;
  readonly settled: boolean;
  /** How much of its time went by waiting until the window rests. */
  readonly settlingMs: number;
}

/** A second click on a menu within half a second is taken for a part of the first. */
const MENU_CLICKS_MS = 550;
const CLICK_COUNT = { single: 1, double: 2 } as const;

/** Acting: every way in goes past what was seen, what is there, and what nobody does. */
export class Acting {
  readonly #desk: DeskState;
  readonly #now: () => number;
  #menuClickAt = Number.NEGATIVE_INFINITY;
  #settlingMs = 0;

  constructor(desk: DeskState, now: () => number) {
    this.#desk = desk;
    this.#now = now;
  }

  /** Brings a listed window to the front; what is done from then on is done there. */
  async select(said: { readonly id: string; readonly name: string }): Promise<DesktopWindow> {
    const { windows, screen } = await this.#desk.reach();
    const { handle } = this.#desk.windowOf(said);
    const there = (await windows.list()).find((window) => window.handle === handle);
    if (there === undefined)
      throw new DesktopFault('WINDOW_CHANGED', `the window ${JSON.stringify(said.name)} is gone`);
    if (there.title !== said.name) {
      throw new DesktopFault('MISMATCH', `the window ${said.id} is called ${JSON.stringify(there.title)} by now`);
    }
    await windows.activate(handle);
    await settled(screen, there.rect);
    return this.choose({ ...there, isActive: true });
  }

  /** From now on this window is worked in; nothing listed before is valid. */
  choose(window: DesktopWindow): DesktopWindow {
    this.#desk.chosen = window;
    this.#desk.controls = undefined;
    return window;
  }

  async click(target: ControlTarget, button: MouseButton, double: boolean): Promise<Acted> {
    return this.#withControl(target, clickAct(button), async ({ point, control, listing, reach }) => {
      await this.#waitForMenu(control);
      if (button === 'middle') await mayPaste('PRIMARY', listing.window, reach);
      else if (pastes(control.name)) await mayPaste('CLIPBOARD', listing.window, reach);
      await reach.mouse.click(point, button, CLICK_COUNT[double ? 'double' : 'single']);
      return `${double ? 'Double-clicked' : 'Clicked'} ${described(control)} with the ${button} button.`;
    });
  }

  async clickAt(fraction: Point, button: MouseButton, double: boolean, on: SeenOn | undefined): Promise<Acted> {
    return this.#inWindow(clickAct(button), on, async ({ listing, reach }) => {
      const point = await this.#pointOf(fraction, listing, reach);
      if (button === 'middle') await mayPaste('PRIMARY', listing.window, reach);
      await reach.mouse.click(point, button, CLICK_COUNT[double ? 'double' : 'single']);
      return `${double ? 'Double-clicked' : 'Clicked'} at ${point.join(', ')} with the ${button} button.`;
    });
  }

  async drag(
    [from, to]: readonly [Point, Point],
    {
      button,
      durationMs,
      held,
    }: { readonly button: MouseButton; readonly durationMs: number; readonly held?: Modifier },
    on: SeenOn | undefined,
  ): Promise<Acted> {
    return this.#inWindow(clickAct(button), on, async ({ listing, reach }) => {
      const points = [await this.#pointOf(from, listing, reach), await this.#pointOf(to, listing, reach)] as const;
      const drag = (): Promise<void> => reach.mouse.drag(points[0], points[1], button, durationMs);
      await (held === undefined ? drag() : reach.keyboard.holding(held, drag));
      const holding = held === undefined ? '' : ` with ${held} held`;
      return `Dragged from ${points[0].join(', ')} to ${points[1].join(', ')}${holding}.`;
    });
  }

  async scroll(target: ControlTarget, notches: number): Promise<Acted> {
    return this.#withControl(target, 'scroll', async ({ point, control, reach }) => {
      await reach.mouse.scroll(point, notches);
      return `Turned the wheel by ${notches} over ${described(control)}.`;
    });
  }

  /** Sets the text of a control at once where its program takes it, and types it where not. */
  async setText(target: ControlTarget, text: string, instead: boolean): Promise<Acted> {
    return this.#withControl(target, 'text', async ({ point, control, facts, listing, reach }) => {
      if (instead && isInRun(text, listing)) await this.#putPlace({ ...control, facts }, text, listing, reach);
      else if (!(await reach.texts.write(facts, text, instead))) {
        await reach.mouse.click(point, 'left');
        await this.#settled(listing, reach);
        const clearing = instead ? CLEAR : [];
        await this.#type([...clearing, ...strokesOfText(text)], listing, reach);
      }
      return `Put ${Array.from(text).length} signs into ${described(control)}.`;
    });
  }

  /**
   * Puts a path into a dialog for files, in the place of what is in its field: it was judged as the whole of what the field says. Dialogs
   * complete names that they know, a moment later: a field that says something else then is emptied.
   */
  async #putPlace(control: ListedControl, path: string, listing: ControlListing, reach: Reach): Promise<void> {
    const { facts } = control;
    const isPut = await reach.texts.write(facts, path, true);
    await this.#settled(listing, reach);
    const says = await reach.texts.read(facts, -1);
    if (isPut && says === path) return;
    await reach.texts.write(facts, '', true);
    throw new DesktopFault(
      'MISMATCH',
      `${described(control)} does not say the path that it was given, and was emptied`,
    );
  }

  /** Puts a secret into a password field that its program may have it for: the one that is clicked on has to have the keyboard for each sign. */
  async putSecret(target: ControlTarget, secret: NamedSecret): Promise<Acted> {
    const { name, value } = secret;
    return this.#withControl(target, 'secret', async ({ point, control, facts, listing, reach }) => {
      this.#desk.admitSecret(name, listing.window);
      if (value === undefined)
        throw new DesktopFault('PASSWORD', `the value of ${JSON.stringify(name)} is not given to this call`);
      const strokes = strokesOfText(value);
      if (strokes.some(({ key }) => 'named' in key))
        throw new DesktopFault('PASSWORD', `the secret ${JSON.stringify(name)} has more than one line, or a tab`);
      await reach.mouse.click(point, 'left');
      await this.#settled(listing, reach);
      await this.#type([...CLEAR, ...strokes], listing, reach, facts.at);
      return `Put the secret ${JSON.stringify(name)} into ${described(control)}.`;
    });
  }

  async keys(target: ControlTarget, keys: string, focus: boolean): Promise<Acted> {
    const parsed = parseKeys(keys);
    if ('why' in parsed) throw new DesktopFault('KEYS', parsed.why);
    if (parsed.strokes.some(leavesWindow))
      throw new DesktopFault('KEYS', 'keys of the system are not pressed in a window');
    if (!focus) {
      return this.#inWindow('keys', target.on, async ({ listing, reach }) => {
        await this.#type(parsed.strokes, listing, reach);
        return `Pressed ${parsed.strokes.length} keys in the window.`;
      });
    }
    return this.#withControl(target, 'keys', async ({ point, control, facts, listing, reach }) => {
      if (!hasState(facts.states, 'focused')) {
        await reach.mouse.click(point, 'left');
        await this.#settled(listing, reach);
      }
      await this.#type(parsed.strokes, listing, reach);
      return `Pressed ${parsed.strokes.length} keys in ${described(control)}.`;
    });
  }

  async rest(msMax: number): Promise<boolean> {
    const { screen } = await this.#desk.reach();
    return settled(screen, (await this.#desk.workedIn()).rect, msMax);
  }

  /** Types, and looks again and again whether the window is still the one that gets it; `secretFor`: and this password field. */
  async #type(
    strokes: readonly Stroke[],
    listing: ControlListing,
    reach: Reach,
    secretFor?: Accessible,
  ): Promise<void> {
    if (secretFor === undefined) {
      const focused = await this.#focused(listing, reach);
      this.#desk.admit(
        'keys',
        { ...listing, hasTerminal: focused?.role === ROLES.terminal },
        focused?.role === ROLES.password,
      );
    }
    if (strokes.some(isPaste)) await mayPaste('CLIPBOARD', listing.window, reach);
    const mayGoOn = async (): Promise<void> => {
      const [process, active, field] = await Promise.all([
        reach.windows.processOfFocus(),
        reach.windows.active(),
        secretFor && reach.tree.facts(secretFor).catch(unlessFault),
      ]);
      if (process !== listing.window.process || active !== listing.window.handle) {
        throw new DesktopFault('WINDOW_CHANGED', 'another window has the keyboard; what was typed until then is typed');
      }
      if (secretFor !== undefined && !(field?.role === ROLES.password && hasState(field.states, 'focused')))
        throw new DesktopFault('PASSWORD', 'the field has not the keyboard; what was typed until then is typed');
    };
    await reach.keyboard.press(strokes, mayGoOn, secretFor && 1);
  }

  /** What has the keyboard in the window, as far as its program tells it: what had it, if it says so still, or what all of the window says. */
  async #focused({ window }: ControlListing, reach: Reach): Promise<AccessibleFacts | undefined> {
    const seen = this.#desk.focus;
    if (seen !== undefined && (await isStillFocused(seen, window, reach))) return seen.focused;
    this.#desk.focus = undefined;
    this.#desk.focus = await lookForFocus(window, reach, this.#now);
    return this.#desk.focus?.focused;
  }

  async #withControl(
    target: ControlTarget,
    act: Act,
    carryOut: (at: {
      readonly point: Point;
      readonly control: ListedControl;
      readonly facts: AccessibleFacts;
      readonly listing: ControlListing;
      readonly reach: Reach;
    }) => Promise<string>,
  ): Promise<Acted> {
    const { id, name, on } = target;
    return this.#inWindow(act, on, async ({ listing, reach }) => {
      if (on?.control !== undefined && on.control.id !== id) {
        throw new DesktopFault('MISMATCH', `the control is ${id}, and what was judged is ${on.control.id}`);
      }
      const control = this.#desk.controlOf({ id, name: on?.control?.name ?? name, type: on?.control?.type });
      if (name !== control.name)
        throw new DesktopFault('MISMATCH', `id ${id} is named ${JSON.stringify(control.name)}`);
      const facts = await this.#stillThere(control, reach);
      this.#desk.admit(act, listing, facts.role === ROLES.password);
      const place = middleOf(commonRect(facts.rect, reach.screen.rect), reach.screen.rect);
      if (place === undefined) throw new DesktopFault('NOT_INTERACTABLE', `${described(control)} is not on the screen`);
      await this.#ownedPoint(place, listing, reach);
      return carryOut({ point: place, control, facts, listing, reach });
    });
  }

  /** Only in the window that was listed, only while it is in front, and only what may be done there. */
  async #inWindow(
    act: Act,
    on: SeenOn | undefined,
    carryOut: (at: { readonly listing: ControlListing; readonly reach: Reach }) => Promise<string>,
  ): Promise<Acted> {
    this.#settlingMs = 0;
    const reach = await this.#desk.reach();
    const listing = this.#desk.listed();
    this.#desk.compare(on, listing);
    const front = (await reach.windows.list()).find(({ isActive }) => isActive);
    if (front?.handle !== listing.window.handle || front.process !== listing.window.process) {
      const now = front === undefined ? 'no window is' : `${JSON.stringify(front.title)} is`;
      throw new DesktopFault(
        'WINDOW_CHANGED',
        `${now} in front, not ${JSON.stringify(listing.window.title)}; list again`,
      );
    }
    // The same button under another title may send another letter.
    if (on !== undefined && withoutMark(front.title) !== withoutMark(listing.window.title)) {
      throw new DesktopFault(
        'WINDOW_CHANGED',
        `the window is called ${JSON.stringify(front.title)} by now; list again`,
      );
    }
    this.#desk.admit(act, { ...listing, window: front }, act === 'secret');
    const result = await carryOut({ listing: { ...listing, window: front }, reach });
    const isSettled = await this.#settled({ window: front }, reach);
    const active = await reach.windows.active();
    return { result, settled: isSettled, changed: active !== front.handle, settlingMs: this.#settlingMs };
  }

  async #settled({ window }: Pick<ControlListing, 'window'>, { screen }: Reach): Promise<boolean> {
    const began = this.#now();
    const isSettled = await settled(screen, window.rect);
    this.#settlingMs += this.#now() - began;
    return isSettled;
  }

  /** The control as it is now: another one in its place is not it. */
  async #stillThere(control: ListedControl, { tree }: Reach): Promise<AccessibleFacts> {
    const { at, moved, role } = control.facts;
    const facts = await tree.facts(at, moved).catch((error: unknown) => {
      if (error instanceof DesktopFault) throw error;
      throw new DesktopFault('WINDOW_CHANGED', `${described(control)} is gone; list again`);
    });
    if (facts.role !== role || controlTypeOf(facts.role) !== control.type) {
      throw new DesktopFault('MISMATCH', `${described(control)} is something else by now; list again`);
    }
    const hadOwnName = control.facts.name.trim() !== '';
    if (hadOwnName && screenName(nameWithin({ ...facts, children: [] })) !== control.name) {
      throw new DesktopFault(
        'MISMATCH',
        `${described(control)} is called ${JSON.stringify(screenName(facts.name))} by now`,
      );
    }
    const isUsable =
      hasState(facts.states, 'showing') && (hasState(facts.states, 'sensitive') || hasState(facts.states, 'enabled'));
    if (!isUsable || rectWidth(facts.rect) <= 0 || rectHeight(facts.rect) <= 0) {
      throw new DesktopFault('NOT_INTERACTABLE', `${described(control)} is not available`);
    }
    return facts;
  }

  async #pointOf(fraction: Point, { window }: ControlListing, reach: Reach): Promise<Point> {
    const point = pointAt(window.rect, fraction);
    if (point === undefined) throw new DesktopFault('OUTSIDE', 'coordinates are fractions of the window, 0 to 1');
    await this.#ownedPoint(point, { window }, reach);
    return point;
  }

  /** A click goes to what is uppermost: that must be of the process that is meant. */
  async #ownedPoint(point: Point, { window }: Pick<ControlListing, 'window'>, { windows }: Reach): Promise<void> {
    const owner = await windows.processAt(point);
    if (owner !== window.process) {
      throw new DesktopFault('WINDOW_CHANGED', `another window lies over ${point.join(', ')}`);
    }
  }

  async #waitForMenu({ type }: ListedControl): Promise<void> {
    if (type !== 'MenuItem') return;
    const rest = this.#menuClickAt + MENU_CLICKS_MS - this.#now();
    if (rest > 0) await new Promise((resolve) => void setTimeout(resolve, rest));
    this.#menuClickAt = this.#now();
  }
}

/** A path in the directory of the run, for a dialog that was listed with that. */
const isInRun = (text: string, { runDirectory }: ControlListing): boolean =>
  runDirectory !== undefined && text.startsWith(`${runDirectory}/`);

const CLEAR: readonly Stroke[] = [
  { held: ['Control'], key: { sign: 'a' } },
  { held: [], key: { named: 'Delete' } },
];

/** Without what programs put before a title when there is something to save. */
const withoutMark = (title: string): string => title.replace(/^[*\u2022\u25cf\s]+/u, '');

function unlessFault(error: unknown): undefined {
  if (error instanceof DesktopFault) throw error;
  return undefined;
}

const clickAct = (button: MouseButton): Act => (button === 'middle' ? 'middle-click' : 'click');

const described = ({ id, type, name }: ListedControl): string => `control ${id} (${type} ${JSON.stringify(name)})`;
