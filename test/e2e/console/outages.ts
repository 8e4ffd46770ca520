import { expect, it } from '@jest/globals';
import type { Page, Route, WebSocket } from 'playwright-core';
import { until } from '../system.js';
import { exactly, inARow } from './plans.js';
import type { ConsoleRig, GateName } from './rig.js';
import { notLive, star, submitPlan, walk } from './seat.js';

/** In the page: every picture that it shows, as often as it changes; how the star stands, and whether the page says that it is not live. */
const WATCH = `(() => {
  const seen = [];
  const look = () => {
    const star = document.querySelector('[aria-label^="Outlive, "]')?.getAttribute('aria-label');
    const row = [...document.querySelectorAll('tbody tr')].find((one) => one.textContent.includes('Outlive the'));
    const status = star ?? row?.cells[1]?.textContent.trim();
    const isLive = !/Not live/.test(document.body.innerText);
    const last = seen.at(-1);
    if (status !== undefined && (last?.status !== status || last?.isLive !== isLive)) seen.push({ status, isLive });
  };
  look();
  new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true });
  window.picturesSeen = seen;
})()`;

interface Seen {
  readonly status: string;
  readonly isLive: boolean;
}

const seenOf = (page: Page): Promise<Seen[]> => page.evaluate<Seen[]>('window.picturesSeen');
/** How it stood, one after the other. */
const statusesIn = (seen: readonly Seen[]): string[] =>
  seen.map(({ status }) => status).filter((status, at, all) => status !== all[at - 1]);

/** The same of a star only: on another page there is a row of a list. */
const starsIn = (seen: readonly Seen[]): string[] =>
  statusesIn(seen.filter(({ status }) => status.startsWith('Outlive, ')));

export function testsOfOutages(rig: () => ConsoleRig): void {
  it('of the console is said, nothing wrong is shown, and all goes on by itself, in one connection', async () => {
    const page = await rig().operator();
    const other = await page.context().newPage();
    await other.goto('/');
    await other.getByRole('heading', { name: 'Runs' }).waitFor();
    const sockets = new Set<WebSocket>();
    page.on('websocket', (socket) => {
      sockets.add(socket.on('close', () => sockets.delete(socket)));
    });
    const run = await begun(page, 'console');
    const asked = Promise.withResolvers<Route>();
    await page.route('**/v1/me', (route) => asked.resolve(route), { times: 1 });
    await outlives(rig(), page, { part: 'console', run }, async () => {
      await page
        .getByRole('alert')
        .getByText(/^Not live/u)
        .waitFor();
      await other.getByRole('navigation').getByRole('link', { name: 'Fleet' }).click();
      // While the page asks whether it may come back, another one is opened, and connects by itself.
      const route = await asked.promise;
      await page.getByRole('navigation').getByRole('link', { name: 'Runs' }).click();
      await page.getByRole('alert').waitFor({ state: 'detached' });
      const answered = page.waitForResponse('**/v1/me');
      await route.continue();
      await answered;
      await page
        .getByRole('row', { name: /Outlive the console/u })
        .getByText('running')
        .waitFor();
      await page.goBack();
      // Its file could not be loaded when it was asked for.
      await other.getByText('web-1').first().waitFor();
    });
    // That the one before is closed may be heard later than what the new one brings.
    await until('one connection', async () => (sockets.size === 1 ? true : undefined));
  });

  it('of NATS is said, nothing wrong is shown, and all goes on by itself', async () => {
    const page = await rig().operator();
    await outlives(rig(), page, { part: 'nats', run: await begun(page, 'nats') });
  });

  it('of PostgreSQL leaves the lists right', async () => {
    const page = await rig().operator();
    await page.goto('/new');
    await submitPlan(page, plan('postgres', 'postgres'));
    await walk(page, '/');
    const row = page.getByRole('row', { name: /Outlive the postgres/u });
    await row.getByText('running').waitFor();
    await page.evaluate(WATCH);
    await rig().system.kill9('postgres');
    await rig().open('postgres');
    await row.getByText('completed').waitFor();
    await notLive(page).waitFor({ state: 'detached' });
    expect(statusesIn(await seenOf(page))).toEqual(['running', 'completed']);
  });
}

/** A run that waits, with its page, on which every picture is noted. */
async function begun(page: Page, part: Killed['part']): Promise<string> {
  await page.goto('/new');
  const run = await submitPlan(page, plan(part, part));
  await star(page, 'Outlive', 'running, on web-1').waitFor();
  await page.evaluate(WATCH);
  return run;
}

interface Killed {
  readonly part: 'console' | 'nats';
  readonly run: string;
}

/** The run goes on while this is killed: its page says so, is never wrong, and shows the end in time. */
async function outlives(
  rig: ConsoleRig,
  page: Page,
  { part, run }: Killed,
  meanwhile: () => Promise<void> = async () => {},
): Promise<void> {
  await rig.system.kill9(part);
  await until('the page to say so', async () => (await seenOf(page)).some(({ isLive }) => !isLive) || undefined);
  await meanwhile();
  await rig.open(part);
  await star(page, 'Outlive', 'completed, on web-1').waitFor();
  await notLive(page).waitFor({ state: 'detached' });
  expect(starsIn(await seenOf(page))).toEqual(['Outlive, running, on web-1', 'Outlive, completed, on web-1']);
  // What came while it was away is what is recorded.
  expect((await rig.system.untilEnd(run)).outcome).toBe('succeeded');
  await page.getByText('1 of 1 task done').waitFor();
}

const plan = (part: string, gate: GateName): object =>
  inARow(`Outlive the ${part}`, exactly('outlive', 'Outlive', `head -c 1 ${gate}`));
