import { expect, it } from '@jest/globals';
import type { ConsoleRig } from './rig.js';

export function testsOfEnrolling(rig: () => ConsoleRig): void {
  it('gives the lines for a new machine once, and the machine is in the fleet', async () => {
    const page = await rig().operator();
    await page.goto('/fleet');
    await page.getByRole('button', { name: 'Enrol a device' }).click();
    await page.getByLabel(/^Name; /u).fill('new-1');
    await page.getByLabel('Address of the gateway').fill('wss://orrery.example.org/ws');
    await page.getByLabel('Tags, separated by commas').fill('fresh, new');
    await page.getByRole('dialog').getByRole('button', { name: 'Enrol a device' }).click();
    const dialog = page.getByRole('dialog', { name: 'new-1 is enrolled' });
    await dialog.getByText('The token works once').waitFor();
    const lines = await dialog.getByRole('group', { name: 'new-1 is enrolled' }).innerText();
    await dialog.getByRole('button', { name: 'Done' }).click();
    const device = page.getByRole('listitem').filter({ hasText: 'new-1' });
    await device.getByText('never connected').waitFor();
    await device.getByText('fresh').waitFor();
    // Nobody can show it again: it stands nowhere that the page was told.
    const token = /join-[\w-]{20,}/u.exec(lines)?.[0] ?? '';
    expect(token).not.toBe('');
    await page.reload();
    await device.getByText('never connected').waitFor();
    expect(await page.content()).not.toContain(token);
  });
}
