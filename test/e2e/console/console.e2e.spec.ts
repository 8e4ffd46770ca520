import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { runs, inARow } from './plans.js';
import { star, submitPlan } from './page-words.js';
import { ConsoleRig } from './rig.js';

/* The console as people use it: a real Chromium, real processes, a scripted model. What is looked for has the name that a screen reader says. */

let rig: ConsoleRig;
beforeAll(async () => {
  rig = await ConsoleRig.start();
});
afterEach(async () => expect(await rig.tidy()).toEqual([]));
afterAll(() => rig.stop());

describe('logging in', () => {
  it('by the link of the command line works once', async () => {
    const link = await rig.link();
    const [first, second] = [await rig.stranger(), await rig.stranger()];
    await first.goto(link);
    await first.getByRole('heading', { name: 'Runs' }).waitFor();
    expect(first.url()).toBe(`${rig.base}/`);
    await second.goto(link);
    await second.getByText('The code was used already.').waitFor();
    await second.goto('/');
    await second.getByRole('heading', { name: 'Log in' }).waitFor();
  });

  it('at the identity provider works for who is known, and shows a viewer what he may do', async () => {
    const page = await rig.person('vera', ['viewer']);
    await page.getByText('No run yet.').waitFor();
    expect(await page.getByRole('main').getByRole('link', { name: 'New request' }).count()).toBe(0);
    await page.goto('/new');
    await page.getByText('Asking for a run needs the role requester.').waitFor();
  });
});

describe('a run', () => {
  it('is asked for as a plan, and its stars change while it is done', async () => {
    const page = await rig.operator();
    await submitPlan(
      page,
      inARow(
        'Check the disks',
        runs('wait', 'Wait for the word', 'head -c 1 watch'),
        runs('say', 'Say it', 'echo said'),
      ),
    );
    await star(page, 'Wait for the word', 'running, on web-1').waitFor();
    await star(page, 'Say it', 'pending').waitFor();
    await rig.open('watch');
    await star(page, 'Wait for the word', 'completed, on web-1').waitFor();
    await star(page, 'Say it', 'completed, on web-1').waitFor();
    await page.getByText('2 of 2 tasks done').waitFor();
  });
});
