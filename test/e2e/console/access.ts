import { expect, it } from '@jest/globals';
import axe, { type AxeResults, type RunOptions } from 'axe-core';
import type { Page } from 'playwright-core';
import { exactly, inARow, inWords } from './plans.js';
import type { ConsoleRig } from './rig.js';
import { runShown, star, submitPlan } from './seat.js';

/** Everything; and for another theme what colours decide. */
const ALL: RunOptions = { resultTypes: ['violations'], preload: false };
const COLOURS: RunOptions = { ...ALL, runOnly: ['color-contrast', 'link-in-text-block'] };
const BAD = new Set<string | null | undefined>(['serious', 'critical']);

export function testsOfAccess(rig: () => ConsoleRig): void {
  it('has nothing that axe calls serious, on any page, by night and by day', async () => {
    const page = await rig().operator({ colorScheme: 'dark' });
    const asked = inWords('ask', 'Ask first', 'Ask first (story-looked).');
    const run = await submitPlan(page, {
      name: 'Be looked at',
      tasks: [exactly('fail', 'Fail', 'echo why; false'), asked],
    });
    await star(page, 'Fail', 'failed').waitFor();
    await page.getByRole('link', { name: 'Waits for 1 decision of a person' }).waitFor();
    const found: string[] = [];
    const light = await rig().operator({ colorScheme: 'light' });
    for (const [name, show] of Object.entries(pages(run))) {
      await show(page);
      found.push(...(await seriousIn(page, ALL)).map((what) => `${name}: ${what}`));
      await show(light);
      found.push(...(await seriousIn(light, COLOURS)).map((what) => `${name} by day: ${what}`));
    }
    const stranger = await rig().stranger();
    await stranger.goto('/login');
    found.push(...(await seriousIn(stranger, ALL)));
    expect(found).toEqual([]);
  });

  it('is used without a mouse: a request is sent, and what it asks is approved', async () => {
    const page = await rig().operator();
    const keys = page.keyboard;
    await page.goto('/');
    await page.getByRole('heading', { name: 'Runs' }).waitFor();
    await keys.press('g');
    await keys.press('n');
    await page.getByRole('heading', { name: 'New request' }).waitFor();
    await tabTo(page, 'In words');
    await keys.press('ArrowRight');
    await tabTo(page, 'TaskConstellation, as JSON');
    await keys.press('Control+a');
    await keys.insertText(JSON.stringify(inARow('By keyboard', inWords('tidy', 'Tidy up', 'Tidy up (story-keys).'))));
    await tabTo(page, 'Send');
    await keys.press('Enter');
    const run = await runShown(page);
    await star(page, 'Tidy up', 'running').waitFor();
    await tabTo(page, 'Tidy up, running');
    await keys.press('Enter');
    await page.getByRole('dialog', { name: 'Tidy up' }).waitFor();
    await keys.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Waits for 1 decision of a person' }).waitFor();
    await keys.press('g');
    await keys.press('a');
    const card = page.getByRole('article').filter({ hasText: 'rm -r keys' });
    await card.waitFor();
    await tabTo(page, 'Approve', 'rm -r keys');
    await keys.press('Enter');
    await page.getByRole('dialog').waitFor();
    await tabTo(page, 'Approve');
    await keys.press('Enter');
    await card.waitFor({ state: 'detached' });
    expect((await rig().system.untilEnd(run)).outcome).toBe('succeeded');
  });
}

/** How each page is come to, until it is whole. */
function pages(run: string): Record<string, (page: Page) => Promise<void>> {
  const at = (path: string, whole: (page: Page) => Promise<void>) => async (page: Page) => {
    await page.goto(path);
    await whole(page);
  };
  const tab = (name: string) => async (page: Page) => {
    await star(page, 'Fail').waitFor();
    await page.getByRole('tab', { name }).click();
  };
  return {
    runs: at('/', (page) => page.getByRole('row', { name: /Be looked at/u }).waitFor()),
    run: at(`/runs/${run}`, (page) => star(page, 'Fail', 'failed').waitFor()),
    timeline: at(`/runs/${run}`, tab('Timeline')),
    events: at(`/runs/${run}`, tab('Events')),
    figures: at(`/runs/${run}`, tab('Figures')),
    board: at(`/runs/${run}`, tab('Board')),
    comparing: at(`/compare?from=${run}&fromAt=1&to=${run}`, (page) => page.getByRole('table').first().waitFor()),
    task: at(`/runs/${run}?task=fail`, (page) => page.getByRole('dialog').getByText('why').first().waitFor()),
    attention: at('/attention', (page) => page.getByRole('article', { name: 'Approval for ask' }).waitFor()),
    question: async (page) => {
      await page.getByRole('button', { name: 'Approve', exact: true }).first().click();
      await page.getByRole('dialog').waitFor();
    },
    fleet: at('/fleet', (page) => page.getByText('web-1').first().waitFor()),
    palette: async (page) => {
      await page.keyboard.press('Control+k');
      await page.getByRole('option').first().waitFor();
    },
    runbooks: at('/runbooks', (page) => page.getByRole('listitem').first().waitFor()),
    request: at('/new', (page) => page.getByRole('heading', { name: 'New request' }).waitFor()),
    people: at('/people', (page) => page.getByRole('table').first().waitFor()),
    search: at('/search', (page) => page.getByRole('searchbox').or(page.getByRole('textbox')).first().waitFor()),
    you: at('/settings', (page) => page.getByRole('table').waitFor()),
    nothing: at('/nowhere', (page) => page.getByText('There is nothing here.').waitFor()),
  };
}

async function seriousIn(page: Page, options: RunOptions): Promise<string[]> {
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(axe.source);
  const { violations } = await page.evaluate<AxeResults>(`axe.run(document, ${JSON.stringify(options)})`);
  return violations
    .filter(({ impact }) => BAD.has(impact))
    .flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary = '' }) => `${id}: ${html.slice(0, 200)} ${failureSummary}`),
    );
}

/** More than any page has. */
const TABS_MAX = 80;

/** Presses Tab until what has this name has the focus; `within`: and this stands in the same card. */
async function tabTo(page: Page, name: string, within = ''): Promise<void> {
  const target = page.locator(':focus').and(
    page
      .getByLabel(name)
      .or(page.getByText(name, { exact: true }))
      .or(page.getByRole('tab', { name }))
      .or(page.getByRole('button', { name, exact: true })),
  );
  for (let pressed = 0; pressed < TABS_MAX; pressed += 1) {
    const isThere =
      within === ''
        ? await target.count()
        : await page.getByRole('article').filter({ hasText: within }).locator(target).count();
    if (isThere > 0) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`no ${TABS_MAX} Tabs lead to ${name}`);
}
