import { isDeepStrictEqual } from 'node:util';
import { expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { exactly, inARow, inWords } from './plans.js';
import { until } from '../system.js';
import type { ConsoleRig } from './rig.js';
import { confirm, picture, press, star, submitGoal, submitPlan, walk } from './seat.js';

/** In the page, before anything of it: it lies behind another one, its notices were allowed, and what they say is kept. */
const LOOKS_ELSEWHERE = `
  globalThis.notices = [];
  Object.defineProperty(document, 'hidden', { get: () => true });
  globalThis.Notification = class extends EventTarget {
    static permission = 'granted';
    constructor(title, { body }) {
      super();
      notices.push(title + ': ' + body);
    }
  };`;

export function testsOfActing(rig: () => ConsoleRig): void {
  it('is asked for in words and told more while it goes on: two browsers see the same stars come and change', async () => {
    const [page, other] = [await rig().operator(), await rig().operatorElsewhere()];
    await submitGoal(page, 'Look after the shop (plan-words).');
    await other.goto(page.url());
    for (const one of [page, other]) await star(one, 'Count the stock', 'running, on web-1').waitFor();
    await page.getByRole('textbox', { name: 'Say' }).fill('Sweep, too.');
    await page.getByRole('button', { name: 'Say', exact: true }).click();
    for (const one of [page, other]) {
      await one.getByRole('list', { name: 'Conversation' }).getByText('Sweep, too.').waitFor();
      await star(one, 'Sweep the floor', 'pending').getByText('new').waitFor();
      await one.getByText(/^Revision 2 of the plan, by planner/u).waitFor();
    }
    await rig().open('words');
    for (const one of [page, other]) {
      await star(one, 'Sweep the floor', 'completed, on web-1').waitFor();
      await one.getByText('The shop is looked after.').first().waitFor();
    }
    // What comes last may be in one of them before it is in the other.
    await until(
      'the same in both',
      async () => isDeepStrictEqual(await picture(other), await picture(page)) || undefined,
    );
  });

  it('waits for what its agent asks: a viewer sees it and may not decide, an approver approves and answers', async () => {
    const page = await rig().operator();
    const viewer = await rig().viewer();
    const away = await rig().operatorElsewhere();
    await away.addInitScript(LOOKS_ELSEWHERE);
    await away.goto('/attention');
    await away.getByRole('heading', { name: 'Needs attention' }).waitFor();
    await away.getByText('Coming …').waitFor({ state: 'detached' });
    expect(await away.evaluate('notices')).toEqual([]);
    const run = await submitPlan(
      page,
      inARow('Tidy up', inWords('tidy', 'Tidy the logs', 'Tidy the logs (story-tidy).')),
    );
    await page.getByRole('link', { name: 'Waits for 1 decision of a person' }).waitFor();
    const notices = await until('a notice', async () => {
      const all = await away.evaluate<string[]>('notices');
      return all.length > 0 ? all : undefined;
    });
    expect(notices[0]).toMatch(/^Orrery: \d+ open: somebody is needed\.$/u);
    await away.close();
    await walk(viewer, `/runs/${run}`);
    await star(viewer, 'Tidy the logs', 'running').waitFor();
    for (const name of ['Pause', 'Cancel run', 'Fork from here', 'Say'])
      expect([name, await viewer.getByRole('button', { name, exact: true }).count()]).toEqual([name, 0]);
    await viewer.getByRole('link', { name: 'Waits for 1 decision of a person' }).click();
    const shown = viewer.getByRole('article', { name: 'Approval for tidy' });
    await shown.getByText('rm -r old').waitFor();
    await shown.getByText('Deciding needs the role approver or operator.').waitFor();
    expect(await shown.getByRole('button').count()).toBe(0);
    expect(await refusals(viewer, run)).toEqual({ cancel: 403, say: 403, approvals: 403 });

    await page.getByRole('link', { name: 'Waits for 1 decision of a person' }).click();
    const card = page.getByRole('article', { name: 'Approval for tidy' });
    await press(card, 'Approve for 10 minutes', 'last year is over');
    await card.getByText('Is anything else to go?').waitFor();
    await walk(page, `/runs/${run}?task=tidy`);
    const drawer = page.getByRole('dialog', { name: 'Tidy the logs' });
    const granted = drawer.getByRole('region', { name: 'Approved for a time' });
    await granted.getByText('rm -r old').waitFor();
    await granted.getByRole('button', { name: /^Take back: .*rm -r old/u }).click();
    await confirm(page, 'Take back', 'once was enough');
    await granted.waitFor({ state: 'detached' });
    await walk(page, '/attention');
    await press(card, 'Answer', 'No, nothing else.');
    await walk(page, `/runs/${run}?task=tidy`);
    await drawer.getByText('The old logs are gone.').first().waitFor();
    await drawer.getByText('rm -r old').first().waitFor();
    const { approvals } = await rig().system.show(run);
    expect(approvals.map(({ state, by }) => [state, by?.id])).toEqual([
      ['revoked', 'cli'],
      ['answered', 'cli'],
    ]);
  });

  it('is among those that wait while it is paused, and is cancelled with a reason', async () => {
    const page = await rig().operator();
    const run = await submitPlan(
      page,
      inARow('Sleep', exactly('sleep', 'Sleep long', 'sleep 600'), exactly('after', 'Wake up', 'true')),
    );
    await star(page, 'Sleep long', 'running').waitFor();
    await press(page, 'Pause', 'it is noon');
    await walk(page, '/attention');
    const waiting = page.getByRole('region', { name: 'Runs that wait, and what wakes them' });
    const entry = waiting.getByRole('listitem').filter({ hasText: run });
    await entry.getByText(/and then for somebody who lets it go on: it is noon$/u).waitFor();
    await entry.getByText('the word of a person').waitFor();
    await walk(page, `/runs/${run}`);
    await press(page, 'Cancel run', 'nobody is tired');
    await star(page, 'Sleep long', 'cancelled').waitFor();
    await star(page, 'Wake up', 'cancelled').waitFor();
    await page.getByText('nobody is tired').first().waitFor();
  });

  it('goes on after a task is tried again, and from an earlier moment as another run', async () => {
    const page = await rig().operator();
    const plan = inARow(
      'Bake',
      exactly('dough', 'Make the dough', 'echo dough', 'db-1'),
      exactly('oven', 'Heat the oven', 'test -e gas'),
      exactly('bread', 'Bake the bread', 'echo bread'),
    );
    const run = await submitPlan(page, plan);
    await star(page, 'Heat the oven', 'failed, on web-1').waitFor();
    await star(page, 'Bake the bread', 'skipped').waitFor();
    await rig().leave('gas');
    await star(page, 'Heat the oven').click();
    const drawer = page.getByRole('dialog', { name: 'Heat the oven' });
    await drawer.getByRole('button', { name: 'Retry' }).click();
    await confirm(page, 'Retry');
    await drawer.getByText('attempt 2').first().waitFor();
    await page.keyboard.press('Escape');
    await star(page, 'Heat the oven', 'completed, on web-1, attempt 2').waitFor();
    await star(page, 'Bake the bread', 'completed').waitFor();

    await travels(rig(), page);
    await press(page, 'Fork from here');
    await page.waitForURL((url) => !url.pathname.endsWith(run));
    await page.getByText(`forked from ${run} at #`).waitFor();
    // What had been done then counts, and runs no second time; of what had just begun then nobody knows what came.
    await star(page, 'Make the dough', 'completed, on db-1').waitFor();
    await star(page, 'Heat the oven', 'failed, on web-1').click();
    await page.getByRole('dialog', { name: 'Heat the oven' }).getByText('OUTCOME_UNKNOWN').first().waitFor();
  });
}

/** To an earlier moment by keyboard, and to the same one by its link. */
async function travels(rig: ConsoleRig, page: Page): Promise<void> {
  const slider = page.getByRole('slider', { name: 'Moment' });
  await slider.focus();
  await page.keyboard.press('Home');
  await page.getByText('as it was then').waitFor();
  await star(page, 'Bake the bread', 'pending').waitFor();
  expect(await page.getByRole('button', { name: 'Cancel run' }).count()).toBe(0);
  const seen = new Set<string | null>();
  // Until the dough is made: each step is another moment.
  while ((await star(page, 'Make the dough', 'completed').count()) === 0) {
    const moment = await slider.getAttribute('aria-valuetext');
    expect(seen).not.toContain(moment);
    seen.add(moment);
    await page.keyboard.press('ArrowRight');
    await until('another moment', async () => (await slider.getAttribute('aria-valuetext')) !== moment || undefined);
  }
  const then = await picture(page);
  expect(then.stars).toContain('Bake the bread, pending');
  const other = await rig.operatorElsewhere();
  await other.goto(page.url());
  await other.getByText('as it was then').waitFor();
  await star(other, 'Make the dough', 'completed').waitFor();
  expect(await picture(other)).toEqual(then);
  await other.getByRole('button', { name: 'To now' }).click();
  await star(other, 'Bake the bread', 'completed').waitFor();
  expect(new URL(other.url()).search).toBe('');
}

/** What the server says to somebody who leaves out what the page leaves out: with his own session, from a page of the console. */
function refusals(page: Page, run: string): Promise<Record<string, number>> {
  return page.evaluate(async (runId) => {
    const { csrf } = (await (await fetch('/v1/me')).json()) as { csrf: string };
    const post = async (path: string, body: object): Promise<number> => {
      const headers = {
        'content-type': 'application/json',
        'x-orrery-csrf': csrf,
        'idempotency-key': crypto.randomUUID(),
      };
      return (await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) })).status;
    };
    const { approvals } = (await (await fetch('/v1/approvals?state=open')).json()) as {
      approvals: { approvalId: string }[];
    };
    return {
      cancel: await post(`/v1/runs/${runId}/cancel`, {}),
      say: await post(`/v1/runs/${runId}/say`, { text: 'no' }),
      approvals: await post('/v1/approvals', { approvalId: approvals[0]?.approvalId, decision: 'approve' }),
    };
  }, run);
}
