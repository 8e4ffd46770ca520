import { expect } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';

/* What a person does before a browser, and sees. */

/** A star, by what a screen reader says of it: its name and how it stands. */
export const star = (page: Page, name: string, status = ''): Locator =>
  page.getByRole('group', { name: new RegExp(`^${name}, ${status}`, 'u') });

/** Asks for a run as a plan, in the form, and waits for its page. */
export async function submitPlan(page: Page, plan: object): Promise<string> {
  await walk(page, '/new');
  await page.getByRole('tab', { name: 'As a plan' }).click();
  await page.getByLabel('TaskConstellation, as JSON').fill(JSON.stringify(plan));
  return sent(page);
}

/** Asks for a run in words, in the form, and waits for its page. */
export async function submitGoal(page: Page, goal: string): Promise<string> {
  await walk(page, '/new');
  await page.getByLabel('What is wanted').fill(goal);
  return sent(page);
}

/** Sends, and the same again while the page says that nobody could take it; gives the run whose page is shown then. */
async function sent(page: Page): Promise<string> {
  const send = page.getByRole('button', { name: 'Send' });
  const problem = page.getByRole('main').getByRole('alert');
  await send.click();
  for (;;) {
    await problem
      .or(page.getByRole('slider', { name: 'Moment' }))
      .first()
      .waitFor();
    if (!(await problem.isVisible())) return runShown(page);
    // The console's sentence or the orchestrator's: both ask for the same.
    expect(await problem.innerText()).toMatch(/send (?:it again with )?the same request id/iu);
    await send.click();
  }
}

/** The run whose page is shown. */
export async function runShown(page: Page): Promise<string> {
  await page.waitForURL(/\/runs\/[0-9a-z]+/u);
  return new URL(page.url()).pathname.slice('/runs/'.length);
}

/**
 * Goes to another page as a link of the application does, without loading it anew; what was open is closed. A browser that has shown nothing
 * yet loads it.
 */
export async function walk(page: Page, path: string): Promise<void> {
  if (page.url() === 'about:blank') {
    await page.goto(path);
    return;
  }
  await page.keyboard.press('Escape');
  const to = JSON.stringify(path);
  await page.evaluate(`history.pushState(null, '', ${to}); dispatchEvent(new PopStateEvent('popstate'))`);
}

/** Presses a button, and in the dialog that asks once more the one of that name. */
export async function press(within: Page | Locator, button: string, note?: string): Promise<void> {
  await within.getByRole('button', { name: button, exact: true }).click();
  const page = 'page' in within ? within.page() : within;
  await confirm(page, button, note);
}

/** In the dialog that asks once more; what nobody could decide in time is said again. */
export async function confirm(page: Page, button: string, note?: string): Promise<void> {
  const dialog = page.getByRole('dialog').filter({ has: page.getByRole('button', { name: 'Back', exact: true }) });
  if (note !== undefined) await dialog.getByRole('textbox').fill(note);
  const problem = dialog.getByRole('alert');
  for (;;) {
    await dialog.getByRole('button', { name: button, exact: true }).click();
    const isRefused = await Promise.race([
      dialog.waitFor({ state: 'detached' }).then(() => false),
      problem.waitFor().then(() => true),
    ]);
    if (!isRefused) return;
    expect(await problem.innerText()).toMatch(/ again\b/u);
  }
}

/** What a run looks like: its stars, its conversation, and the moment that is shown. */
export async function picture(page: Page): Promise<{ stars: string[]; talk: string; moment: string | null }> {
  const stars = page.getByLabel('Constellation', { exact: true }).getByRole('group', { name: /, / });
  const names = await stars.evaluateAll((all) => all.map((one) => one.getAttribute('aria-label') ?? ''));
  const talk = await page.getByRole('region', { name: 'Conversation' }).getByRole('list').innerText();
  const moment = await page.getByRole('slider', { name: 'Moment' }).getAttribute('aria-valuetext');
  return { stars: names.toSorted((one, other) => one.localeCompare(other)), talk, moment };
}

/** Whether the page says that it is live. */
export const notLive = (page: Page): Locator => page.getByText(/^Not live/u);
