import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromium, type Browser, type Page } from 'playwright-core';
import packed from '@sparticuz/chromium';
import { z } from 'zod';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const DRAWN_MS_MAX = 120_000;

/** In the page: the event that the run is shown as of, as its bar of time says. */
const SHOWN = `Number(/#(\\d+)/u.exec(document.querySelector('.time-at')?.textContent ?? '')?.[1] ?? 0)`;

/** In the page, before anything of it runs: when which commit of a run came, by its place in the log. */
const KEEP_HEARD = `
  window.benchHeard = [];
  window.WebSocket = class extends WebSocket {
    constructor(...args) {
      super(...args);
      this.addEventListener('message', ({ data }) => {
        const place = /^[^{]*\\{"channel":\\d+,"kind":"commit","sequence":(\\d+)/u.exec(data)?.[1];
        if (place !== undefined) window.benchHeard.push([Number(place), performance.now()]);
      });
    }
  };`;

/** In the page: from now on it keeps which event is there since when, and since when what has changed is painted. */
const KEEP_SHOWN = `(() => {
  const shown = (window.benchShown = []);
  window.benchHeard.length = 0;
  let last = 0;
  new MutationObserver(() => {
    const event = ${SHOWN};
    if (event <= last) return;
    last = event;
    const changed = performance.now();
    requestAnimationFrame(() => setTimeout(() => shown.push([event, changed, performance.now()])));
  }).observe(document.body, { subtree: true, childList: true, characterData: true });
})()`;
/** In the page: resolves when what was changed is painted. */
const PAINTED = 'new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))';
const FRAMES = 120;
const MOVED_PX = 200;
const ZOOM_PX = -12;
const CLOCK_READINGS = 40;
const Heard = z.array(z.tuple([z.int(), z.number()]));
const Shown = z.array(z.tuple([z.int(), z.number(), z.number()]));

/** Since when an event was in the page, and painted, by the clock of this process. */
export interface ShownEvent {
  readonly event: number;
  readonly changedAt: number;
  readonly at: number;
}

/** What a page has kept. */
export interface Kept {
  readonly shown: readonly ShownEvent[];
  /** When a commit came, by its place in the log. */
  readonly heard: ReadonlyMap<number, number>;
}

/** A browser that is logged in, with one page. */
export class ConsolePage {
  readonly #browser: Browser;
  readonly #page: Page;
  readonly #url: string;

  private constructor(browser: Browser, page: Page, url: string) {
    [this.#browser, this.#page, this.#url] = [browser, page, url];
  }

  static async open(url: string, token: string): Promise<ConsolePage> {
    const folders = (process.env['PATH'] ?? '').split(delimiter);
    const own = folders.flatMap((folder) => NAMES.map((name) => join(folder, name))).find((file) => existsSync(file));
    const args = process.geteuid?.() === 0 ? ['--no-sandbox'] : [];
    const browser = await chromium.launch({ executablePath: own ?? (await packed.executablePath()), args });
    const page = await browser.newPage({ viewport: { width: 1_440, height: 900 } });
    await page.addInitScript(KEEP_HEARD);
    const answer = await page.request.post(`${url}/login`, {
      form: { token },
      headers: { Origin: url },
      maxRedirects: 0,
    });
    if (answer.status() >= 400) throw new Error(`the console let nobody in: ${answer.status()}`);
    return new ConsolePage(browser, page, url);
  }

  /** Resolves when the constellation is drawn. */
  async show(runId: string): Promise<void> {
    await this.#page.goto(`${this.#url}/runs/${runId}`);
    await this.#page
      .locator('.far-sky, .react-flow__node')
      .first()
      .waitFor({ state: 'attached', timeout: DRAWN_MS_MAX });
  }

  /** Moves the constellation, or zooms it until its stars can be read, once a frame: what each costs the main thread, by the processor's clock. */
  async frames(gesture: 'move' | 'zoom'): Promise<number[]> {
    const page = this.#page;
    const box = await page.locator('.tab-sky').boundingBox();
    if (box === null) throw new Error('there is no constellation');
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    const client = await page.context().newCDPSession(page);
    await client.send('Performance.enable', { timeDomain: 'threadTicks' });
    const busyMs = async (): Promise<number> => {
      const { metrics } = await client.send('Performance.getMetrics');
      return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN) * 1_000;
    };
    await page.mouse.move(x, y);
    if (gesture === 'move') await page.mouse.down();
    const costs: number[] = [];
    let before = await busyMs();
    for (let frame = 1; frame <= FRAMES; frame++) {
      const angle = (frame / FRAMES) * 2 * Math.PI;
      if (gesture === 'zoom') await page.mouse.wheel(0, ZOOM_PX);
      else await page.mouse.move(x + Math.sin(angle) * MOVED_PX, y + (1 - Math.cos(angle)) * MOVED_PX);
      await page.evaluate(PAINTED);
      const now = await busyMs();
      costs.push(now - before);
      before = now;
    }
    if (gesture === 'move') await page.mouse.up();
    await client.detach();
    return costs;
  }

  /** From now on it is kept since when which event is shown. */
  async keepShown(): Promise<void> {
    await this.#page.evaluate(KEEP_SHOWN);
  }

  /** The last event of what was kept. */
  async lastShown(): Promise<number> {
    return z.int().parse(await this.#page.evaluate('window.benchShown.at(-1)?.[0] ?? 0'));
  }

  /** What was kept, in order. */
  async kept(): Promise<Kept> {
    const ahead = await this.#ahead();
    const shown = Shown.parse(await this.#page.evaluate('window.benchShown'));
    const heard = Heard.parse(await this.#page.evaluate('window.benchHeard'));
    return {
      shown: shown.map(([event, changed, at]) => ({ event, changedAt: changed - ahead, at: at - ahead })),
      heard: new Map(heard.map(([place, at]) => [place, at - ahead])),
    };
  }

  /** By how much the clock of the page is ahead of ours, by the quickest of some readings: right to half the time that it took. */
  async #ahead(): Promise<number> {
    let best = { tookMs: Infinity, ahead: 0 };
    for (let count = 0; count < CLOCK_READINGS; count++) {
      const before = performance.now();
      const there = z.number().parse(await this.#page.evaluate('performance.now()'));
      const after = performance.now();
      if (after - before < best.tookMs) best = { tookMs: after - before, ahead: there - (before + after) / 2 };
    }
    return best.ahead;
  }

  async close(): Promise<void> {
    await this.#browser.close();
  }
}
