import type { Readable, Writable } from 'node:stream';
import { z } from 'zod';
import { DesktopFault } from '../faults/index.js';
import { DevToolsPipe } from './devtools-pipe.client.js';
import { PageClient } from './page.client.js';

/** A browser that is started with this is asked for its pages over two descriptors, which only who starts it has. */
export const DEVTOOLS_PIPE = '--remote-debugging-pipe';

/** A page in a window of a browser. */
export interface BrowserPage {
  readonly pipe: DevToolsPipe;
  readonly target: string;
}

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
  async pageIn(window: {
    readonly process: number;
    readonly application: string;
    readonly rawTitle: string;
  }): Promise<BrowserPage> {
    const pipe = this.#pipes.get(window.process);
    if (pipe === undefined)
      throw new DesktopFault(
        'NOT_FOUND',
        `${window.application} does not let its pages be asked for; it has to be started by launch_application, with ${DEVTOOLS_PIPE} among its args`,
      );
    const { targetInfos } = await pipe.ask({ method: 'Target.getTargets', gives: Targets });
    const title = window.rawTitle.replace(SUFFIX, '');
    const [only, ...more] = targetInfos.filter(
      (target) => target.type === 'page' && target.title.trim() === title.trim(),
    );
    if (only === undefined || more.length > 0)
      throw new DesktopFault('NOT_FOUND', `the browser has ${more.length + (only ? 1 : 0)} pages of this title`);
    return { pipe, target: only.targetId };
  }

  /** The page for as long as something is done with it; only one that is shown. */
  async with<T>({ pipe, target }: BrowserPage, work: (page: PageClient) => Promise<T>): Promise<T> {
    return PageClient.with(pipe, target, async (page) => {
      if ((await page.view()).isShown) return work(page);
      throw new DesktopFault('WINDOW_CHANGED', 'the page is not the one that its window shows; read again');
    });
  }
}
