import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openRunLog, runIdOf } from '#libs/event-log';
import { startTestBus, type TestBus } from '#libs/testing';
import { RunCommit, type RunEvent } from '#proto';
import { runProgram } from '../../run-program.js';
import { FakeRegistry } from '../../testing/fake-registry.js';
import { fakeTerminal, surroundings } from '../../testing/fake-terminal.js';
import { sealRun } from '../../testing/sample-run.js';

/* A plan that waits, and the fleet as it is: two devices, one of them called db-1. */

const AT = '2026-11-20T12:00:00.000Z';
const RUN = runIdOf('default', 'wide');
const task = (id: string, target: object) => ({ id, name: id, description: `does ${id}`, tips: [], target });
const WAITING: RunEvent[] = [
  {
    type: 'RUN_REQUESTED',
    data: {
      requestId: 'wide',
      namespace: 'default',
      contentHash: '0'.repeat(64),
      goal: 'look everywhere',
      constellation: null,
      options: { plan: 'approve' },
      metadata: {},
      requestedBy: { kind: 'person', id: 'operator' },
      requestedAt: AT,
      deadlineAt: '2026-11-21T12:00:00.000Z',
    },
  },
];
const PLANNED = {
  type: 'CONSTELLATION_MODIFIED',
  data: {
    revision: 1,
    origin: 'planner',
    tasks: 2,
    lines: 0,
    modifiedAt: AT,
    editId: 'e1',
    try: 1,
    edits: [
      {
        tool: 'build_constellation',
        constellation: { name: 'wide', tasks: [task('all', { os: 'linux' }), task('db', { tags: ['db'] })], lines: [] },
        clear: true,
      },
    ],
    state: 'CONTINUE',
    source: 'model',
    judgeCommands: true,
    spare: [{ device: 'db-1' }],
  },
};

let bus: TestBus;
let registry: FakeRegistry | undefined;

beforeAll(async () => {
  bus = await startTestBus();
  const nc = await bus.as('orchestrator');
  const [record] = sealRun([[...WAITING, PLANNED as RunEvent]], RUN);
  const log = openRunLog(nc);
  expect(await log.append(RUN, RunCommit.parse(record?.commit), 0)).toMatchObject({ kind: 'appended' });
});
afterAll(async () => {
  await registry?.stop();
  await bus.stop();
});

async function orrery(...words: string[]) {
  const terminal = fakeTerminal();
  const env = { ORRERY_NATS_URL: bus.server.url, ORRERY_NATS_SEED_FILE: bus.seedFile('cli') };
  const exitCode = await runProgram(words, surroundings(terminal, env));
  return { exitCode, out: terminal.outLines.join('\n'), err: terminal.errLines };
}

describe('plan of a run that waits', () => {
  it('shows the plan when the registry does not answer, and says what it does not know', async () => {
    const { exitCode, out, err } = await orrery('plan', RUN);
    expect({ exitCode, err }).toEqual({ exitCode: 0, err: [expect.stringContaining('the registry does not answer')] });
    expect(out).toContain('does all');
    expect(out).not.toContain('enrolled');
    expect(JSON.parse((await orrery('plan', RUN, '--json')).out)).toMatchObject({ reach: null });
  });

  it('says how many of the devices each selector means, and what later edits may use', async () => {
    registry = await FakeRegistry.start(await bus.as('registry'));
    registry.profiles.set('db-1', { tags: ['db'] });
    const { out, err } = await orrery('plan', RUN);
    expect(err).toEqual([]);
    expect(out).toMatch(
      /Later edits of a model may also use: db-1\n.*of 2 enrolled devices:\n {2}os linux: any of 2 devices: ALL THAT ARE ENROLLED \(task all\)\n {2}tags db: any of 1 device \(task db\)$/u,
    );
    expect(JSON.parse((await orrery('plan', RUN, '--json')).out)).toMatchObject({
      scope: [{ os: 'linux' }, { tags: ['db'] }, { device: 'db-1' }],
      reach: {
        enrolled: 2,
        selectors: [
          { target: { os: 'linux' }, devices: 2, unknown: 0, all: true, tasks: ['all'] },
          { target: { tags: ['db'] }, devices: 1, all: false },
        ],
      },
    });
  });
});
