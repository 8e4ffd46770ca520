import { z } from 'zod';
import type { Caller, HostedTool } from '#libs/mcp';
import {
  commonRect,
  isEmptyRect,
  listedEntry,
  screenName,
  type Listing,
  type ListedThing,
  type Rect,
} from '#libs/screen';
import { pageAddressOf } from '#proto';
import type { DeskState } from '../desk/index.js';
import {
  download,
  DOWNLOAD_LIMITS,
  leadsToServer,
  PAGE_LIMITS,
  type Browsers,
  type BrowserPage,
  type PageClient,
  type PageControl,
  type PageDocument,
  type PageView,
} from '../devtools/index.js';
import type { DesktopWindow } from '../display/index.js';
import { DesktopFault } from '../faults/index.js';
import { Id, Name, runDirectoryOf, seenOnDesk, TargetShape, toolOf } from './tool.js';

const PageShape = {
  url: z.string(),
  title: z.string(),
  /** What the page asks in a dialog, which is answered in its window. */
  dialog: z.string().optional(),
};
const OpenedShape = z.object({ result: z.string(), ...PageShape });
const ReadShape = z.object({
  result: z.array(TargetShape),
  listing: z.string(),
  window: z.object({ application: z.string(), window: z.string() }),
  ...PageShape,
  text: z.string(),
  more: z.boolean().optional(),
});
const ClickedShape = z.object({ result: z.string(), ...PageShape, changed: z.boolean() });
const FetchedShape = z.object({ result: z.string(), name: z.string(), bytes: z.int(), sha256: z.string() });

/** A page as it was read: its ids are good for that document, in that window, and until the next reading. */
interface ReadPage extends Listing<ListedPageControl> {
  readonly window: DesktopWindow;
  readonly page: BrowserPage;
  readonly document: PageDocument;
}
interface ListedPageControl extends ListedThing {
  readonly control: PageControl;
}

/** The tools of a browser: its pages, asked without mouse and keys. */
export function desktopPageTools(desk: DeskState, browsers: Browsers): HostedTool[] {
  const pages = new Pages(desk, browsers);
  const target = z.object({ id: Id, name: Name });
  return [
    toolOf({
      name: 'open_page',
      title: 'Open a page',
      description: 'Opens an address of http or https in the page that the window shows.',
      input: z.object({ url: z.string().max(4_096) }),
      output: OpenedShape,
      readOnly: false,
      run: ({ url }, _, caller) => pages.open(url, caller),
    }),
    toolOf({
      name: 'read_page',
      title: 'Read the page',
      description: `The page that the window shows: address, title, text (at most ${PAGE_LIMITS.textCharsMax} characters), and its links and controls with ids for click_on_page and download_from_page, which are valid until the next reading. A link has its address as value; one without a rect is outside of what is shown.`,
      input: z.object({}),
      output: ReadShape,
      readOnly: true,
      run: (_, __, caller) => pages.read(caller),
    }),
    toolOf({
      name: 'click_on_page',
      title: 'Click on the page',
      description: 'Clicks on a link or control that read_page has listed, by its id and name there.',
      input: target,
      output: ClickedShape,
      readOnly: false,
      run: (said, _, caller) => pages.click(said, caller),
    }),
    toolOf({
      name: 'download_from_page',
      title: 'Download a file',
      description: `Clicks on a link or control that read_page has listed, and keeps the file that comes of it, of at most ${DOWNLOAD_LIMITS.bytesMax} bytes, in the directory of the run.`,
      input: target,
      output: FetchedShape,
      readOnly: false,
      run: (said, signal, caller) => pages.download(said, signal, caller),
    }),
  ];
}

/** What is known of a page between two calls. */
class Pages {
  readonly #desk: DeskState;
  readonly #browsers: Browsers;
  #read: ReadPage | undefined;

  constructor(desk: DeskState, browsers: Browsers) {
    this.#desk = desk;
    this.#browsers = browsers;
  }

  async open(url: string, caller: Caller): Promise<z.infer<typeof OpenedShape>> {
    const address = pageAddressOf(url);
    if ('why' in address) throw new DesktopFault('OUTSIDE', address.why);
    const window = await this.#listedWindow(caller);
    const found = await this.#browsers.pageIn(window);
    this.#read = undefined;
    return this.#browsers.with(found, async (page) => {
      const dialog = await page.open(address.href);
      return { result: dialog === undefined ? 'The page is open.' : WAITS, ...(await shownNow(page, dialog)) };
    });
  }

  async read(caller: Caller): Promise<z.infer<typeof ReadShape>> {
    const window = await this.#listedWindow(caller);
    const found = await this.#browsers.pageIn(window);
    // Whatever becomes of this reading, ids of the one before are over.
    this.#read = undefined;
    return this.#browsers.with(found, async (page) => {
      const document = await page.document();
      only(document);
      const [{ controls, text, isCut }, view] = [await page.read(), await page.view()];
      const placed = await withPlaces(page, controls, { view, window });
      const listing = this.#desk.newListing(placed);
      this.#read = { ...listing, window, page: found, document };
      this.#desk.page = listing.name;
      return {
        result: listing.entries.map(shapeOf),
        listing: listing.name,
        window: { application: window.application, window: window.title },
        url: screenName(document.url, PAGE_LIMITS.urlCharsMax),
        title: screenName(view.title),
        text,
        ...(isCut && { more: true }),
      };
    });
  }

  async click(said: z.infer<typeof Target>, caller: Caller): Promise<z.infer<typeof ClickedShape>> {
    return this.#onPage(said, caller, async ({ page, control, document }) => {
      if (!leadsToServer(control)) throw elsewhere(control);
      const dialog = (await page.click(control)) ?? (await page.loaded());
      const shown = await shownNow(page, dialog);
      const changed = dialog !== undefined || (await isOther(page, document));
      const result = `Clicked on ${control.type} ${JSON.stringify(control.name)}.${dialog === undefined ? '' : ` ${WAITS}`}`;
      return { result, ...shown, changed };
    });
  }

  async download(
    said: z.infer<typeof Target>,
    signal: AbortSignal,
    caller: Caller,
  ): Promise<z.infer<typeof FetchedShape>> {
    const directory = runDirectoryOf(caller);
    if (directory === undefined)
      throw new DesktopFault(
        'OUTSIDE',
        'files are kept in the directory of the run, and this run has none here; its request asks for one with workspace: true',
      );
    return this.#onPage(said, caller, async ({ page, control, found }) => {
      if (!leadsToServer(control) && control.url?.startsWith('blob:') !== true) throw elsewhere(control);
      const file = await download(found.pipe, { directory, signal }, async () => void (await page.click(control)));
      return { result: `Kept as ${file.name} in the directory of the run.`, ...file };
    });
  }

  /** With a control of the page that was read last, as long as that is the page which its window shows. */
  async #onPage<T>(
    { id, name }: z.infer<typeof Target>,
    caller: Caller,
    work: (at: {
      readonly page: PageClient;
      readonly control: PageControl;
      readonly document: PageDocument;
      readonly found: BrowserPage;
    }) => Promise<T>,
  ): Promise<T> {
    await this.#desk.reach();
    const read = this.#read;
    if (read === undefined || read.name !== this.#desk.page)
      throw new DesktopFault('WINDOW_CHANGED', 'no page was read; call read_page first');
    const on = seenOnDesk(caller);
    this.#desk.compare(on, read);
    if (on?.control !== undefined && on.control.id !== id)
      throw new DesktopFault('MISMATCH', `the control is ${id}, and what was judged is ${on.control.id}`);
    const { control } = listedIn(read, { id, name: on?.control?.name ?? name, type: on?.control?.type });
    if (control.name !== name) throw new DesktopFault('MISMATCH', `id ${id} is named ${JSON.stringify(control.name)}`);
    const window = await this.#sameWindow(read.window);
    const found = await this.#browsers.pageIn(window);
    if (found.pipe !== read.page.pipe || found.target !== read.page.target) throw another();
    return this.#browsers.with(found, async (page) => {
      const document = await page.document();
      if (document.loader !== read.document.loader || document.url !== read.document.url) throw another();
      return work({ page, control, document, found });
    });
  }

  /** The window that was listed last: what is done to a page is done in it. */
  async #listedWindow(caller: Caller): Promise<DesktopWindow> {
    await this.#desk.reach();
    const listing = this.#desk.listed();
    this.#desk.compare(seenOnDesk(caller), listing);
    return this.#sameWindow(listing.window);
  }

  /** It is still there, is worked in, and shows what it showed. */
  async #sameWindow({ handle, process, title }: DesktopWindow): Promise<DesktopWindow> {
    const { windows } = await this.#desk.reach();
    const worked = await this.#desk.workedIn();
    const now = (await windows.list()).find((window) => window.handle === handle && window.process === process);
    if (now === undefined || worked.process !== process || now.title !== title)
      throw new DesktopFault('WINDOW_CHANGED', `the window ${JSON.stringify(title)} is not what it was; look again`);
    this.#desk.admit('click', { window: now, hasTerminal: false }, false);
    return now;
  }
}

const Target = z.object({ id: Id, name: Name });

const WAITS = 'It waits for the answer to a dialog, which is given in its window.';

const another = (): DesktopFault =>
  new DesktopFault('WINDOW_CHANGED', 'the window shows another page than was read; read it again');

const elsewhere = ({ type, name, url }: PageControl): DesktopFault =>
  new DesktopFault(
    'OUTSIDE',
    `${type} ${JSON.stringify(name)} leads to ${JSON.stringify((url ?? '').slice(0, 40))}, and only http and https are followed`,
  );

/** Pages of the browser itself, and files of the machine, are nobody's to act in. */
function only({ url }: PageDocument): void {
  if (/^https?:/iu.test(url) || url === 'about:blank') return;
  throw new DesktopFault(
    'OUTSIDE',
    `the page is ${JSON.stringify(url.slice(0, 80))}, and only those of http and https are read`,
  );
}

function listedIn(read: ReadPage, said: { id: string; name: string; type: string | undefined }): ListedPageControl {
  const entry = listedEntry(read, said);
  if ('entry' in entry) return entry.entry;
  throw new DesktopFault(entry.code, entry.why);
}

/** Where a page is now; one that waits for the answer to a dialog says nothing more. */
async function shownNow(
  page: PageClient,
  dialog: string | undefined,
): Promise<{ url: string; title: string; dialog?: string }> {
  if (dialog !== undefined) return { url: '', title: '', dialog };
  const [{ url }, { title }] = [await page.document(), await page.view()];
  return { url: screenName(url, PAGE_LIMITS.urlCharsMax), title: screenName(title) };
}

async function isOther(page: PageClient, before: PageDocument): Promise<boolean> {
  const now = await page.document();
  return now.loader !== before.loader || now.url !== before.url;
}

type Placed = Omit<ListedPageControl, 'id'>;

/** Controls that have a place, with it where it is on the screen. */
async function withPlaces(
  page: PageClient,
  controls: readonly PageControl[],
  { view, window }: { readonly view: PageView; readonly window: DesktopWindow },
): Promise<Placed[]> {
  const rects = await Promise.all(controls.map(({ node }) => page.rectOf(node)));
  return controls.flatMap((control, at) => {
    const rect = rects[at];
    if (rect === undefined) return [];
    const { name, type } = control;
    return [{ name, type, rect: onScreen(rect, view, window), control }];
  });
}

const NOWHERE: Rect = [0, 0, 0, 0];

/** The part of it that is shown; nothing where that is not known. */
function onScreen([left, top, right, bottom]: Rect, { corner, size }: PageView, window: DesktopWindow): Rect {
  if (corner === undefined) return NOWHERE;
  const seen = commonRect([left, top, right, bottom], [0, 0, ...size] as Rect);
  const [x, y] = corner;
  const rect = [seen[0] + x, seen[1] + y, seen[2] + x, seen[3] + y].map(Math.round) as unknown as Rect;
  const shown = commonRect(rect, window.rect);
  return isEmptyRect(seen) || isEmptyRect(shown) ? NOWHERE : shown;
}

const shapeOf = ({ id, name, type, rect, control }: ListedPageControl): TargetShape => ({
  kind: 'control',
  name,
  id,
  type,
  rect: isEmptyRect(rect) ? null : [...rect],
  ...(control.state.length > 0 && { state: [...control.state] }),
  ...(control.url !== undefined && { value: control.url }),
});
