import { mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { StoryModel } from '../e2e/agent-model.js';
import { openBrowser } from '../e2e/browser.js';
import { sendRequest } from '../e2e/requests.js';
import { ROOT, TestSystem, until } from '../e2e/system.js';
import { connectFleet, GOAL, STORIES } from './fleet-story.js';

/* Pictures of every page of the console, with a living fleet of six devices and a run of fourteen tasks. Nothing is asserted: people look at them. */

const ALL = join(ROOT, '.cache/screenshots');
const SHOWN = join(ROOT, 'docs/images');
/** What the documents show of them. */
const IN_DOCS = [
  'run-dark-wide',
  'run-light-wide',
  'task-dark-wide',
  'attention-light-wide',
  'fleet-dark-wide',
  'runs-light-wide',
  'run-dark-phone',
  'attention-dark-phone',
];
const SHOWN_BYTES_MAX = 2_000_000;
const SIZES = { wide: { width: 1_440, height: 900 }, phone: { width: 390, height: 844 } } as const;

/** In the browser: two frames on. */
const DRAWN = 'new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))';

let system: TestSystem;
let browser: Browser;
let night: string;
/** A run that has left files. */
let files: string;
const closers: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  const model = await StoryModel.start(STORIES);
  closers.push(() => model.stop());
  const prepare = async (home: string): Promise<NodeJS.ProcessEnv> => {
    await mkdir(join(home, 'devices/web-1/jail/old'), { recursive: true });
    return {};
  };
  system = await TestSystem.startWith({ env: model.env, prepare }, '--devices', '2');
  closers.push(() => system.stop());
  const fleet = await connectFleet(system);
  closers.push(() => Promise.all(fleet.map((device) => device.close())));
  browser = await openBrowser();
  closers.push(() => browser.close());
  night = await work();
});
afterAll(async () => {
  for (const close of closers.toReversed()) await close();
});

const BOARD = {
  free_gb: '412',
  hosts: '["db-1","nas-1"]',
  window: '{"from":"22:00","until":"05:00","zone":"Europe/Berlin"}',
};
const shell = (id: string, command: string, device = 'web-1') => ({
  id,
  name: id,
  target: { device },
  command: { tool: 'EXEC_CLI', arguments: { command } },
});
const small = (requestId: string, name: string, tasks: readonly unknown[], labels: object) =>
  sendRequest(system, { requestId, constellation: { name, tasks }, labels });

/** What the fleet did, does, and asks people about. */
async function work(): Promise<string> {
  const ended = [
    await small('one', 'Rotate certificates', [shell('rotate', 'echo rotated'), shell('check', 'echo good', 'db-1')], {
      team: 'platform',
    }),
    await small('two', 'Collect kernel versions', [shell('web', 'uname -sr'), shell('db', 'uname -sr', 'db-1')], {
      team: 'fleet',
      ticket: 'OPS-218',
    }),
    await small('three', 'Restart the mail relay', [shell('restart', 'false')], { team: 'mail' }),
    await small('four', 'Read queue lengths', [shell('read', 'echo 0'), shell('alarm', 'false', 'db-1')], {
      team: 'mail',
    }),
  ];
  for (const run of ended) await system.untilEnd(run);
  const description = 'Remove what is older than a year from the directory old (story-tidy).';
  const tidy = { id: 'tidy', name: 'Tidy up', description, target: { device: 'web-1' } };
  const asked = await small('tidy', 'Tidy up the logs of last year', [tidy], { team: 'platform' });
  const run = await sendRequest(system, { requestId: 'night', goal: GOAL, labels: { team: 'fleet' } });
  const list = {
    tool: 'EXEC_CLI',
    arguments: { command: 'mkdir -p logs; seq 4000 > numbers.txt; seq 90 > logs/a.log' },
  };
  const lists = { id: 'lists', name: 'Write the lists', target: { device: 'web-1' }, command: list };
  const out = ['*.txt', 'logs/*.log'];
  files = await small('lists', 'Collect the lists', [{ ...lists, files: { out } }], { team: 'fleet' });
  await system.untilEnd(files);
  await until('somebody to be asked', async () => (await system.show(asked)).approvals.length > 0 || undefined);
  await until('the night', async () => {
    const { tasks, approvals } = await system.show(run);
    const isAt = (task: string): boolean => tasks.some(({ id, status }) => id === task && status === 'RUNNING');
    return (approvals.length > 0 && isAt('make-room') && isAt('check-weights')) || undefined;
  });
  for (const [name, value] of Object.entries(BOARD)) await system.cli('board', 'set', run, name, value);
  return run;
}

/** The address of each page, and what is there when it is whole. */
const pages = (): Readonly<Record<string, readonly [string, string, string?]>> => ({
  runs: ['/', '.runs-table'],
  run: [`/runs/${night}`, '.react-flow__node'],
  past: [`/runs/${night}?at=12`, '.react-flow__node'],
  timeline: [`/runs/${night}`, '.react-flow__node', 'Timeline'],
  events: [`/runs/${night}`, '.react-flow__node', 'Events'],
  figures: [`/runs/${night}`, '.react-flow__node', 'Figures'],
  board: [`/runs/${night}`, '.react-flow__node', 'Board'],
  files: [`/runs/${files}`, '.react-flow__node', 'Board'],
  task: [`/runs/${night}?task=check-weights`, '.xterm-rows > div:nth-child(3):has-text("part")'],
  attention: ['/attention', '.approval'],
  fleet: ['/fleet', '.device-card'],
  device: ['/fleet?open=web-1', '.drawer'],
  runbooks: ['/runbooks', '.card'],
  runbook: ['/runbooks/disk-space-alert', '.react-flow__node'],
  search: ['/search?words=fine', '.found'],
  people: ['/people', 'table'],
  person: ['/people?open=cli', '.drawer'],
  request: ['/new', 'textarea'],
  examples: ['/examples', '.page-head ~ .empty:not(:text("Coming")), .card'],
  you: ['/settings', '#main:has(table):not(:has(.empty:text("Coming")))'],
});

async function loggedIn(): Promise<NonNullable<BrowserContextOptions['storageState']>> {
  const { url } = await system.json<{ url: string }>('console', '--no-open');
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(url);
  await page.getByRole('heading', { name: 'Runs' }).waitFor();
  const state = await context.storageState();
  await context.close();
  return state;
}

async function take(page: Page, name: string, look: string): Promise<void> {
  const [path, whole, tab] = pages()[name] ?? ['', ''];
  const { console: url } = await system.endpoints();
  await page.goto(`${url}${path}`);
  await page.locator(whole).first().waitFor();
  if (tab !== undefined) await page.getByRole('tab', { name: tab }).click();
  // The sky is moved to its place in the frame after the one in which it has one.
  await page.evaluate(DRAWN);
  await page.evaluate('document.activeElement?.blur()');
  await page.screenshot({ path: join(ALL, `${name}-${look}.png`) });
  if (IN_DOCS.includes(`${name}-${look}`)) {
    await page.screenshot({ path: join(SHOWN, `console-${name}-${look}.jpg`), type: 'jpeg', quality: 82 });
  }
}

it('takes pictures of every page, dark and light, wide and on a phone', async () => {
  await mkdir(ALL, { recursive: true });
  const storageState = await loggedIn();
  for (const colorScheme of ['dark', 'light'] as const) {
    for (const size of ['wide', 'phone'] as const) {
      const context = await browser.newContext({
        storageState,
        colorScheme,
        viewport: SIZES[size],
        reducedMotion: 'reduce',
      });
      const page = await context.newPage();
      for (const name of Object.keys(pages())) await take(page, name, `${colorScheme}-${size}`);
      await context.close();
    }
  }
  const shown = await Promise.all(IN_DOCS.map((name) => stat(join(SHOWN, `console-${name}.jpg`))));
  expect(shown.reduce((sum, { size }) => sum + size, 0)).toBeLessThan(SHOWN_BYTES_MAX);
});
