import { execFileSync } from 'node:child_process';
import { constants } from 'node:fs';
import { mkdir, open, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { query } from '#libs/messaging';
import type { DeviceStatus, RunView } from '#proto';
import type { StoryModel, Turn } from './agent-model.js';
import { DeviceProcess } from './aip-faults-process.js';
import { type Cable, type Cables, layCables } from './cables.js';
import { againOn, failureOf, goalOf, jobOn, noteFile, NOTEPAD, replyTo } from './rq5-plans.js';
import { sendRequest } from './requests.js';
import { type TestSystem, until } from './system.js';

/*
 * One request under faults (section 10.8 of the paper), with real processes: cables between devices and their gateway are cut, a device is killed.
 * The five go on at the same time; a device whose fault belongs to two of them is given both jobs before.
 */

/** A device that nobody hears for so long is suspect, and lost when the grace is over, too: more than a machine stands still that is busy. */
const DEAD_AFTER_MS = 9_000;
const GRACE_MS = 12_000;
/** A run that ends by this has not ended by itself. */
const DEADLINE_MS = 300_000;
/** Where somebody is lost for good, who is not there is given up soon; elsewhere each may take as long as a slow machine takes. */
const LOST_FOR_GOOD = new Set(['gone', 'all']);
const optionsOf = (story: string) => ({
  deadlineMs: DEADLINE_MS,
  editDeadlineMs: DEADLINE_MS,
  deviceAskMs: 1_000,
  deviceWaitMs: LOST_FOR_GOOD.has(story) ? GRACE_MS : DEADLINE_MS,
});

/** They are there all the time. */
const [LINUX_1, LINUX_2, LINUX_3] = ['db-1', 'dev-3', 'dev-4'] as const;
const FAULTY = ['blip-1', 'back-1', 'gone-1', 'gone-2', 'gone-3'] as const;
const STORIES: Readonly<Record<string, readonly string[]>> = {
  undisturbed: [LINUX_1, LINUX_2, LINUX_3],
  blip: ['blip-1', LINUX_2, LINUX_3],
  back: ['back-1', LINUX_2, LINUX_3],
  gone: ['gone-1', LINUX_2, LINUX_3],
  all: ['gone-1', 'gone-2', 'gone-3'],
};

interface Given {
  readonly system: TestSystem;
  readonly model: StoryModel;
}

let model: StoryModel;
let system: TestSystem;
let cables: Cables | undefined;
const faulty = new Map<string, { readonly process: DeviceProcess; readonly cable: Cable }>();
const runs = new Map<string, string>();
const rows: string[] = [];
let views = new Map<string, Promise<RunView>>();
/** In reverse order. */
const closers: (() => unknown)[] = [];

/** What a system is told whose devices are given up soon. */
export const GIVEN_UP_SOON: NodeJS.ProcessEnv = {
  ORRERY_DEVICE_GRACE_MS: String(GRACE_MS),
  ORRERY_AIP_DEAD_AFTER_MS: String(DEAD_AFTER_MS),
};

async function begin(): Promise<void> {
  const turns = Object.entries(STORIES).map(([story, devices]) => {
    const turn: Turn = async () => {
      const runId = await until(`the run of ${story}`, async () => runs.get(story));
      return replyTo(story, devices, await system.show(runId));
    };
    return [`plan-${story}`, [turn]] as const;
  });
  model.add(Object.fromEntries(turns));
  // The healthy ones may end at once.
  for (const id of [LINUX_1, LINUX_2, LINUX_3]) await writeFile(join(system.home, 'devices', id, 'jail', 'go'), '');
  cables = await layCables((await system.endpoints()).aip);
  closers.push(() => cables?.remove());
  for (const id of FAULTY) faulty.set(id, await device(id, cables));
  await Promise.all([...faulty.values()].map(({ process: each }) => each.enrol()));
  await Promise.all([...faulty.keys()].map((id) => untilSeen(id, 'connected')));
  for (const [story, devices] of Object.entries(STORIES)) {
    runs.set(
      story,
      await sendRequest(system, { requestId: `rq5-${story}`, goal: goalOf(story, devices), options: optionsOf(story) }),
    );
  }
  views = tellAll();
}

async function device(id: string, cables: Cables): Promise<{ process: DeviceProcess; cable: Cable }> {
  const cable = await cables.lay();
  const admin = { tags: [], capabilities: [] };
  const config = { deadAfterMs: DEAD_AFTER_MS, reconnectMsMax: 1_000 };
  const options = { system, nc: await system.bus(), id, urls: [cable.url], admin, config, within: cable.within };
  const made = new DeviceProcess(options);
  const jail = join(made.directory, 'data/jail');
  await mkdir(jail, { recursive: true });
  execFileSync('mkfifo', [join(jail, 'go')]);
  // What a killed device has left behind ends with it, too.
  closers.push(() => Promise.all([made.kill9(), letGo(id)]));
  return { process: made, cable };
}

function of(id: string): { readonly process: DeviceProcess; readonly cable: Cable } {
  const found = faulty.get(id);
  if (found === undefined) throw new Error(`${id} is no device of ours`);
  return found;
}

const effects = (id: string): Promise<string[]> => of(id).process.lines('effects');
/** Whoever reads the pipe now is answered, and whoever comes later finds a file. */
async function letGo(id: string): Promise<void> {
  const go = join(of(id).process.directory, 'data/jail/go');
  const pipe = await open(go, constants.O_RDWR | constants.O_NONBLOCK);
  await writeFile(`${go}.file`, '');
  await rename(`${go}.file`, go);
  await pipe.close();
}

async function atWork(id: string, ...tasks: readonly string[]): Promise<void> {
  await until(`${tasks.join(' and ')} at work on ${id}`, async () =>
    (await effects(id)).length >= tasks.length ? true : undefined,
  );
}

async function untilSeen(id: string, status: DeviceStatus): Promise<void> {
  const nc = await system.bus();
  await until(`${id} to be ${status}`, async () => {
    const { devices } = await query(nc, 'registry', 'devices', {});
    return devices.find((each) => each.deviceId === id && each.status === status);
  });
}

const runOf = (story: string): string => runs.get(story) ?? '';
const taskOf = ({ tasks }: RunView, id: string) => tasks.find((each) => each.id === id);
const noteOf = (story: string): Promise<string> =>
  readFile(join(system.home, 'devices', NOTEPAD, 'jail', noteFile(story)), 'utf8').catch(() => '');

/** The end of a run, kept for the table. */
async function told(story: string): Promise<RunView> {
  const view = await system.untilEnd(runOf(story));
  const seconds = (Date.parse(view.endedAt ?? '') - Date.parse(view.requestedAt)) / 1_000;
  rows.push(`${story.padEnd(12)} ${view.outcome ?? view.status} after ${seconds.toFixed(1)} s`);
  return view;
}

const took = (id: string) =>
  ['began', 'ended'].map((word) => expect.stringMatching(new RegExp(`^${id} ${word} at \\d+$`, 'u')));
const linesIn = (text: string): string[] => text.split('\n').filter((line) => line !== '');

/** What is done to the devices of each story while it is told; begun together. */
const FAULTS: Readonly<Record<string, () => Promise<void>>> = {
  undisturbed: async () => undefined,
  blip: async () => {
    await atWork('blip-1', jobOn('blip-1'));
    await of('blip-1').cable.cut();
    await untilSeen('blip-1', 'suspect');
    await of('blip-1').cable.mend();
    await letGo('blip-1');
  },
  back: async () => {
    await atWork('back-1', jobOn('back-1'));
    await of('back-1').cable.cut();
    await letGo('back-1');
    await untilSeen('back-1', 'lost');
    await until('its replacement', async () =>
      taskOf(await system.show(runOf('back')), againOn('back-1')) === undefined ? undefined : true,
    );
    await of('back-1').cable.mend();
  },
  // Its device has a job of the last story, too.
  gone: async () => {
    await atWork('gone-1', jobOn('gone-1'), jobOn('gone-1'));
    await of('gone-1').process.kill9();
  },
  all: async () => {
    for (const id of ['gone-2', 'gone-3']) {
      await atWork(id, jobOn(id));
      await of(id).cable.cut();
    }
  },
};

/** Begins all of them, and gives each its end. */
function tellAll(): Map<string, Promise<RunView>> {
  const views = Object.entries(FAULTS).map(([story, harm]) => {
    const view = Promise.all([told(story), harm()]).then(([end]) => end);
    view.catch(() => undefined); // said by the test that looks at it
    return [story, view] as const;
  });
  return new Map(views);
}

/** One request under faults, in a system with four devices that is told GIVEN_UP_SOON. */
export function testsOfFaultsOfOneRequest(given: () => Given): void {
  beforeAll(async () => {
    ({ system, model } = given());
    await begin();
  });

  afterAll(async () => {
    process.stderr.write(`faults by ${cables?.kind}\n${rows.join('\n')}\n`);
    for (const close of closers.splice(0).toReversed()) await close();
  });

  describe('a long job on three devices, and a note of their times', () => {
    it('0: undisturbed, it is done, and the model is asked for the plan and the end alone', async () => {
      const view = await views.get('undisturbed');
      expect(view).toMatchObject({ outcome: 'succeeded', answer: { failures: [] } });
      expect(linesIn(await noteOf('undisturbed'))).toEqual(
        [LINUX_1, LINUX_2, LINUX_3].flatMap((id) => took(jobOn(id))),
      );
      expect(model.asked('plan-undisturbed')).toHaveLength(2);
    });

    it('1a: a device that comes back before it is given up has done its job once, and nothing has failed', async () => {
      const view = await views.get('blip');
      expect(view).toMatchObject({ outcome: 'succeeded', answer: { failures: [] } });
      expect(view?.tasks).toHaveLength(4);
      expect(view && taskOf(view, jobOn('blip-1'))).toMatchObject({ status: 'COMPLETED', attempts: 1 });
      expect(await effects('blip-1')).toEqual([jobOn('blip-1')]);
      expect(linesIn(await noteOf('blip'))).toEqual(['blip-1', LINUX_2, LINUX_3].flatMap((id) => took(jobOn(id))));
      expect(model.asked('plan-blip')).toHaveLength(2);
    });

    it('1b: of one that comes back after it was given up, a replacement does the job: nothing is missing, and the run says that it recovered', async () => {
      const view = await views.get('back');
      expect(view).toMatchObject({ status: 'COMPLETED', outcome: 'succeeded' });
      expect(view && taskOf(view, jobOn('back-1'))).toMatchObject({
        status: 'FAILED',
        error: { outcome: 'device_lost' },
      });
      expect(view && taskOf(view, againOn('back-1'))).toMatchObject({ status: 'COMPLETED', device: 'back-1' });
      expect(await effects('back-1')).toEqual([jobOn('back-1'), againOn('back-1')]);
      const jobs = [againOn('back-1'), jobOn(LINUX_2), jobOn(LINUX_3)];
      expect(linesIn(await noteOf('back'))).toEqual(jobs.flatMap(took));
      // What the lost one has done all the same is added to the log when it is there, and changes no outcome.
      await until('its late result', async () => {
        const added = await system.eventsOf(runOf('back'), 'RUN_ANNOTATED');
        return added.some(({ kind, taskId }) => kind === 'late_result' && taskId === jobOn('back-1')) || undefined;
      });
      const { tasks } = await system.show(runOf('back'));
      expect(tasks.find(({ id }) => id === jobOn('back-1'))).toMatchObject({ error: { outcome: 'device_lost' } });
    });

    it('2: without a device that is lost for good, the note has two times and one explicit failure', async () => {
      const view = await views.get('gone');
      expect(view).toMatchObject({ status: 'COMPLETED', outcome: 'partially_failed', reason: null });
      expect(view && taskOf(view, againOn('gone-1'))).toMatchObject({
        status: 'FAILED',
        attempts: 0,
        error: { code: 'DEVICE_UNAVAILABLE' },
      });
      expect(linesIn(await noteOf('gone'))).toEqual([
        ...took(jobOn(LINUX_2)),
        ...took(jobOn(LINUX_3)),
        failureOf('gone-1'),
      ]);
      expect(view?.answer?.text).toContain('gone-1 was lost');
    });

    it('3: without any of them, the run has failed: there is no note, and all three are named', async () => {
      const view = await views.get('all');
      expect(view).toMatchObject({ status: 'FAILED' });
      expect(view && taskOf(view, 'note')).toMatchObject({ attempts: 0 });
      expect(await noteOf('all')).toBe('');
      const failures = view?.answer?.failures.map(({ taskId }) => taskId) ?? [];
      expect(failures).toEqual(expect.arrayContaining(STORIES['all']?.map(jobOn) ?? []));
      for (const id of STORIES['all'] ?? []) expect(view?.answer?.text).toContain(id);
    });

    it('left a log that is verified from end to end', async () => {
      expect(await system.json('verify', '--all')).toMatchObject({ ok: true });
    });
  });
}
