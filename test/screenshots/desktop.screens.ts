import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { ownPort } from '#libs/testing';
import { DESK, DrivenDesktop } from '../desktop/driven.js';
import { acts, appEnds, assigns, confirms, hostEnds, starts, when } from '../desktop/model.js';
import { hasVnc, largePrograms, whyNoDesktop } from '../desktop/rig.js';
import { openBrowser } from '../e2e/browser.js';
import { ROOT, until } from '../e2e/system.js';

/* Pictures of a desktop at work, with real programs and a scripted model: what is asked, what is seen live, who has it. Nothing is asserted. */

const reason =
  (await whyNoDesktop()) ?? ((await hasVnc()) ? undefined : 'this machine has not tigervnc-standalone-server');
const { hasBrowser } = await largePrograms();
if (reason !== undefined) process.stderr.write(`No pictures of a desktop are taken: ${reason}.\n`);

const ALL = join(ROOT, '.cache/screenshots');
const SHOWN = join(ROOT, 'docs/images');
const SIZE = { width: 1_180, height: 860 };
const PHONE = { width: 390, height: 844 };

/** The whole screen is its window, and no bar in it tells what it was started with. */
const WHOLE = ['--start-maximized', '--test-type'];
const REMARK = 'by Friday';
const FORM = `<!doctype html><meta charset="utf-8"><title>An order</title>
<style>body{font:18px sans-serif;margin:3rem;max-width:32rem}label{display:block;margin:1rem 0}input{font:inherit;width:100%;padding:.4rem}button{font:inherit;padding:.5rem 2rem}</style>
<h1>Paper for the office</h1><form><label>Name <input name="name"></label><label>Count <input name="count"></label>
<label>Remark <input name="remark" oninput="fetch('/?said='+encodeURIComponent(this.value))"></label><button>Send</button></form>`;

(reason === undefined && hasBrowser ? describe : describe.skip)('a desktop', () => {
  let server: Server;
  /** What has stood in the field for remarks, as its page tells it: several words may be on their way at once, in any order. */
  const said = new Set<string | null>();
  let desktop: DrivenDesktop;
  let browser: Browser;

  beforeAll(async () => {
    await mkdir(ALL, { recursive: true });
    server = createServer(({ url = '/' }, response) => {
      said.add(new URL(url, 'http://localhost').searchParams.get('said'));
      response.setHeader('content-type', 'text/html').end(FORM);
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const page = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const args = [
      '--no-sandbox',
      '--no-first-run',
      '--force-renderer-accessibility',
      '--password-store=basic',
      ...WHOLE,
      page,
    ];
    desktop = await DrivenDesktop.start(() => ({ chromium: { command: '/usr/bin/chromium', args, files: [] } }), 0, {
      vncPort: await ownPort(),
    });
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await desktop?.stop();
    server?.closeAllConnections();
    server?.close();
  });

  it('is seen while it waits for a person, and while a person has it', async () => {
    desktop.model.story('paper', [
      starts('chromium'),
      assigns('An order', 'Order forty packs of paper for Anna, and send the form.'),
      acts('set_edit_text', ['Edit', 'Name'], { text: 'Anna Groß', clear_current_text: true }),
      acts('set_edit_text', ['Edit', 'Count'], { text: '40', clear_current_text: true }),
      confirms('click_input', ['Button', 'Send'], 'Name and count are filled in. Sending is an order.'),
      when(() => false, appEnds('It is sent.')),
      hostEnds('It is sent.'),
    ]);
    const run = await desktop.send('paper', { name: 'Order paper' });
    await desktop.asked(run);
    const { url } = await desktop.system.json<{ url: string }>('console', '--no-open');
    const context = await browser.newContext({ viewport: SIZE, colorScheme: 'dark', reducedMotion: 'reduce' });
    const page = await context.newPage();
    await page.goto(url);
    await page.getByRole('heading', { name: 'Runs' }).waitFor();
    const base = new URL(page.url()).origin;

    await page.goto(`${base}/attention`);
    const asked = page.getByRole('article').first();
    await asked.locator('img.seen').waitFor();
    await page.setViewportSize({ ...SIZE, height: 1_100 });
    await asked.screenshot({ path: join(ALL, 'desktop-approval.png') });
    await asked.screenshot({ path: join(SHOWN, 'desktop-approval.jpg'), type: 'jpeg', quality: 82 });
    await page.setViewportSize(SIZE);

    await page.getByRole('link', { name: `Look at the screen of ${DESK}` }).click();
    await painted(page);
    await shot(page, 'live');
    await page.setViewportSize(PHONE);
    await page.screenshot({ path: join(ALL, 'desktop-live-phone.png') });
    await page.setViewportSize(SIZE);
    await page.getByRole('button', { name: 'Take over' }).click();
    await page.getByRole('dialog').getByRole('textbox').fill('it is to come by Friday');
    await page.getByRole('dialog').getByRole('button', { name: 'Take over' }).click();
    const screen = page.getByRole('application');
    await screen.waitFor();
    await screen.focus();
    await page.keyboard.press('Tab');
    await page.keyboard.type(REMARK);
    await until('what was typed', async () => said.has(REMARK) || undefined);
    await painted(page);
    await shot(page, 'taken');
    await context.close();
  });
});

/** Waits until there is a picture of more than one colour. */
async function painted(page: Page): Promise<void> {
  await until('a picture', async () => ((await page.evaluate<number>(COLOURS)) > 8 ? true : undefined));
}

/** In the page: how many colours the picture has, looked at here and there. */
const COLOURS = `(() => {
  const canvas = document.querySelector('.stage-box canvas');
  if (canvas === null || canvas.width === 0) return 0;
  const words = new Uint32Array(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer);
  return new Set(words.filter((_, at) => at % 97 === 0)).size;
})()`;

async function shot(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: join(ALL, `desktop-${name}.png`) });
  await page.screenshot({ path: join(SHOWN, `desktop-${name}.jpg`), type: 'jpeg', quality: 82 });
}
