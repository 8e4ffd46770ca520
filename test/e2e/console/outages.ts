import { expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { until } from '../system.js';
import { exactly, inARow } from './plans.js';
import type { ConsoleRig, GateName } from './rig.js';
import { notLive, star, submitPlan } from './seat.js';

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

export function testsOfOutages(rig: () => ConsoleRig): void {
  it.each<[string, string, GateName]>([
    ['the console', 'console', 'console'],
    ['NATS', 'nats', 'nats'],
  ])(
    'says that it is not live when %s is killed, shows nothing wrong, and goes on by itself',
    async (_, part, gate) => {
      const page = await rig().operator();
      const run = await submitPlan(page, plan(part, gate));
      await star(page, 'Outlive', 'running, on web-1').waitFor();
      await page.evaluate(WATCH);
      await rig().system.kill9(part);
      await until('the page to say so', async () => (await seenOf(page)).some(({ isLive }) => !isLive) || undefined);
      await rig().open(gate);
      await star(page, 'Outlive', 'completed, on web-1').waitFor();
      await notLive(page).waitFor({ state: 'detached' });
      expect(statusesIn(await seenOf(page))).toEqual(['Outlive, running, on web-1', 'Outlive, completed, on web-1']);
      // What came while it was away is what is recorded.
      expect((await rig().system.untilEnd(run)).outcome).toBe('succeeded');
      await page.getByText('1 of 1 task done').waitFor();
    },
  );

  it('has lists that are right after PostgreSQL was killed', async () => {
    const page = await rig().operator();
    await submitPlan(page, plan('postgres', 'postgres'));
    await page.goto('/');
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

const plan = (part: string, gate: GateName): object =>
  inARow(`Outlive the ${part}`, exactly('outlive', 'Outlive', `head -c 1 ${gate}`));
