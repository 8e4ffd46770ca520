import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromium, type Browser, type Page } from 'playwright-core';
import packed from '@sparticuz/chromium';
import { z } from 'zod';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const DRAWN_MS_MAX = 120_000;

/** In the page: the event that the run is shown as of, as its bar of time says. */
const SHOWN = `Number(/#(\\d+)/u.exec(document.querySelector('.time-at')?.textContent ?? '')?.[1] ?? 0)`;

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

  /** The event that is shown. */
  async seen(): Promise<number> {
    return z.int().parse(await this.#page.evaluate(SHOWN));
  }

  async close(): Promise<void> {
    await this.#browser.close();
  }
}
