import { randomUUID } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { readStored } from '#libs/event-log';
import { query } from '#libs/messaging';
import { parseJson, STREAMS, subjects, type RunId } from '#proto';
import { sendRequest } from '../requests.js';
import { until } from '../system.js';
import { exactly } from './plans.js';
import type { ConsoleRig } from './rig.js';
import { confirm, press, walk } from './seat.js';
import { TAUGHT_TIP } from './stories.js';

/** Who is logged in by the link of the command line. */
const CLI = { kind: 'person', id: 'cli' } as const;
const DEVICE = 'db-1';
const SHOP = 'shop';
const MENDED = 'the disk was full';

/* What people do on the pages beside runs: that it is done, stands in the log with who did it, and is not offered to who may only look. */
export function testsOfRecording(rig: () => ConsoleRig): void {
  let kept: RunId;

  it('has nothing to press for a viewer on the pages where there is something to be done', async () => {
    const bus = await rig().system.bus();
    await query(bus, 'registry', 'people-add', {
      id: randomUUID(),
      actorId: SHOP,
      kind: 'external',
      roles: ['requester'],
    });
    await jetstream(bus).publish(subjects.run('of-nobody'), 'no commit');
    kept = await keptDirectory(rig());
    const [viewer, page] = [await rig().viewer(), await rig().operator()];
    for (const [path, is, buttons] of LOOKS) {
      for (const one of [viewer, page]) {
        if (path === LOOKS[0]?.[0]) await one.goto(path);
        else await walk(one, path);
        await one.getByText(is).first().waitFor();
      }
      for (const name of buttons) {
        await page.getByRole('button', { name }).first().waitFor();
        expect([name, await viewer.getByRole('button', { name }).count()]).toEqual([name, 0]);
      }
    }
  });

  it('gives limits to another system', async () => {
    const page = await rig().operator();
    await walk(page, `/people?open=${SHOP}`);
    await page.getByRole('button', { name: 'Give limits' }).click();
    await page.getByLabel('Requests in any minute').fill('30');
    await page.getByLabel('Runs that it follows').selectOption('all');
    await page.getByRole('dialog').getByRole('button', { name: 'Change', exact: true }).click();
    await page.getByRole('dialog').getByText('30 requests a minute; follows the runs of everybody').waitFor();
    expect(await facts(rig(), 'ACTORS', 'LIMITS_GIVEN')).toMatchObject([
      { given: { requestsPerMinute: 30, feed: 'all' }, by: CLI },
    ]);
  });

  it('approves a plan beforehand, and takes that back', async () => {
    const page = await rig().operator();
    await walk(page, '/runbooks/fleet-health');
    await press(page, 'Approve beforehand', '7');
    const given = page.getByRole('region', { name: 'Approved beforehand' });
    await given.getByText('counts', { exact: true }).waitFor();
    const [approved] = await facts(rig(), 'ACTORS', 'CONTENT_APPROVED');
    expect(approved).toMatchObject({ about: { name: 'fleet-health' }, by: CLI });
    await given.getByRole('button', { name: /^Take back/u }).click();
    await confirm(page, 'Take back', 'the fleet is another one');
    await given.getByText('taken back', { exact: true }).waitFor();
    expect(await facts(rig(), 'ACTORS', 'CONTENT_REVOKED')).toMatchObject([
      { approvalId: approved?.['approvalId'], reason: 'the fleet is another one', by: CLI },
    ]);
  });

  it('takes on and settles a message that no service could handle', async () => {
    const page = await rig().operator();
    await walk(page, '/attention');
    const letter = page.locator('li.kind-dead-letter');
    await letter.getByRole('button', { name: 'Take on' }).click();
    await confirm(page, 'Take on');
    await letter.getByText('taken on by cli').waitFor();
    await letter.getByRole('button', { name: 'Settle' }).click();
    await confirm(page, 'Settle', 'nobody sent it');
    await letter.waitFor({ state: 'detached' });
    const about = { kind: 'dead-letter' };
    expect(await facts(rig(), 'ATTENTION', 'ATTENTION_TAKEN')).toMatchObject([{ about, by: CLI }]);
    expect(await facts(rig(), 'ATTENTION', 'ATTENTION_SETTLED')).toMatchObject([
      { about, reason: 'nobody sent it', by: CLI },
    ]);
  });

  it('hands a message in again after it could not be handled, and says who did; one that is still bad stays', async () => {
    const page = await rig().operator();
    await writeLetter(rig(), kept);
    await page.goto('/attention');
    const letter = page.locator('li.kind-dead-letter').filter({ hasText: MENDED });
    const hand = async (service: string): Promise<void> => {
      await letter.getByRole('button', { name: /^Hand in again/u }).click();
      await page.getByRole('dialog').getByLabel('Service that could not handle it').selectOption(service);
      await page.getByRole('dialog').getByRole('button', { name: 'Hand in again', exact: true }).click();
    };
    await hand('orchestrator');
    await page.getByRole('dialog').getByText('It takes no inputs from RUNS.').waitFor();
    await page.keyboard.press('Escape');
    await letter.getByText('taken on by cli').waitFor();
    await hand('device-agent');
    await letter.waitFor({ state: 'detached' });
    const settled = await facts(rig(), 'ATTENTION', 'ATTENTION_SETTLED');
    expect(settled.at(-1)).toMatchObject({
      about: { kind: 'dead-letter' },
      reason: 'handed in again to the device-agent, which has handled it',
      by: CLI,
    });
  });

  it('removes the directory of a run from its device', async () => {
    const page = await rig().operator();
    await walk(page, `/fleet?open=${DEVICE}`);
    const drawer = page.getByRole('dialog', { name: DEVICE });
    await drawer.getByRole('button', { name: `Remove the directory of ${kept}` }).click();
    await confirm(page, 'Remove');
    await drawer.getByRole('link', { name: kept }).waitFor({ state: 'detached' });
    expect(await directoriesOf(rig())).not.toContainEqual(expect.objectContaining({ runId: kept }));
    await walk(page, `/runs/${kept}`);
    await page.getByRole('tab', { name: 'Events' }).click();
    await page.getByText(`${DEVICE}, by ${CLI.id}`).first().waitFor();
    const { stdout } = await rig().system.cli('verify', kept);
    expect(stdout).toContain('who did it: 1 signed, 1 vouched for, 0 unsigned');
  });

  it('teaches the planner by hand, and makes it forget; not where it learns nothing', async () => {
    const page = await rig().operator();
    await walk(page, '/examples');
    const steps = [{ device: 'web-1', description: 'Look how full they are', command: 'df -h', result: '91%' }];
    const taught = { name: 'disks-by-hand', request: 'Which disks are nearly full (plan-taught)', steps };
    await page.getByRole('button', { name: 'Teach by hand' }).click();
    await confirm(page, 'Teach it', JSON.stringify(taught));
    const example = page.getByRole('listitem').filter({ hasText: TAUGHT_TIP }).first();
    await example.getByText('learnt by cli').waitFor();
    await example.getByRole('button', { name: /^Forget the example/u }).click();
    await confirm(page, 'Forget');
    await example.waitFor({ state: 'detached' });

    await page.route('**/v1/experiences*', (route) => route.fulfill({ json: { enabled: false, experiences: [] } }));
    await page.goto('/examples');
    await page.getByText('The planner of this system learns nothing').waitFor();
    expect(await page.getByRole('button', { name: 'Teach by hand' }).count()).toBe(0);
  });
}

/** A page, what stands there for everybody when it is whole, and what is done there by some. */
const LOOKS: readonly (readonly [path: string, is: RegExp, buttons: readonly (string | RegExp)[]])[] = [
  [`/people?open=${SHOP}`, /^(?:Namespace|Your tokens)$/u, ['Give limits', 'Change roles']],
  ['/runbooks/fleet-health', /^As it would be planned now/u, ['Approve beforehand']],
  ['/attention', /^dead letter$/u, ['Take on', 'Settle', 'Hand in again']],
  [`/fleet?open=${DEVICE}`, /^kept$/u, [/^Remove the directory of/u]],
  ['/examples', /^Nothing has been learnt yet/u, ['Teach by hand']],
];

/** A run whose directory stays on its device. */
async function keptDirectory(rig: ConsoleRig): Promise<RunId> {
  const task = exactly('leave', 'Leave a file', 'echo left > left.txt', DEVICE);
  const runId = await sendRequest(rig.system, {
    requestId: randomUUID(),
    constellation: { name: 'Left behind', tasks: [task], lines: [] },
    options: { workspace: true, keepWorkspace: true },
  });
  await rig.system.untilEnd(runId);
  await until('its directory', async () =>
    (await directoriesOf(rig)).find((one) => one.runId === runId && one.kept) === undefined ? undefined : true,
  );
  return runId;
}

async function directoriesOf(rig: ConsoleRig) {
  const { workspaces } = await query(await rig.system.bus(), 'device-agent', 'workspaces', { deviceId: DEVICE });
  return workspaces;
}

/** Every fact of this type that is stored, in order. */
async function facts(
  rig: ConsoleRig,
  stream: 'ACTORS' | 'ATTENTION',
  type: string,
): Promise<Record<string, unknown>[]> {
  const found: Record<string, unknown>[] = [];
  for await (const { data } of readStored(await rig.system.bus(), stream, STREAMS[stream].subjects[0])) {
    const { events } = parseJson(data) as { events: { type: string; data: Record<string, unknown> }[] };
    found.push(...events.filter((event) => event.type === type).map((event) => event.data));
  }
  return found;
}

/** A commit that the device-agent is said to have failed at: what was wrong is mended by now. */
async function writeLetter(rig: ConsoleRig, runId: RunId): Promise<void> {
  const bus = await rig.system.bus();
  const subject = subjects.run(runId);
  const stored = await (await jetstreamManager(bus)).streams.getMessage('RUNS', { last_by_subj: subject });
  const letter = {
    service: 'device-agent',
    stream: 'RUNS',
    sequence: stored?.seq,
    durable: null,
    subject,
    headers: {},
    payloadBase64: '',
    reason: MENDED,
    deliveries: 1,
    at: new Date().toISOString(),
  };
  await jetstream(bus).publish(subjects.dlq('device-agent'), JSON.stringify(letter));
}
