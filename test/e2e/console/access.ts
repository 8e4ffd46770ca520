import { expect, it } from '@jest/globals';
import axe, { type AxeResults, type RunOptions } from 'axe-core';
import type { Page } from 'playwright-core';
import { exactly, inARow, inWords, rowsBehind } from './plans.js';
import { until } from '../system.js';
import type { ConsoleRig } from './rig.js';
import { press, runShown, star, submitPlan, walk } from './seat.js';

/** Everything; and for another theme what colours decide. */
export const ALL: RunOptions = { resultTypes: ['violations'], preload: false };
export const COLOURS: RunOptions = { ...ALL, runOnly: ['color-contrast', 'link-in-text-block'] };
/** In the page: the other theme, as its button sets it. A page is come to once, and looked at in both. */
const BY_DAY = "document.documentElement.dataset.theme = 'light'";
const BY_NIGHT = "document.documentElement.dataset.theme = 'dark'";
const BAD = new Set<string | null | undefined>(['serious', 'critical']);

export function testsOfAccess(rig: () => ConsoleRig): void {
  it('has nothing that axe calls serious, on any page, by night and by day, and fits on a phone', async () => {
    const page = await rig().operator();
    await page.emulateMedia({ colorScheme: 'dark' });
    const asked = inWords('ask', 'Ask first', 'Ask first (story-looked).');
    const run = await submitPlan(page, {
      name: 'Be looked at',
      tasks: [exactly('fail', 'Fail', 'echo why; false'), asked],
    });
    await star(page, 'Fail', 'failed').waitFor();
    await page.getByRole('link', { name: 'Waits for 1 decision of a person' }).waitFor();
    const found: string[] = [];
    for (const [name, show] of Object.entries(pages(run))) {
      await show(page);
      found.push(...(await seriousIn(page, ALL)).map((what) => `${name}: ${what}`));
      await page.evaluate(BY_DAY);
      found.push(...(await seriousIn(page, COLOURS)).map((what) => `${name} by day: ${what}`));
      found.push(...(await page.evaluate<string[]>(TWINS)).map((what) => `${name} has twice the button ${what}`));
      if (await isTooWide(page)) found.push(`${name} is wider than a phone`);
      await page.evaluate(BY_NIGHT);
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

  it('leads by keys to the stars of a constellation that is drawn as shapes, of which an event changes few', async () => {
    const page = await rig().operator();
    const keys = page.keyboard;
    const begun = [exactly('count', 'Count', 'head -c 1 sky'), exactly('hold', 'Hold', 'sleep 600', 'db-1')];
    const run = await submitPlan(page, rowsBehind('A wide sky', begun, { rows: 30, steps: 8 }));
    const sky = page.getByRole('img', { name: /^242 tasks: .*2 running/u });
    await sky.waitFor();
    const focused = (name: RegExp) => page.locator(':focus').and(page.getByRole('group', { name }));
    await tabTo(page, /^(?:Count|Hold), running/u);
    for (const [key, name] of [
      ['End', /^Step 7 of row \d+, pending/u],
      ['ArrowLeft', /^Step 6 of row \d+, pending/u],
      ['Home', /^(?:Count|Hold), running/u],
      ['ArrowRight', /^Step 0 of row \d+, pending/u],
    ] as const) {
      await keys.press(key);
      await focused(name).waitFor();
    }
    const box = await until('the star to be large enough to be read', async () => {
      const seen = await page.locator(':focus').boundingBox();
      return seen !== null && seen.height > 40 ? seen : undefined;
    });
    expect(page.viewportSize()?.width).toBeGreaterThan(box.x);
    expect(await seriousIn(page, ALL)).toEqual([]);
    await keys.press('Enter');
    await page.getByRole('dialog', { name: /^Step 0 of row \d+$/u }).waitFor();
    await keys.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });

    await page.evaluate(COUNT_SHAPES);
    await rig().open('sky');
    await page.getByRole('img', { name: /^242 tasks: .*1 completed/u }).waitFor();
    const { changed, all } = await page.evaluate<{ changed: number; all: number }>('window.shapesOfSky()');
    expect(changed).toBeGreaterThan(0);
    expect(changed).toBeLessThan(12);
    expect(all).toBeGreaterThan(40);
    await press(page, 'Cancel run', 'it was looked at');
    await rig().system.untilEnd(run);
  });
}

/** In the page: how many shapes of a sky there are, and how many have come, gone or changed since now. */
const COUNT_SHAPES = `(() => {
  const [sky, changed] = [document.querySelector('.far-sky'), new Set()];
  const isShape = ({ nodeName }) => nodeName === 'path';
  const shapesIn = (node) => (isShape(node) ? [node] : [...(node.querySelectorAll?.('path') ?? [])]);
  new MutationObserver((records) => {
    for (const { type, target, addedNodes, removedNodes } of records)
      for (const node of type === 'attributes' ? [target].filter(isShape) : [...addedNodes, ...removedNodes])
        for (const shape of shapesIn(node)) changed.add(shape);
  }).observe(sky, { subtree: true, childList: true, attributes: true });
  window.shapesOfSky = () => ({ changed: changed.size, all: sky.querySelectorAll('path').length });
})()`;

/**
 * In the page: buttons of which nobody knows by the name which is which. What has a name and is around one tells it, too: a dialog, a region, an
 * article, a group; and the head of a row.
 */
const TWINS = `(() => {
  const textOf = (ids) => ids.split(' ').map((id) => document.getElementById(id)?.textContent).join(' ');
  const labelOf = (node) =>
    node.getAttribute('aria-label') ?? (node.hasAttribute('aria-labelledby') ? textOf(node.getAttribute('aria-labelledby')) : undefined);
  const headOf = (node) => node.querySelector('th, [role=rowheader]')?.textContent;
  const around = 'dialog, [role=dialog], section, article, nav, [role=group], fieldset, [role=region]';
  const within = (node) => {
    const row = node.closest('tr, [role=row]');
    const named = [];
    for (let at = node.parentElement; at !== null; at = at.parentElement) if (at.matches(around)) named.push(labelOf(at) ?? '');
    return [row === null ? '' : headOf(row), ...named].join(' | ');
  };
  const seen = [...document.querySelectorAll('button')].filter((node) => node.checkVisibility());
  const names = seen.map((node) => (labelOf(node) ?? node.textContent).trim() + ' in ' + within(node));
  return [...new Set(names.filter((name, at) => names.indexOf(name) !== at))];
})()`;

/** How each page is come to, until it is whole. */
function pages(run: string): Record<string, (page: Page) => Promise<void>> {
  const at = (path: string, whole: (page: Page) => Promise<void>) => async (page: Page) => {
    await walk(page, path);
    await whole(page);
  };
  const tab = (name: string) => (page: Page) => page.getByRole('tab', { name }).click();
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
    device: at('/fleet?open=web-1', (page) => page.getByRole('dialog').getByText('Profile').waitFor()),
    enrolling: async (page) => {
      await walk(page, '/fleet');
      await page.getByRole('button', { name: 'Enrol a device' }).click();
      await page.getByRole('dialog').waitFor();
    },
    person: at('/people?open=cli', (page) => page.getByRole('dialog').getByText('Keys').waitFor()),
    verified: async (page) => {
      await walk(page, `/runs/${run}`);
      await star(page, 'Fail', 'failed').waitFor();
      await page.getByRole('button', { name: 'More actions' }).click();
      await page.getByRole('menuitem', { name: 'Verify here' }).click();
      await page.getByRole('dialog').getByText('Everything is as it was written.').waitFor();
    },
    actions: async (page) => {
      await walk(page, `/runs/${run}`);
      await star(page, 'Fail', 'failed').waitFor();
      await page.getByRole('button', { name: 'More actions' }).click();
      await page.getByRole('menuitem', { name: 'Verify here' }).waitFor();
    },
    changing: async (page) => {
      await walk(page, '/attention');
      await page.getByRole('article', { name: 'Approval for ask' }).getByRole('button', { name: 'Edit' }).click();
      await page.getByRole('dialog').getByRole('textbox').fill('ls');
      await page.getByRole('dialog').getByText('What changes').waitFor();
    },
    examples: at('/examples', (page) => page.getByRole('heading', { name: 'Examples' }).waitFor()),
    runbook: at('/runbooks/fleet-health', (page) => page.getByText('As it would be planned now').first().waitFor()),
    runbooks: at('/runbooks', (page) => page.getByRole('listitem').first().waitFor()),
    request: at('/new', (page) => page.getByRole('heading', { name: 'New request' }).waitFor()),
    people: at('/people', (page) => page.getByRole('table').first().waitFor()),
    search: at('/search', (page) => page.getByRole('searchbox').or(page.getByRole('textbox')).first().waitFor()),
    you: at('/settings', (page) => page.getByRole('heading', { name: 'Models' }).nth(1).waitFor()),
    nothing: at('/nowhere', (page) => page.getByText('There is nothing here.').waitFor()),
    // Last, for what comes after it would be looked at on a phone, too.
    more: async (page) => {
      await page.setViewportSize(PHONE);
      await page.getByRole('button', { name: 'More', exact: true }).click();
      await page.getByRole('dialog', { name: 'More' }).waitFor();
    },
  };
}

const PHONE = { width: 390, height: 844 };

/** Whether the page as it stands would have to be moved sideways on a phone; afterwards it is as it was. */
export async function isTooWide(page: Page): Promise<boolean> {
  const before = page.viewportSize();
  await page.setViewportSize(PHONE);
  const wide = await page.evaluate<boolean>(
    "[document.documentElement, document.querySelector('main')].some((one) => one !== null && one.scrollWidth > one.clientWidth)",
  );
  if (before !== null) await page.setViewportSize(before);
  return wide;
}

export async function seriousIn(page: Page, options: RunOptions): Promise<string[]> {
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(axe.source);
  // Of what it finds to be right it tells more than of what is wrong: that stays in the page.
  const violations = await page.evaluate<AxeResults['violations']>(
    `axe.run(document, ${JSON.stringify(options)}).then(({ violations }) => violations)`,
  );
  return violations
    .filter(({ impact }) => BAD.has(impact))
    .flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary = '' }) => `${id}: ${html.slice(0, 200)} ${failureSummary}`),
    );
}

/** More than any page has. */
const TABS_MAX = 80;

/** Presses Tab until what has this name has the focus; `within`: and this stands in the same card. */
async function tabTo(page: Page, name: string | RegExp, within = ''): Promise<void> {
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
  throw new Error(`no ${TABS_MAX} Tabs lead to ${String(name)}`);
}
