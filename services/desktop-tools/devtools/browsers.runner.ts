import type { Readable, Writable } from 'node:stream';
import { z } from 'zod';
import { DesktopFault } from '../faults/index.js';
import { DevToolsPipe } from './devtools-pipe.client.js';
import { pageShownIn, type BrowserPage, type BrowserWindow, type SeenPage } from './page-in-window.js';
import { PageClient } from './page.client.js';

/** A browser that is started with this is asked for its pages over two descriptors, which only who starts it has. */
export const DEVTOOLS_PIPE = '--remote-debugging-pipe';

const Targets = z.object({
  targetInfos: z.array(z.object({ targetId: z.string(), type: z.string(), title: z.string() })),
});
/** Files come only when they are asked for. */
export const NO_DOWNLOADS = { method: 'Browser.setDownloadBehavior', params: { behavior: 'deny' }, gives: z.unknown() };
/** What browsers put behind the title of a page. */
const SUFFIX = / - (?:Chromium|Google Chrome)$/u;

/** The browsers that were started here, by their processes. They end when this process does: their pipes are over then. */
export class Browsers {
  readonly #pipes = new Map<number, DevToolsPipe>();

  /** From now on it is asked there. It keeps no file that nobody has asked for. */
  add(process: number, to: Writable, from: Readable): void {
    const pipe = new DevToolsPipe(to, from);
    this.#pipes.set(process, pipe);
    from.once('close', () => {
      if (this.#pipes.get(process) === pipe) this.#pipes.delete(process);
    });
    void pipe.ask(NO_DOWNLOADS).catch(() => undefined);
  }

  /** The page that a window shows. */
  async pageIn(window: BrowserWindow): Promise<BrowserPage> {
    const pipe = this.#pipes.get(window.process);
    if (pipe === undefined)
      throw new DesktopFault(
        'NOT_FOUND',
        `${window.application} does not let its pages be asked for; it has to be started by launch_application, with ${DEVTOOLS_PIPE} among its args`,
      );
    const { targetInfos } = await pipe.ask({ method: 'Target.getTargets', gives: Targets });
    const title = window.rawTitle.replace(SUFFIX, '');
    const named = targetInfos.filter((target) => target.type === 'page' && target.title.trim() === title.trim());
    const [only, ...more] = named.map(({ targetId }) => ({ pipe, target: targetId }));
    if (only === undefined) throw new DesktopFault('NOT_FOUND', 'the browser has no page of this title');
    return more.length === 0 ? only : this.#shownIn(window, [only, ...more]);
  }

  /** Of pages of one title the one that a window shows: others are behind it, or in another window. */
  async #shownIn(window: BrowserWindow, pages: readonly BrowserPage[]): Promise<BrowserPage> {
    const seen: SeenPage[] = [];
    for (const page of pages) {
      // One that waits for the answer to a dialog tells nothing, and may be the one.
      const view = await PageClient.with(page.pipe, page.target, (asked) => asked.view());
      if (view.isShown) seen.push({ page, view });
    }
    const found = pageShownIn(window, seen);
    if (found !== undefined) return found;
    const why = `the browser shows ${seen.length} pages of this title, and which of them this window has cannot be told; move one of their windows`;
    throw new DesktopFault('NOT_FOUND', why);
  }

  /** The page for as long as something is done with it; only one that is shown. */
  async with<T>({ pipe, target }: BrowserPage, work: (page: PageClient) => Promise<T>): Promise<T> {
    return PageClient.with(pipe, target, async (page) => {
      if ((await page.view()).isShown) return work(page);
      throw new DesktopFault('WINDOW_CHANGED', 'the page is not the one that its window shows; read again');
    });
  }
}
