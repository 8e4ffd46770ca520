import { randomUUID } from 'node:crypto';
import { expect, it } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { newToken, tokenHash } from '#libs/keys';
import { query } from '#libs/messaging';
import { Role } from '#proto';
import { PATIENT, until } from '../system.js';
import { exactly, inWords } from './plans.js';
import type { ConsoleRig } from './rig.js';
import { press, submitPlan, walk } from './seat.js';

/** A button, and what the server is asked for when it is pressed. */
type Button = readonly [name: string, route: string, body?: object];
/** A page: how it is come to, what is there when it is whole, and the buttons that somebody has there. */
type Look = readonly [path: string, whole: (page: Page) => Locator, buttons: readonly Button[]];

const WORD = { approvalId: 'run1.nobody.1.1.0' };
/** Everything that people do by a button of a page of its own; in a menu or a dialog there is more of the same. */
const looksAt = (run: string, going: string): readonly Look[] => [
  ['/', (page) => page.getByRole('row', { name: /To be looked at/u }), []],
  [
    '/new',
    (page) =>
      page
        .getByRole('main')
        .getByText(/New request|You may look/u)
        .first(),
    [['Send', 'requests']],
  ],
  [
    `/runs/${going}`,
    (page) => page.getByRole('link', { name: 'Waits for 1 decision of a person' }),
    [
      ['Cancel run', 'runs/nothing/cancel'],
      ['Say', 'runs/nothing/say'],
    ],
  ],
  [`/runs/${run}?at=2`, (page) => page.getByText('as it was then'), [['Fork from here', 'runs/nothing/fork']]],
  [
    `/runs/${run}?task=fail`,
    (page) => page.getByRole('dialog', { name: 'Fail' }).getByText('attempt 1').first(),
    [['Retry', 'runs/nothing/tasks/nothing/retry']],
  ],
  [
    '/attention',
    (page) => page.locator('main:has(article):has(li.kind-failed)'),
    [
      ['Approve', 'approvals', { ...WORD, decision: 'approve' }],
      ['Reject', 'approvals', { ...WORD, decision: 'reject' }],
      ['Take on', 'attention/nothing/take'],
      ['Settle', 'attention/nothing/settle'],
    ],
  ],
  [
    '/fleet',
    (page) => page.getByRole('link', { name: 'web-1' }),
    [
      ['Enrol a device', 'devices'],
      ['Hold all', 'devices/nothing/hold'],
    ],
  ],
  [
    '/fleet?open=web-1',
    (page) => page.getByRole('dialog', { name: 'web-1' }).getByText('Profile'),
    [
      ['Hold', 'devices/nothing/hold'],
      ['Revoke', 'devices/nothing/revoke'],
      ['Set', 'devices/nothing/profile'],
    ],
  ],
  [
    '/runbooks/fleet-health',
    (page) => page.getByText('As it would be planned now').first(),
    [
      ['Start', 'requests'],
      ['Approve beforehand', 'content-approvals'],
    ],
  ],
  ['/examples', (page) => page.getByRole('heading', { name: 'Examples' }), [['Teach by hand', 'experiences']]],
  [
    '/people',
    (page) =>
      page
        .getByRole('main')
        .getByText(/^Your tokens|Search name, role, login/u)
        .first(),
    [['Add somebody', 'people']],
  ],
  [
    '/settings',
    (page) => page.getByRole('heading', { name: 'What you may do' }),
    [['Make a token', 'people/nothing/tokens']],
  ],
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
  it('offers each role on every page what the server lets it do, and no more', async () => {
    const page = await rig().operator();
    const run = await submitPlan(page, { name: 'To be looked at', tasks: [exactly('fail', 'Fail', 'false')] });
    await rig().system.untilEnd(run);
    const asks = inWords('word', 'Wait for a word', 'Wait for a word (story-decided).');
    const going = await submitPlan(page, { name: 'To be decided', tasks: [asks] });
    await page.getByRole('link', { name: 'Waits for 1 decision of a person' }).waitFor();

    const ask = await answersByRole(rig());
    const wrong: string[] = [];
    for (const role of Role.options) {
      await as(page, { roles: [role] });
      for (const [path, whole, buttons] of looksAt(run, going)) {
        await walk(page, path);
        await whole(page).waitFor();
        for (const [name, route, body] of buttons) {
          const may = (await ask(role, route, body)) !== 403;
          const shown = await isShown(page.getByRole('button', { name, exact: true }).first(), may);
          if (shown !== may)
            wrong.push(`${role} ${path}: ${name} is ${shown ? 'shown' : 'hidden'}, ${route} ${may ? '' : 'not '}let`);
        }
      }
    }
    expect(wrong).toEqual([]);

    // Where somebody else may approve, nobody approves what he has asked for.
    await as(page, { isOnlyApprover: undefined });
    await walk(page, '/attention');
    const card = page.getByRole('article', { name: 'Approval for word' });
    await card.getByText('cli requested this run: another person has to approve what it does.').waitFor();
    expect(await card.getByRole('button', { name: 'Approve', exact: true }).isDisabled()).toBe(true);
    expect(await card.getByRole('button', { name: 'Edit' }).count()).toBe(0);
    await page.unroute('**/v1/me');
    await page.goto(`/runs/${going}`);
    await press(page, 'Cancel run', 'it was looked at');
    await rig().system.untilEnd(going);
  });

  it('refuses a viewer whatever changes something, with a sentence', async () => {
    const viewer = await rig().viewer();
    const { let: letIn, unsaid } = await answersTo(viewer);
    expect(unsaid).toEqual([]);
    expect(letIn).toEqual(FOR_VIEWERS);
  });
}

/** Whether it is there; what should be is waited for, because parts of a page come one after the other. */
async function isShown(button: Locator, should: boolean): Promise<boolean> {
  if (!should) return button.isVisible();
  return button.waitFor().then(
    () => true,
    () => false,
  );
}

/** From now on the application takes who looks for somebody else; the server does not. */
async function as(page: Page, change: object): Promise<void> {
  await page.unroute('**/v1/me');
  await page.route('**/v1/me', async (route) => {
    // A connection that was kept may be closed by the server in the moment in which it is used again.
    const response = await route.fetch({ maxRetries: 3 });
    await route.fulfill({ response, json: { ...((await response.json()) as object), ...change } });
  });
  await page.goto('/');
}

/** What the server says to the first person with a token for one role, asked with what it refuses in any case: by the role, or by what is said. */
async function answersByRole(rig: ConsoleRig) {
  const bus = await rig.system.bus();
  const tokens = new Map<Role, string>();
  for (const role of Role.options) {
    const secret = newToken();
    const token = { tokenId: `only-${role}`, tokenHash: tokenHash(secret), scopes: [role], label: '', expiresAt: null };
    await query(bus, 'registry', 'token-issue', { id: randomUUID(), actorId: 'cli', ...token }, PATIENT);
    tokens.set(role, secret);
  }
  const send = (role: Role, path: string, init: RequestInit = {}) =>
    fetch(`${rig.base}/v1/${path}`, {
      ...init,
      headers: {
        Authorization: `Bearer ${tokens.get(role) ?? ''}`,
        'Content-Type': 'application/json',
        'Idempotency-Key': randomUUID(),
      },
    });
  for (const role of Role.options) {
    await until(`the token for ${role} to be known`, async () => ((await send(role, 'me')).ok ? true : undefined));
  }
  const known = new Map<string, number>();
  return async (role: Role, route: string, body: object = { nothing: 'like that' }): Promise<number> => {
    const said = JSON.stringify([role, route, body]);
    const status = known.get(said) ?? (await send(role, route, { method: 'POST', body: JSON.stringify(body) })).status;
    known.set(said, status);
    return status;
  };
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
