import { beforeAll, expect, it } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { query } from '#libs/messaging';
import { FakeDevice } from '#libs/testing';
import { PATIENT, until } from '../system.js';
import { ALL, COLOURS, isTooWide, seriousIn } from './access.js';
import type { ConsoleRig } from './rig.js';
import { press, walk } from './seat.js';
import type { Colour } from './stand-in-vnc.js';

const BLUE: Colour = [20, 60, 200];
const GREEN: Colour = [30, 160, 60];
/** In the page: the colour in the middle of the picture. */
const MIDDLE = `(() => {
  const canvas = document.querySelector('.stage-box canvas');
  return [...canvas.getContext('2d').getImageData(canvas.width / 2, canvas.height / 2, 1, 1).data];
})()`;

/** The picture, as a screen reader is told of it: to look at, or to act on. */
const looked = (page: Page): Locator => page.getByRole('img', { name: 'Screen of desk-1, a picture' });
const actedOn = (page: Page): Locator => page.getByRole('application', { name: 'Screen of desk-1: keys go there' });

/** Waits until the middle of the picture has this colour. */
async function seen(picture: Locator, colour: Colour = BLUE): Promise<void> {
  await picture.waitFor();
  await until('the colour of the screen', async () => {
    const found = await picture.page().evaluate<number[]>(MIDDLE);
    return colour.every((part, at) => found[at] === part) ? true : undefined;
  });
}

export function testsOfLookingOn(rig: () => ConsoleRig): void {
  beforeAll(async () => {
    const { system } = rig();
    const admin = { tags: [], capabilities: [], tasksMax: 1 };
    const { token } = await query(await system.bus(), 'registry', 'enroll', { deviceId: 'desk-1', admin }, PATIENT);
    const { aip: url } = await system.endpoints();
    // What it can do is known from then on; it takes no tasks of other tests.
    await (await FakeDevice.connect({ url, deviceId: 'desk-1', token, tools: ['click_input'] })).close();
  });

  it('is seen live, and acted on by who has taken it over until it is handed back', async () => {
    const page = await rig().operator();
    const { keyboard } = page;
    const { screen } = rig();
    await page.goto('/fleet?open=desk-1');
    await page.getByRole('link', { name: 'Look at the screen of desk-1' }).click();
    await seen(looked(page));
    await looked(page).click({ force: true });
    await keyboard.press('a');

    await press(page, 'Take over', 'a dialog that nobody knows');
    await page.getByText('You have taken it over').waitFor();
    expect(await seriousIn(page, ALL)).toEqual([]);
    await actedOn(page).click();
    await keyboard.press('b');
    await until('the key', async () => (screen.pressed.length > 0 ? true : undefined));
    expect(screen.pressed).toEqual(['b']);

    await keyboard.press('Control+Alt+Home');
    await page.getByRole('button', { name: 'Hand back' }).and(page.locator(':focus')).waitFor();
    // They have been on their way to it, and back.
    await until('the chord, and no key to be held down', async () =>
      screen.pressed.length > 1 && screen.down.size === 0 ? true : undefined,
    );

    await press(page, 'Hand back');
    await looked(page).click({ force: true });
    await keyboard.press('c');
    screen.paint(GREEN);
    await seen(looked(page), GREEN);
    expect(screen.pressed).not.toContain('c');
    screen.paint(BLUE);

    const { entries } = (await (await page.request.get('/v1/access?what=OUTPUT_READ')).json()) as {
      entries: { deviceId?: string }[];
    };
    expect(entries.map(({ deviceId }) => deviceId)).toContain('desk-1');
  });

  it('is said to be gone when it is, and not to be there, and can be opened again', async () => {
    const page = await rig().operator();
    const { screen } = rig();
    await page.goto('/fleet/desk-1/screen');
    await seen(looked(page));
    expect(await isTooWide(page)).toBe(false);
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await seriousIn(page, COLOURS)).toEqual([]);
    await screen.stop();
    await page.getByText('The screen is gone').waitFor();
    await page.getByRole('button', { name: 'Open again' }).click();
    await page.getByText('cannot be seen now').waitFor();
    await screen.start();
    await page.getByRole('button', { name: 'Open again' }).click();
    await seen(looked(page));
    await walk(page, '/fleet/web-1/screen');
    await page.getByText('The console shows no screen of web-1.').waitFor();
  });
}
