import { expect, it } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { query } from '#libs/messaging';
import { PATIENT } from '../system.js';
import { exactly, inWords, withTool } from './plans.js';
import type { ConsoleRig } from './rig.js';
import { HOSTILE_REPLY, HOSTILE_WORDS } from './stories.js';
import { press, submitPlan, walk } from './seat.js';

const script = (where: string): string => `<img src=x onerror="alert('${where}')">`;
const NAMES = {
  run: script('run'),
  task: script('task'),
  tag: script('tag'),
  file: "<img src=x onerror=alert('file')>",
};

export function testsOfHostileTexts(rig: () => ConsoleRig): void {
  it('of devices, models and people are text wherever they stand', async () => {
    const page = await rig().operator();
    const bus = await rig().system.bus();
    const admin = { tags: [NAMES.tag], capabilities: [], tasksMax: 1 };
    await query(bus, 'registry', 'enroll', { deviceId: 'hostile-1', admin }, PATIENT);
    await query(bus, 'registry', 'hold', { deviceId: 'hostile-1', reason: script('hold') }, PATIENT);
    await rig().leave(NAMES.file);
    const run = await submitPlan(page, {
      name: NAMES.run,
      tasks: [
        exactly(
          'print',
          NAMES.task,
          `printf '%s\\033]0;owned\\007\\033]52;c;b3duZWQ=\\007\\n' "${script('output').replaceAll('"', "'")}"`,
        ),
        withTool({ id: 'file', name: 'Get the file' }, 'FILE_GET', { path: NAMES.file }),
        inWords('agent', 'Ask the agent', `Look at it (story-hostile). ${HOSTILE_WORDS}`),
      ],
    });
    await sees(page.getByRole('heading', { name: NAMES.run }));
    await sees(page.getByRole('group', { name: `${NAMES.task}, completed` }).getByText(NAMES.task));
    await page.getByRole('tab', { name: 'Events' }).click();
    await sees(page.getByRole('tabpanel').getByText('TASK_COMPLETED'));
    await walk(page, `/runs/${run}?task=print`);
    await sees(
      page.getByRole('dialog', { name: NAMES.task }).getByRole('listitem').getByText("onerror='alert('output')'"),
    );
    expect(await page.title()).not.toContain('owned');
    await walk(page, `/runs/${run}?task=file`);
    await sees(page.getByRole('dialog').getByText(NAMES.file));

    await walk(page, '/attention');
    const card = page.getByRole('article', { name: 'Approval for agent' });
    await sees(card.getByText(HOSTILE_REPLY));
    await press(card, 'Reject', script('note'));
    await walk(page, `/runs/${run}?task=agent`);
    await sees(page.getByRole('dialog').getByText(HOSTILE_REPLY));
    await sees(page.getByRole('dialog').getByText(HOSTILE_WORDS));
    await walk(page, '/attention');
    await sees(page.getByText(NAMES.run));
    await walk(page, '/');
    await sees(page.getByRole('link', { name: NAMES.run }));
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill('img src');
    await sees(page.getByRole('option').getByText(NAMES.run));
    await walk(page, '/fleet');
    await sees(page.getByText(NAMES.tag));
    await sees(page.getByText(script('hold')));
    expect(await page.locator('img').count()).toBe(0);
    await reportIsText(page, run);
  });
}

const sees = (what: Locator): Promise<void> => what.first().waitFor();

/** A browser that is led to a report shows text, or keeps it as a file: never a page. */
async function reportIsText(page: Page, run: string): Promise<void> {
  const { headers, status } = await page.evaluate(async (id) => {
    const response = await fetch(`/v1/runs/${id}/report.md`);
    return { status: response.status, headers: Object.fromEntries(response.headers) };
  }, run);
  expect({ status, ...headers }).toMatchObject({
    status: 200,
    'content-type': 'text/markdown; charset=utf-8',
    'x-content-type-options': 'nosniff',
  });
}
