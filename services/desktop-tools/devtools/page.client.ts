import { z } from 'zod';
import { screenName, type Point, type Rect } from '#libs/screen';
import { DesktopFault, pause } from '../faults/index.js';
import { AxNode, axPageOf, controlOf, isSamePageControl, type AxPage, type PageControl } from './ax-page.js';
import type { DevToolsEvent, DevToolsPipe, DevToolsQuestion } from './devtools-pipe.client.js';

/** The document that a page shows: another one, or another address, is another page. */
export interface PageDocument {
  readonly frame: string;
  readonly loader: string;
  readonly url: string;
}

/** Where a page is in its window and on the screen, as the browser tells it. */
export interface PageView {
  readonly isShown: boolean;
  /** It has the keyboard, and not the window around it. */
  readonly hasFocus: boolean;
  /** The upper left corner of its window, as the browser knows it. */
  readonly window: Point;
  readonly isLoaded: boolean;
  readonly title: string;
  /** The place of its upper left corner on the screen; undefined where it is larger or smaller than its points. */
  readonly corner: Point | undefined;
  readonly size: Point;
}

const Nothing = z.unknown();
const Attached = z.object({ sessionId: z.string() });
const FrameTree = z.object({
  frameTree: z.object({
    frame: z.object({ id: z.string(), loaderId: z.string(), url: z.string(), urlFragment: z.string().optional() }),
  }),
});
const World = z.object({ executionContextId: z.int() });
const Nodes = z.object({ nodes: z.array(AxNode) });
const Quads = z.object({ quads: z.array(z.array(z.number()).length(8)) });
const Resolved = z.object({ object: z.object({ objectId: z.string() }) });
const Navigated = z.object({ errorText: z.string().optional(), isDownload: z.boolean().optional() });
const Told = z.object({ result: z.object({ value: z.unknown().optional() }) });
const Viewed = z.object({
  shown: z.boolean(),
  focus: z.boolean(),
  loaded: z.boolean(),
  title: z.string(),
  screen: z.tuple([z.number(), z.number()]),
  outer: z.tuple([z.number(), z.number()]),
  inner: z.tuple([z.number(), z.number()]),
  scale: z.number(),
});
const Dialog = z.object({ message: z.string() });

const NAVIGATE_MS = 30_000;
const LOAD_MS = 10_000;
const LOOK_MS = 100;
/** Of a world of our own, in which no script of the page has changed what these names mean. */
const VIEW = `(() => {
  const of = (name) => Object.getOwnPropertyDescriptor(Document.prototype, name).get.call(document);
  return {
    shown: of('visibilityState') === 'visible', focus: Document.prototype.hasFocus.call(document), loaded: of('readyState') === 'complete', title: of('title'),
    screen: [screenX, screenY], outer: [outerWidth, outerHeight], inner: [innerWidth, innerHeight], scale: devicePixelRatio,
  };
})()`;
/** Whether what is uppermost at a point of the page is this thing, or in it. */
const IS_UPPERMOST = `function (x, y) {
  const root = Node.prototype.getRootNode.call(this);
  const at = root instanceof ShadowRoot
    ? ShadowRoot.prototype.elementFromPoint.call(root, x, y) : Document.prototype.elementFromPoint.call(document, x, y);
  return at !== null && Node.prototype.contains.call(this, at);
}`;

/** A page of a browser, for as long as something is done with it. What its scripts have changed counts for nothing here. */
export class PageClient {
  readonly #pipe: DevToolsPipe;
  readonly #session: string;
  readonly #unheard: () => void;
  readonly #asking = Promise.withResolvers<string>();

  private constructor(pipe: DevToolsPipe, session: string) {
    this.#pipe = pipe;
    this.#session = session;
    this.#unheard = pipe.hear((event) => this.#hear(event));
  }

  static async with<T>(pipe: DevToolsPipe, target: string, work: (page: PageClient) => Promise<T>): Promise<T> {
    const attaching = { method: 'Target.attachToTarget', params: { targetId: target, flatten: true }, gives: Attached };
    const { sessionId } = await pipe.ask(attaching).catch(goneAs('the page is gone; read it again'));
    const page = new PageClient(pipe, sessionId);
    try {
      await page.#ask('Page.enable', {}, Nothing);
      return await work(page);
    } finally {
      page.#unheard();
      void pipe
        .ask({ method: 'Target.detachFromTarget', params: { sessionId }, gives: Nothing })
        .catch(() => undefined);
    }
  }

  async document(): Promise<PageDocument> {
    const { frame } = (await this.#ask('Page.getFrameTree', {}, FrameTree)).frameTree;
    return { frame: frame.id, loader: frame.loaderId, url: frame.url + (frame.urlFragment ?? '') };
  }

  async view(): Promise<PageView> {
    const contextId = await this.#world();
    const asked = { expression: VIEW, contextId, returnByValue: true };
    const told = await this.#ask('Runtime.evaluate', asked, Told);
    const { shown, focus, loaded, title, screen, outer, inner, scale } = Viewed.parse(told.result.value);
    const edge = (outer[0] - inner[0]) / 2;
    const corner: Point = [screen[0] + edge, screen[1] + outer[1] - inner[1] - edge];
    const known = { isShown: shown, hasFocus: focus, window: screen, isLoaded: loaded, title };
    return { ...known, corner: scale === 1 ? corner : undefined, size: inner };
  }

  async read(): Promise<AxPage> {
    const { nodes } = await this.#ask('Accessibility.getFullAXTree', {}, Nodes);
    return axPageOf(nodes);
  }

  /** The place of something on the page, from its upper left corner; undefined: it is nowhere. */
  async rectOf(node: number): Promise<Rect | undefined> {
    const { quads } = await this.#ask('DOM.getContentQuads', { backendNodeId: node }, Quads).catch(nowhere);
    const [quad] = quads;
    if (quad === undefined) return undefined;
    const [across, down] = [quad.filter((_, at) => at % 2 === 0), quad.filter((_, at) => at % 2 === 1)];
    const rect: Rect = [Math.min(...across), Math.min(...down), Math.max(...across), Math.max(...down)];
    return rect[2] - rect[0] >= 1 && rect[3] - rect[1] >= 1 ? rect : undefined;
  }

  /** Opens an address in this page, and waits until it is there; what the page asks in a dialog meanwhile. */
  async open(href: string): Promise<string | undefined> {
    const asked = this.#ask('Page.navigate', { url: href }, Navigated, NAVIGATE_MS);
    const { errorText, isDownload } = await asked;
    if (isDownload === true)
      throw new DesktopFault(
        'OUTSIDE',
        'the address is that of a file, and not of a page; files come by download_from_page',
      );
    if (errorText !== undefined && errorText !== '')
      throw new DesktopFault('NOT_FOUND', `the page could not be opened: ${screenName(errorText)}`);
    return this.loaded();
  }

  /** Waits until the page is there, for a while; what it asks in a dialog instead. */
  async loaded(): Promise<string | undefined> {
    const end = performance.now() + LOAD_MS;
    while (performance.now() < end) {
      await pause(LOOK_MS);
      const view = await Promise.race([this.view().catch(between), this.#asking.promise]);
      if (typeof view === 'string') return view;
      if (view?.isLoaded === true) return undefined;
    }
    return undefined;
  }

  /** Clicks on what was read, if it is what it was, where it was; what the page asks in a dialog then. */
  async click(control: PageControl): Promise<string | undefined> {
    await this.#same(control);
    await this.#ask('DOM.scrollIntoViewIfNeeded', { backendNodeId: control.node }, Nothing).catch(nowhere);
    const [x, y] = await this.#middleOf(control);
    await this.#mouse('mouseMoved', x, y);
    // What is pointed at may have become something else by that.
    await this.#same(control);
    const [nowX, nowY] = await this.#middleOf(control);
    if (nowX !== x || nowY !== y) throw new DesktopFault('WINDOW_CHANGED', `${described(control)} moves; read again`);
    if (!(await this.#isUppermost(control, x, y)))
      throw new DesktopFault('NOT_INTERACTABLE', `something else lies over ${described(control)}`);
    await this.#mouse('mousePressed', x, y);
    // A page that asks something does not answer before that is answered.
    const released = this.#mouse('mouseReleased', x, y).then(() => undefined);
    released.catch(() => undefined);
    return Promise.race([this.#asking.promise, released]).catch((error: unknown) => {
      // The click is made: a page that is gone by it, or busy, says nothing more.
      if (error instanceof DesktopFault) return undefined;
      throw error;
    });
  }

  async #same(control: PageControl): Promise<void> {
    const asked = { backendNodeId: control.node, fetchRelatives: false };
    const { nodes } = await this.#ask('Accessibility.getPartialAXTree', asked, Nodes).catch(
      goneAs(`${described(control)} is gone; read the page again`),
    );
    const now = nodes.map(controlOf).find((one) => one?.node === control.node);
    if (!isSamePageControl(control, now)) {
      const what = now === undefined ? 'nothing that can be used' : described(now);
      throw new DesktopFault('WINDOW_CHANGED', `${described(control)} is ${what} by now; read the page again`);
    }
    if (now?.state.includes('disabled') === true)
      throw new DesktopFault('NOT_INTERACTABLE', `${described(control)} is disabled`);
  }

  async #middleOf(control: PageControl): Promise<Point> {
    const rect = await this.rectOf(control.node);
    if (rect === undefined) throw new DesktopFault('NOT_INTERACTABLE', `${described(control)} is not to be seen`);
    return [Math.round((rect[0] + rect[2]) / 2), Math.round((rect[1] + rect[3]) / 2)];
  }

  async #isUppermost({ node }: PageControl, x: number, y: number): Promise<boolean> {
    const executionContextId = await this.#world();
    const { object } = await this.#ask('DOM.resolveNode', { backendNodeId: node, executionContextId }, Resolved);
    const asked = {
      objectId: object.objectId,
      functionDeclaration: IS_UPPERMOST,
      arguments: [{ value: x }, { value: y }],
      returnByValue: true,
    };
    return (await this.#ask('Runtime.callFunctionOn', asked, Told)).result.value === true;
  }

  async #mouse(type: 'mouseMoved' | 'mousePressed' | 'mouseReleased', x: number, y: number): Promise<void> {
    const pressing = type === 'mouseMoved' ? {} : { button: 'left', clickCount: 1 };
    await this.#ask('Input.dispatchMouseEvent', { type, x, y, ...pressing }, Nothing);
  }

  async #world(): Promise<number> {
    const { frame } = await this.document();
    const asked = { frameId: frame, worldName: 'orrery' };
    return (await this.#ask('Page.createIsolatedWorld', asked, World)).executionContextId;
  }

  #ask<T>(method: string, params: Record<string, unknown>, gives: z.ZodType<T>, ms?: number): Promise<T> {
    const question: DevToolsQuestion<T> = { method, params, session: this.#session, gives, ...(ms && { ms }) };
    const asking = this.#asking.promise.then((text): never => {
      const why = `the page waits for the answer to a dialog, ${JSON.stringify(text)}, which is given in its window`;
      throw new DesktopFault('NOT_RESPONDING', why);
    });
    asking.catch(() => undefined);
    return Promise.race([this.#pipe.ask(question), asking]);
  }

  #hear({ method, params, sessionId }: DevToolsEvent): void {
    if (sessionId !== this.#session || method !== 'Page.javascriptDialogOpening') return;
    const dialog = Dialog.safeParse(params);
    this.#asking.resolve(screenName(dialog.data?.message ?? ''));
  }
}

const described = ({ type, name }: PageControl): string => `${type} ${JSON.stringify(name)}`;

/** The browser knows it no more. */
const goneAs =
  (why: string) =>
  (error: unknown): never => {
    if (error instanceof DesktopFault && error.code === 'NOT_FOUND') throw new DesktopFault('WINDOW_CHANGED', why);
    throw error;
  };

/** What has no place has none to tell. */
function nowhere(error: unknown): z.infer<typeof Quads> {
  if (error instanceof DesktopFault && error.code === 'NOT_FOUND') return { quads: [] };
  throw error;
}

/** Between two pages there is none to look at. */
function between(error: unknown): undefined {
  if (error instanceof DesktopFault || error instanceof z.ZodError) return undefined;
  throw error;
}
