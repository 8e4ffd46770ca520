import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromium, type Browser, type Page } from 'playwright-core';
import packed from '@sparticuz/chromium';
import { z } from 'zod';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const DRAWN_MS_MAX = 120_000;

/** In the page: the event that the run is shown as of, as its bar of time says. */
const SHOWN = `Number(/#(\\d+)/u.exec(document.querySelector('.time-at')?.textContent ?? '')?.[1] ?? 0)`;

/** In the page: from now on it keeps which event is shown since when; a time is taken when what has changed was painted. */
const KEEP_SHOWN = `(() => {
  const shown = (window.benchShown = []);
  let last = 0;
  new MutationObserver(() => {
    const event = ${SHOWN};
    if (event <= last) return;
    last = event;
    requestAnimationFrame(() => setTimeout(() => shown.push([event, performance.now()])));
  }).observe(document.body, { subtree: true, childList: true, characterData: true });
})()`;
const CLOCK_READINGS = 40;
const Shown = z.array(z.tuple([z.int(), z.number()]));

/** Since when an event was shown, by the clock of this process. */
export interface ShownEvent {
  readonly event: number;
  readonly at: number;
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

  /** From now on it is kept since when which event is shown. */
  async keepShown(): Promise<void> {
    await this.#page.evaluate(KEEP_SHOWN);
  }

  /** The last event of what was kept. */
  async lastShown(): Promise<number> {
    return z.int().parse(await this.#page.evaluate('window.benchShown.at(-1)?.[0] ?? 0'));
  }

  /** What was kept, in order. */
  async shown(): Promise<ShownEvent[]> {
    const ahead = await this.#ahead();
    const kept = Shown.parse(await this.#page.evaluate('window.benchShown'));
    return kept.map(([event, at]) => ({ event, at: at - ahead }));
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
