import { expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { exactly } from './plans.js';
import type { ConsoleRig } from './rig.js';
import { star, submitPlan, walk } from './seat.js';

export function testsOfChecking(rig: () => ConsoleRig): void {
  it('is verified in the browser, which names what was forged, and compared with how it was before', async () => {
    const page = await rig().operator();
    const run = await submitPlan(page, { name: 'Be checked', tasks: [exactly('say', 'Say so', 'echo said')] });
    await star(page, 'Say so', 'completed').waitFor();
    await rig().system.untilEnd(run);
    const dialog = await verified(page);
    await dialog.getByText('Everything is as it was written.').waitFor();

    await page.route('**/records', async (route) => {
      const response = await route.fetch({ maxRetries: 3 });
      const records = await response.text();
      const forged = records.replaceAll('echo said', 'echo sold');
      expect(forged).not.toBe(records);
      await route.fulfill({ response, body: forged });
    });
    await page.keyboard.press('Escape');
    const bad = await verified(page);
    await bad.getByText(/not as written$/u).waitFor();
    expect(await bad.getByText('Everything is as it was written.').count()).toBe(0);
    expect(await bad.getByRole('listitem').count()).toBeGreaterThan(0);

    await walk(page, `/compare?from=${run}&fromAt=1&to=${run}`);
    const task = page.getByRole('region', { name: 'Tasks' }).getByRole('row', { name: /Say so/u });
    await task.getByText('completed').waitFor();
  });
}

async function verified(page: Page) {
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: 'Verify here' }).click();
  return page.getByRole('dialog', { name: 'Verify this run' });
}
