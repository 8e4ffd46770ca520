import type { Locator, Page } from 'playwright-core';

/** A star, by what a screen reader says of it: its name and how it stands. */
export const star = (page: Page, name: string, status: string): Locator =>
  page.getByRole('group', { name: new RegExp(`^${name}, ${status}`, 'u') });

/** Asks for a run as a plan, in the form, and waits for its page. */
export async function submitPlan(page: Page, plan: object): Promise<string> {
  await page.goto('/new');
  await page.getByRole('tab', { name: 'As a plan' }).click();
  await page.getByLabel('TaskConstellation, as JSON').fill(JSON.stringify(plan));
  await page.getByRole('button', { name: 'Send' }).click();
  return runShown(page);
}

/** Asks for a run in words, in the form, and waits for its page. */
export async function submitGoal(page: Page, goal: string): Promise<string> {
  await page.goto('/new');
  await page.getByLabel('What is wanted').fill(goal);
  await page.getByRole('button', { name: 'Send' }).click();
  return runShown(page);
}

/** The run whose page is shown. */
export async function runShown(page: Page): Promise<string> {
  await page.waitForURL(/\/runs\/[0-9a-z]+/u);
  return new URL(page.url()).pathname.slice('/runs/'.length);
}

/** Presses a button, and the one of the dialog that asks once more. */
export async function press(page: Page, button: string, { note, confirm = button }: Pressed = {}): Promise<void> {
  await page.getByRole('button', { name: button, exact: true }).first().click();
  const dialog = page.getByRole('dialog').last();
  if (note !== undefined) await dialog.getByRole('textbox').fill(note);
  await dialog.getByRole('button', { name: confirm, exact: true }).click();
  await dialog.waitFor({ state: 'detached' });
}

interface Pressed {
  readonly note?: string;
  readonly confirm?: string;
}
