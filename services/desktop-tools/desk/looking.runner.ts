import { realpath } from 'node:fs/promises';
import { cropped, marked, pngOf, type Box, type Picture } from '#libs/picture';
import { commonRect, markColourOf, ROLES, screenName, SCREEN_TEXT, type Rect } from '#libs/screen';
import type { WindowTree } from '../access/index.js';
import type { DesktopWindow } from '../display/index.js';
import { DesktopFault } from '../faults/index.js';
import type { Reach } from './connection.runner.js';
import { controlsIn, CONTROLS_MAX, hasTerminalIn, uiTreeOf, type SeenControl, type TreeNode } from './controls.js';
import type { ControlListing, DeskState, ListedWindow } from './desk.runner.js';
import { focusSeen } from './focus.runner.js';

/** Fields whose texts are told with a listing: more would make a look of every cell of a sheet. */
const VALUES_MAX = 60;
const LABELS_MAX = 60;
const TREE_NODES_MAX = 1_000;
const TEXT_CHARS_MAX = 100_000;

/** A picture as it leaves the device. */
export interface TakenPicture {
  readonly of: 'window' | 'desktop' | 'marked' | 'crop';
  /** On the screen. */
  readonly rect: Rect;
  readonly png: Buffer;
}

/** Looking changes nothing, in any window. */
export class Looking {
  readonly #desk: DeskState;

  constructor(desk: DeskState) {
    this.#desk = desk;
  }

  /** All windows with a title, in front first; ids of the listing before are not valid any more. */
  async windows(withoutTitle: boolean): Promise<{ readonly name: string; readonly entries: readonly ListedWindow[] }> {
    const { windows } = await this.#desk.reach();
    const list = (await windows.list()).filter(({ title }) => withoutTitle || title !== '');
    const listing = this.#desk.newListing(
      list.map((window) => ({ name: window.title, type: 'Window', rect: window.rect, window })),
    );
    this.#desk.windows = listing;
    return listing;
  }

  /** The controls of the window that is worked in; `isCut`: there are more. `directory`: that of the run, which dialogs for files are told of. */
  async controls(directory?: string): Promise<ControlListing & { readonly isCut: boolean; readonly hasTree: boolean }> {
    const reach = await this.#desk.reach();
    const window = await this.#desk.workedIn();
    // Whatever becomes of this look, ids of the one before are over: its window may be another by now.
    this.#desk.controls = undefined;
    const tree = await this.#treeOf(window, reach);
    const all = tree === undefined ? [] : controlsIn(tree.root, window.rect);
    const seen = await withTexts(all.slice(0, CONTROLS_MAX), reach);
    const listing: ControlListing = {
      ...this.#desk.newListing(seen),
      window,
      hasTerminal: this.#desk.isTerminal(window, tree !== undefined && hasTerminalIn(tree.root)),
      runDirectory: tree?.root.role === ROLES.fileChooser ? await realPlace(directory) : undefined,
    };
    this.#desk.controls = listing;
    this.#desk.focus = tree && focusSeen(window, tree.root);
    return { ...listing, isCut: tree?.isCut === true || all.length > CONTROLS_MAX, hasTree: tree !== undefined };
  }

  async tree(): Promise<TreeNode> {
    const reach = await this.#desk.reach();
    const window = await this.#desk.workedIn();
    const tree = await this.#treeOf(window, reach);
    if (tree === undefined)
      throw new DesktopFault('NOT_FOUND', `the window ${JSON.stringify(window.title)} has no tree`);
    return uiTreeOf(tree.root, window.rect, TREE_NODES_MAX);
  }

  /** The text of a control, as its program tells it. */
  async text(said: { readonly id: string; readonly name: string }): Promise<string> {
    const { texts } = await this.#desk.reach();
    const { facts, name } = this.#desk.controlOf(said);
    return (await texts.read(facts, TEXT_CHARS_MAX)) ?? name;
  }

  /** The whole screen as it is. */
  async desktop(): Promise<TakenPicture> {
    const { screen } = await this.#desk.reach();
    return { of: 'desktop', rect: screen.rect, png: pngOf(await screen.pictureOf(screen.rect)) };
  }

  /** The window that is worked in, in front: clean, with marks of its newest listing, and one control of it alone. */
  async window(asked: { readonly annotated: boolean; readonly crop: string | undefined }): Promise<TakenPicture[]> {
    const { screen } = await this.#desk.reach();
    const window = await this.#desk.workedIn();
    const rect = commonRect(window.rect, screen.rect);
    const clean = await screen.pictureOf(rect);
    const taken: TakenPicture[] = [{ of: 'window', rect, png: pngOf(clean) }];
    if (!asked.annotated && asked.crop === undefined) return taken;
    const listing = this.#desk.listed();
    if (listing.window.handle !== window.handle) {
      throw new DesktopFault('WINDOW_CHANGED', 'the newest listing is of another window; list again');
    }
    const all = withMarks(clean, rect, listing);
    if (asked.annotated) taken.push({ of: 'marked', rect, png: pngOf(all) });
    if (asked.crop !== undefined) taken.push(this.#crop(all, rect, asked.crop));
    return taken;
  }

  #crop(picture: Picture, window: Rect, id: string): TakenPicture {
    const [left, top, right, bottom] = this.#desk.controlOf({ id }).rect;
    const rect: Rect = [left - CROP_MARGIN, top - CROP_MARGIN, right + CROP_MARGIN, bottom + CROP_MARGIN];
    const part = cropped(picture, boxIn(window, rect));
    if (part === undefined) throw new DesktopFault('OUTSIDE', `nothing of the control ${id} is in the window`);
    return { of: 'crop', rect: commonRect(rect, window), png: pngOf(part) };
  }

  async #treeOf({ process, rawTitle, rect }: DesktopWindow, { tree }: Reach): Promise<WindowTree | undefined> {
    return tree.of({ process, title: rawTitle, rect });
  }
}

/** Without links; undefined where it is not there. */
const realPlace = (directory: string | undefined): Promise<string | undefined> =>
  directory === undefined ? Promise.resolve(undefined) : realpath(directory).catch(() => undefined);

/** Around a control that is shown alone: it is seen where it is. */
const CROP_MARGIN = 40;

const boxIn = ([x, y]: Rect, [left, top, right, bottom]: Rect): Box => [left - x, top - y, right - x, bottom - y];

const withMarks = (picture: Picture, window: Rect, { entries }: ControlListing): Picture =>
  marked(
    picture,
    entries.map(({ id, rect, type }) => ({ box: boxIn(window, rect), label: id, colour: markColourOf(type) })),
  );

/** Adds what has to be asked for: the names of fields by their labels, and what is in them. */
async function withTexts(controls: readonly SeenControl[], { texts }: Reach): Promise<SeenControl[]> {
  const nameless = new Set(controls.filter(({ name, type }) => name === '' && FIELDS.has(type)).slice(0, LABELS_MAX));
  const valued = new Set(
    controls.filter(({ type, facts }) => VALUED.has(type) && !isSecret(facts)).slice(0, VALUES_MAX),
  );
  return Promise.all(
    controls.map(async (control) => {
      const { facts, name } = control;
      const label = nameless.has(control) ? await texts.labelOf(facts.at) : undefined;
      if (!valued.has(control)) return { ...control, name: label === undefined ? name : screenName(label) };
      const number = NUMBERS.has(control.type) ? await texts.valueOf(facts) : undefined;
      const text =
        number === undefined ? await texts.read(facts, SCREEN_TEXT.valueCharsMax).catch(unlessFault) : `${number}`;
      const value = text === undefined ? undefined : screenName(text, SCREEN_TEXT.valueCharsMax);
      return { ...control, name: label === undefined ? name : screenName(label), value };
    }),
  );
}

const FIELDS: ReadonlySet<string> = new Set(['Edit', 'ComboBox', 'Spinner', 'Slider']);
const NUMBERS: ReadonlySet<string> = new Set(['Slider', 'ScrollBar']);
const VALUED: ReadonlySet<string> = new Set(['Edit', 'Document', 'Spinner', 'Slider', 'ScrollBar']);

const isSecret = ({ role }: { readonly role: number }): boolean => role === ROLES.password;

function unlessFault(error: unknown): undefined {
  if (error instanceof DesktopFault) throw error;
  return undefined;
}
