import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { jetstream } from '@nats-io/jetstream';
import { startTestBus, type TestBus } from '#libs/testing';
import type { Evaluation, RunEvent } from '#proto';
import { runProgram } from '../../run-program.js';
import { FakePlanner, learnt } from '../../testing/fake-planner.js';
import { fakeTerminal, surroundings } from '../../testing/fake-terminal.js';
import { sampleEvents, sealRun, SAMPLE_RUN } from '../../testing/sample-run.js';

const RUN = 'run1'.padEnd(26, '0');
const HASH = 'a'.repeat(64);
const EVALUATION: Evaluation = {
  reason: 'df says\u001B[31m so',
  sub_scores: [{ name: 'disks reported', evaluation: 'yes' }],
  subtasks: [
    { task_id: 'a', evaluation: 'yes', reason: 'df\u001B[31m printed it\nall' },
    { task_id: 'b', evaluation: 'unsure' },
  ],
  feasible: 'no',
  complete: 'yes',
};

let bus: TestBus;
let planner: FakePlanner;
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'orrery-test-experience-'));
  bus = await startTestBus();
  planner = await FakePlanner.start(await bus.as('planner'));
});
afterEach(() => planner.forget());
afterAll(async () => {
  await planner?.stop();
  await bus?.stop();
  await rm(directory, { recursive: true, force: true });
});

async function orrery(words: readonly string[], options: { seedFile?: string; signal?: AbortSignal } = {}) {
  const terminal = fakeTerminal();
  const { seedFile = bus.seedFile('cli'), signal = new AbortController().signal } = options;
  const env = { ORRERY_NATS_URL: bus.server.url, ORRERY_NATS_SEED_FILE: seedFile };
  const exitCode = await runProgram(words, { ...surroundings(terminal, env), signal });
  return { exitCode, out: terminal.outLines, err: terminal.errLines };
}

const LEARNT = [
  `${RUN}: experience of ${RUN}`,
  'request: Report the disks',
  'tips:',
  '  - df -P prints plan: one line',
  'plan:',
  '  a: look, an agent on any {"os":"linux"}',
  '  b: tell, EXEC_CLI {"command":"cat"} on web-1',
  '  a -> b (success-only)',
];

describe('orrery experience', () => {
  it('learn is signed, and shows what the planner will be shown', async () => {
    expect(await orrery(['experience', 'learn', RUN])).toEqual({ exitCode: 0, out: LEARNT, err: [] });
    const { out } = await orrery(['experience', 'ls']);
    expect(out).toEqual([`${RUN}\texperience\t2026-11-20 12:00:00Z\tcli\t2\tReport the disks`]);
    const listed = JSON.parse((await orrery(['experience', 'ls', '--json'])).out.join('')) as unknown;
    expect(listed).toEqual({ enabled: true, experiences: [learnt(RUN)] });
  });

  it('ls says why there is nothing', async () => {
    expect((await orrery(['experience', 'ls'])).err).toEqual(['Nothing was learnt yet.']);
    expect((await orrery(['experience', 'ls', '--text', 'disk'])).err).toEqual([
      'Nothing that was learnt is about that.',
    ]);
    planner.isEnabled = false;
    expect((await orrery(['experience', 'ls'])).err).toEqual([
      'The planner uses no examples; start it with ORRERY_EXPERIENCE=on.',
    ]);
  });

  it('demonstrate takes a file, and names what is wrong with it', async () => {
    const file = join(directory, 'disks.yaml');
    await writeFile(
      file,
      'name: by hand\nrequest: Report the disks\nsteps:\n  - description: look\n    command: df -P\n',
    );
    const { exitCode, out } = await orrery(['experience', 'demonstrate', '-f', file]);
    expect([exitCode, out[0]]).toEqual([0, 'd1: demonstration of by hand']);
    expect(planner.demonstrations).toEqual([
      { name: 'by hand', request: 'Report the disks', steps: [{ description: 'look', command: 'df -P' }] },
    ]);
    await writeFile(file, 'name: by hand\nrequest: x\nsteps:\n  - comand: df\n');
    const wrong = await orrery(['experience', 'demonstrate', '-f', file]);
    expect([wrong.exitCode, wrong.err.join('\n')]).toEqual([3, expect.stringContaining('steps[0].description')]);
    expect(planner.demonstrations).toHaveLength(1);
  });

  it('forget says what was there', async () => {
    planner.experiences.set(RUN, learnt(RUN));
    expect((await orrery(['experience', 'forget', RUN, 'other'])).out).toEqual([
      `${RUN} is forgotten`,
      'other was not there; see: orrery experience ls',
    ]);
    expect(JSON.parse((await orrery(['experience', 'forget', RUN, '--json'])).out.join(''))).toEqual({
      changes: [{ id: RUN, changed: false }],
    });
  });

  it.each([
    ['INVALID_STATE', 3],
    ['TRY_AGAIN', 4],
  ] as const)('learn says in one sentence why not: %s', async (code, exitCode) => {
    planner.refusal = { code, message: `The run ${RUN} did not succeed.` };
    const answer = { exitCode, out: [], err: [`orrery: The run ${RUN} did not succeed.`] };
    expect(await orrery(['experience', 'learn', RUN])).toEqual(answer);
  });

  it('learn needs a key to sign with, and a run', async () => {
    const { exitCode, err } = await orrery(['experience', 'learn', RUN], { seedFile: '' });
    expect([exitCode, err.join('\n')]).toEqual([3, expect.stringContaining('signed with your key of the bus')]);
    expect((await orrery(['experience', 'learn', 'no.run'])).exitCode).toBe(3);
  });
});

describe('orrery evaluate', () => {
  const annotated: RunEvent = {
    type: 'RUN_ANNOTATED',
    data: {
      kind: 'evaluation',
      evaluation: EVALUATION,
      used: { llmCalls: 1, tokens: 1, commands: 0, costUsd: 0 },
      planHash: HASH,
      annotatedAt: '2026-11-20T12:00:01.000Z',
    },
  };
  const commits = sealRun([...sampleEvents({ a: HASH, b: HASH }), [annotated]]);

  it('stops waiting when it is told to', async () => {
    const stopped = new AbortController();
    const { promise, resolve } = Promise.withResolvers<void>();
    planner.judged = () => {
      stopped.abort();
      return promise;
    };
    const { exitCode, err } = await orrery(['evaluate', SAMPLE_RUN], { signal: stopped.signal });
    resolve();
    expect([exitCode, err]).toEqual([130, ['orrery: Stopped waiting; the planner goes on.']]);
  });

  it('waits until the run shows the judgement, and prints it', async () => {
    const js = jetstream(await bus.as('orchestrator'));
    const publish = async (records: typeof commits): Promise<void> => {
      for (const { subject, commit } of records) await js.publish(subject, JSON.stringify(commit));
    };
    await publish(commits.slice(0, -1));
    const late = await orrery(['evaluate', SAMPLE_RUN, '--timeout', '6']);
    expect(late).toEqual({
      exitCode: 4,
      out: [],
      err: [
        `orrery: The run is judged, but its history does not show it yet; look again with: orrery show ${SAMPLE_RUN}`,
      ],
    });
    planner.judged = () => publish(commits.slice(-1));
    const { exitCode, out } = await orrery(['evaluate', SAMPLE_RUN]);
    expect([exitCode, out]).toEqual([
      0,
      [
        'Evaluation: complete: yes (what was asked for cannot be done, and the answer says so)',
        'df says so',
        '  disks reported: yes',
        '1 of 2 subtasks done (50 %), 1 unsure:',
        '  a: yes, df printed it all',
        '  b: unsure',
      ],
    ]);
    planner.judged = async () => undefined;
    const again = await orrery(['evaluate', SAMPLE_RUN, '--json']);
    expect(JSON.parse(again.out.join(''))).toEqual({ runId: SAMPLE_RUN, evaluation: EVALUATION });
  });
});
