import { expect, it } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { exactly } from './plans.js';
import type { ConsoleRig } from './rig.js';
import { star, submitPlan } from './seat.js';

/** What a viewer sees on a page when it is whole, and buttons that others have there. */
type Look = readonly [path: string, whole: (page: Page) => Locator, buttons: readonly string[]];

const looksAt = (run: string): readonly Look[] => [
  ['/', (page) => page.getByRole('row', { name: /To be looked at/u }), []],
  ['/new', (page) => page.getByText('You may look. Asking for a run needs the role requester.'), ['Send']],
  [`/runs/${run}`, (page) => star(page, 'Fail', 'failed'), ['Pause', 'Go on', 'Cancel run', 'Say', 'Fork from here']],
  [`/runs/${run}?at=2`, (page) => page.getByText('as it was then'), ['Fork from here']],
  [
    `/runs/${run}?task=fail`,
    (page) => page.getByRole('dialog', { name: 'Fail' }).getByText('attempt 1').first(),
    ['Retry'],
  ],
  ['/attention', (page) => page.getByText(/To be looked at/u).first(), ['Take on', 'Settle']],
  ['/fleet', (page) => page.getByRole('link', { name: 'web-1' }), ['Enrol a device', 'Hold all', 'Release all']],
  ['/fleet?open=web-1', (page) => page.getByRole('dialog', { name: 'web-1' }).getByText('Profile'), ['Hold', 'Revoke']],
  ['/runbooks/fleet-health', (page) => page.getByRole('heading', { name: 'Health of the fleet' }), ['Start']],
  ['/people', (page) => page.getByText('Your tokens').first(), ['Add somebody', 'Change roles']],
  ['/settings', (page) => page.getByRole('heading', { name: 'What you may do' }), ['Make a token']],
];

/** What is asked or said by POST and is not refused for a role alone: questions, what is one's own, and approvals, where the word itself decides. */
const FOR_VIEWERS = [
  'post /v1/approvals',
  'post /v1/content-approvals/{id}/revoke',
  'post /v1/tokens/{tokenId}/revoke',
  'post /v1/grants/revoke',
  'post /v1/runbooks/{name}/plan',
  'post /v1/match',
  'post /v1/policy/explain',
];

export function testsOfViewing(rig: () => ConsoleRig): void {
  it('offers a viewer on no page what he may not do, and refuses it with a sentence', async () => {
    const page = await rig().operator();
    const run = await submitPlan(page, { name: 'To be looked at', tasks: [exactly('fail', 'Fail', 'false')] });
    await rig().system.untilEnd(run);
    const viewer = await rig().person('vito', ['viewer']);
    const offered: string[] = [];
    for (const [path, whole, buttons] of looksAt(run)) {
      await viewer.goto(path);
      await whole(viewer).waitFor();
      for (const name of buttons) {
        if ((await viewer.getByRole('button', { name, exact: true }).count()) > 0) offered.push(`${path}: ${name}`);
      }
    }
    expect(offered).toEqual([]);
    const { let: letIn, unsaid } = await answersTo(viewer);
    expect(unsaid).toEqual([]);
    expect(letIn).toEqual(FOR_VIEWERS);
  });
}

/** In the page, with its own session: every route that changes something is called. `let`: what was not refused; `unsaid`: what was, and not for a role. */
function answersTo(page: Page): Promise<{ let: string[]; unsaid: string[] }> {
  return page.evaluate(async () => {
    const { csrf } = (await (await fetch('/v1/me')).json()) as { csrf: string };
    const { paths } = (await (await fetch('/openapi.json')).json()) as { paths: Record<string, object> };
    const found = { let: [] as string[], unsaid: [] as string[] };
    for (const [path, methods] of Object.entries(paths)) {
      for (const method of Object.keys(methods).filter((one) => one !== 'get')) {
        const headers = {
          'content-type': 'application/json',
          'x-orrery-csrf': csrf,
          'idempotency-key': crypto.randomUUID(),
        };
        const address = path.replaceAll(/\{\w+\}/gu, 'nothing');
        const response = await fetch(address, { method: method.toUpperCase(), headers, body: '{}' });
        const said = await response.text();
        if (response.status !== 403) found.let.push(`${method} ${path}`);
        else if (!/role/u.test(said)) found.unsaid.push(`${method} ${path}: ${said}`);
      }
    }
    return found;
  });
}
