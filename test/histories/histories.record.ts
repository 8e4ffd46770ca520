import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { readCommits } from '#libs/event-log';
import { RUN_EVENT_TYPES, runIdOfSubject, type StreamName } from '#proto';
import { StoryModel } from '../e2e/agent-model.js';
import { exec, ROOT, TestSystem, until } from '../e2e/system.js';
import { AGENT_RUNS, AGENT_STORIES, agentTakenOver, openApproval, prepareJail } from './agent-runs.js';
import { EXACT_RUNS, OPEN_RUNS } from './exact-runs.js';
import { fleetOrders, foreignPeers, lostDevices } from './fleet-runs.js';
import { type HistoryLine, renderHistory } from './history-file.js';
import { auditOf, foldOfFleet, foldOfRun, HISTORIES } from './history-folder.js';
import { packHome } from './home-archive.js';
import { openPlan, PLAN_STORIES, PLANNED_RUNS } from './planned-runs.js';
import { Recording } from './recording.js';

/* Records the histories of the version that runs: real processes, from which nothing is taken but what they stored. */

const AT_ONCE = 5;
const TIMES = { graceMs: 2_500, deadAfterMs: 6_000 };
const RECORDED = ['RUNS', 'ATTEMPTS', 'PLANS', 'FLEET'] as const satisfies StreamName[];

let model: StoryModel;
let system: TestSystem;
let folder: string;
let aside: string;

beforeAll(async () => {
  const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  folder = join(HISTORIES, version);
  const exists = await stat(folder).catch(() => undefined);
  if (exists !== undefined) throw new Error(`${folder} is recorded already; what is recorded stays as it is`);
  // Not in the home: it says where this tree lies.
  aside = await mkdtemp(join(tmpdir(), 'orrery-record-'));
  const lib = pathToFileURL(join(ROOT, 'dist/libs/device-agent/index.js')).href;
  await writeFile(
    join(aside, 'desktop.mjs'),
    `import { AppAgentPrompter, HostAgentPrompter, testing } from ${JSON.stringify(lib)};
     export const agents = (options) =>
       [testing.desktopAgent({ host: new HostAgentPrompter(options), app: new AppAgentPrompter(options) })];`,
  );
  const injected = 'linux_agent_1:\n  execute_command: { api_key: mcp-key }\n';
  await writeFile(join(aside, 'inject.yaml'), injected, { mode: 0o600 });
  model = await StoryModel.start({ ...AGENT_STORIES, ...PLAN_STORIES });
  const env = {
    ...model.env,
    ORRERY_EXPERIENCE: 'on',
    ORRERY_AGENT_MODULES: join(aside, 'desktop.mjs'),
    ORRERY_AIP_INJECT_FILE: join(aside, 'inject.yaml'),
    ORRERY_DEVICE_GRACE_MS: String(TIMES.graceMs),
    ORRERY_AIP_DEAD_AFTER_MS: String(TIMES.deadAfterMs),
  };
  const prepare = async (home: string) => prepareJail(home).then(() => ({}));
  system = await TestSystem.startWith({ env, prepare }, '--devices', '2');
});

afterAll(async () => {
  await system?.stop();
  await model?.stop();
  if (aside !== undefined) await rm(aside, { recursive: true, force: true });
});

it('records what this version stores', async () => {
  const recording = await Recording.of(system);
  await recording.cli('devices', 'enroll', '--id', 'db-1', '--agent', 'SampleAgent');
  await told({ ...EXACT_RUNS, ...AGENT_RUNS, ...PLANNED_RUNS }, recording);
  await told({ 'foreign peers': foreignPeers, 'lost devices': (each) => lostDevices(each, TIMES) }, recording);
  await told({ 'an agent taken over': agentTakenOver }, recording);
  await told({ 'orders to the fleet': fleetOrders }, recording);
  await recording.cli('devices', 'enroll', '--id', 'never-there');
  await told({ ...OPEN_RUNS, openApproval, openPlan }, recording);
  expect(failures).toEqual([]);

  const verified = await recording.cli('verify', '--all');
  expect(verified.stdout).toContain(`${recording.runs.size} runs verified`);
  const lines = (await Promise.all(RECORDED.map((stream) => linesOf(recording, stream)))).flat();
  await until('every run in Postgres', async () => {
    const { runs } = await system.json<{ runs: unknown[] }>('runs', '--limit', '1000');
    return runs.length === recording.runs.size ? true : undefined;
  });
  await recording.cli('down');
  await write(recording, lines);
});

type Stories = Readonly<Record<string, (recording: Recording) => Promise<unknown>>>;

/** What did not go as it should; all of it is said at the end, because a recording takes long. */
const failures: string[] = [];

/** So many at a time: a machine that is slow is to be slow with all of them alike. */
async function told(stories: Stories, recording: Recording): Promise<void> {
  const left = Object.entries(stories);
  const worker = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const [name, story] = next;
      await story(recording).catch((error: unknown) => failures.push(`${name}: ${String(error)}`));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

async function linesOf({ nc }: Recording, stream: (typeof RECORDED)[number]): Promise<HistoryLine[]> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const lines: HistoryLine[] = [];
  for await (const { sequence, subject, data, pending } of readCommits(nc, stream, { afterSequence: 0 })) {
    lines.push({ stream, subject, sequence, text: decoder.decode(data) });
    if (pending === 0) break;
  }
  return lines;
}

async function write({ runs, requests }: Recording, lines: readonly HistoryLine[]): Promise<void> {
  for (const { text } of lines) expect(text).not.toContain(ROOT);
  const fleet = lines.filter(({ stream }) => stream === 'FLEET');
  const ofRun = Map.groupBy(
    lines.filter(({ stream }) => stream !== 'FLEET'),
    ({ subject }) => runIdOfSubject(subject),
  );
  const histories = [...runs].map(([name, runId]) => ({ name, own: ofRun.get(runId) ?? [] }));
  const types = new Set(
    lines.flatMap(({ text }) => [...text.matchAll(/"type":"([A-Z_]+)"/gu)].map(([, type]) => type)),
  );
  expect(RUN_EVENT_TYPES.filter((type) => !types.has(type))).toEqual([]);
  expect(new Set(ofRun.keys())).toEqual(new Set(runs.values()));
  await mkdir(join(folder, 'runs'), { recursive: true });
  const all = histories.map(({ own }) => own);
  for (const { name, own } of histories) {
    expect({ name, ...auditOf(own, all) }).toMatchObject({ name, ok: true, unchecked: [] });
    await writeFile(join(folder, 'runs', `${name}.jsonl`), renderHistory(own));
    await writeFile(join(folder, 'runs', `${name}.fold`), foldOfRun(own));
  }
  await writeFile(join(folder, 'fleet.jsonl'), renderHistory(fleet));
  await writeFile(join(folder, 'fleet.fold'), foldOfFleet(fleet));
  await writeFile(join(folder, 'requests.json'), `${JSON.stringify(requests, null, 2)}\n`);
  expect(await filesThatSay(ROOT, system.home)).toBe('');
  await packHome(system.home, join(folder, 'home.tar.zst'));
}

/** In what is packed; the logs are not. */
async function filesThatSay(text: string, home: string): Promise<string> {
  const { code, stdout, stderr } = await exec('grep', [
    '-rlF',
    '--exclude-dir=logs',
    '--exclude-dir=test-devices',
    '--exclude=*.log',
    '--exclude=postmaster.opts',
    '-e',
    text,
    home,
  ]);
  if (code > 1) throw new Error(`the home could not be searched: ${stderr}`);
  return stdout;
}
