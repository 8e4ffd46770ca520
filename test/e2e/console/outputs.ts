import { readFile } from 'node:fs/promises';
import { expect, it } from '@jest/globals';
import type { Locator, Page, Route } from 'playwright-core';
import { exactly, inARow } from './plans.js';
import type { ConsoleRig, GateName } from './rig.js';
import { submitPlan, walk } from './seat.js';

const LINES = 3_000;
const upTo = (from: number, to: number): string => `seq -f 'line %.0f' ${from} ${to}`;

export function testsOfOutputs(rig: () => ConsoleRig): void {
  it('shows what a command writes whole: over a reload, and over a console that is killed', async () => {
    const page = await rig().operator();
    const pause = (gate: GateName): string => `head -c 1 ${gate} > seen`;
    const command = [
      upTo(1, 1_000),
      pause('output'),
      upTo(1_001, 2_000),
      pause('more-output'),
      upTo(2_001, LINES),
    ].join('; ');
    const run = await submitPlan(page, inARow('Count', exactly('count', 'Count to many', command)));
    await walk(page, `/runs/${run}?task=count`);
    await linesShown(page, 1_000);
    await page.reload();
    await linesShown(page, 1_000);
    await rig().open('output');
    await linesShown(page, 2_000);
    // It comes back when the rest is written, and not before it was seen to be away.
    const asked = Promise.withResolvers<Route>();
    await page.route('**/v1/me', (route) => asked.resolve(route), { times: 1 });
    await rig().system.kill9('console');
    await page
      .getByRole('alert')
      .getByText(/^Not live: the connection to the console is lost/u)
      .waitFor();
    await rig().open('more-output');
    await (await asked.promise).continue();
    await linesShown(page, LINES);
    await page.getByRole('alert').waitFor({ state: 'detached' });

    // Looked for, and as a file.
    await page.getByRole('searchbox', { name: 'Search in the output' }).fill('line 17');
    await rows(page).getByText('line 17', { exact: true }).waitFor();
    const download = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download' }).click();
    const written = (await readFile(await (await download).path(), 'utf8')).trim().split('\n');
    expect(written.length).toBe(LINES);
    expect(written.findIndex((text, at) => !text.endsWith(` | line ${at + 1}`))).toBe(-1);
    await page.getByRole('button', { name: 'In all that is kept' }).click();
    const found = page.getByRole('group', { name: 'Found in all that is kept' });
    await found.getByText('stdout 17: line 17').waitFor();
    // Those that begin with 17, in order, and no others.
    expect((await found.innerText()).trim().split('\n')).toHaveLength(111);
  });

  it('is drawn also where nobody looks: below the edge of a low window', async () => {
    const page = await rig().operatorElsewhere({ viewport: { width: 1_280, height: 300 } });
    await afterALook(page);
    const run = await submitPlan(
      page,
      inARow('Write', exactly('write', 'Write a word', 'echo written; head -c 1 low')),
    );
    await walk(page, `/runs/${run}?task=write`);
    const drawer = page.getByRole('dialog', { name: 'Write a word' });
    await drawer.locator('span').getByText('written', { exact: true }).waitFor();
    await rig().open('low');
    await drawer.getByText('completed').first().waitFor();
  });
}

/** In the page: until whoever asks whether the terminal can be seen was told. */
const LOOKED = `new Promise((looked) => {
  const seen = new IntersectionObserver(() => requestAnimationFrame(() => (seen.disconnect(), looked())));
  seen.observe(document.querySelector('[aria-posinset]'));
})`;

/** What commands write comes when the terminal has been in its place for a while: on a line that is slow. */
async function afterALook(page: Page): Promise<void> {
  await page.routeWebSocket('**/v1/live', (socket) => {
    const inTurn = async (before: Promise<void>, message: string | Buffer): Promise<void> => {
      await before;
      if (message.includes('"kind":"bytes"')) {
        await rows(page).first().waitFor({ state: 'attached' });
        await page.evaluate(LOOKED);
      }
      socket.send(message);
    };
    let told = Promise.resolve();
    socket.connectToServer().onMessage((message) => {
      told = inTurn(told, message);
    });
  });
}

/** The rows of the terminal that can be seen. */
const rows = (page: Page): Locator =>
  page
    .getByRole('dialog')
    .getByRole('listitem')
    .filter({ has: page.locator(':scope[aria-posinset]') });

/** Until the last line is there; each line stands in its row, below that which says whose output it is: none is missing, none is there twice. */
async function linesShown(page: Page, count: number): Promise<void> {
  await rows(page).getByText(`line ${count}`, { exact: true }).waitFor();
  const shown = await rows(page).evaluateAll((all) =>
    all.map((row) => ({ place: Number(row.getAttribute('aria-posinset')), text: row.textContent?.trim() ?? '' })),
  );
  const written = shown.filter(({ text }) => text.startsWith('line '));
  expect(written.length).toBeGreaterThan(1);
  expect(written).toEqual(written.map(({ place }) => ({ place, text: `line ${place - 1}` })));
}
