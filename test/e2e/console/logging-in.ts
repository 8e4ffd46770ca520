import { expect, it } from '@jest/globals';
import type { ConsoleRig } from './rig.js';
import { walk } from './seat.js';

export function testsOfLoggingIn(rig: () => ConsoleRig): void {
  it('by the link of the command line works once', async () => {
    const link = await rig().link();
    const [first, second] = [await rig().stranger(), await rig().stranger()];
    await first.goto(link);
    await first.getByRole('heading', { name: 'Runs' }).waitFor();
    // Neither in the address nor behind the back button: who sits down later cannot see it, either.
    expect(first.url()).toBe(`${rig().base}/`);
    await second.goto(link);
    await second.getByRole('alert').getByText('The code was used already.').waitFor();
    await second.goto('/');
    await second.getByRole('heading', { name: 'Log in' }).waitFor();
  });

  it('at the identity provider lets in who is known here, and nobody else', async () => {
    const page = await rig().person('olga', ['viewer']);
    await walk(page, '/settings');
    await page.getByText('olga').first().waitFor();
    await walk(page, '/fleet');
    await page.getByText('web-1').first().waitFor();
    expect(await page.getByRole('button', { name: 'Enrol a device' }).count()).toBe(0);
    rig().provider.who = 'nobody-1';
    const other = await rig().stranger();
    await other.goto('/login');
    await other.getByRole('link', { name: /^Log in at/u }).click();
    await other.getByRole('heading', { name: 'Not known here' }).waitFor();
    await other.goto('/');
    await other.getByRole('heading', { name: 'Log in' }).waitFor();
  });
}
