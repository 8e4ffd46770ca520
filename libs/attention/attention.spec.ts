import { describe, expect, it } from '@jest/globals';
import { evolveCommit, strandedOf, viewOf, type Run } from '#libs/constellation';
import { generateAskedHistory, generateEditedHistory, generateHistory, runCommitsOf } from '#libs/testing';
import { instantOf, LIMITS, type ApprovalView, type AttemptCommit, type RunView, type TaskView } from '#proto';
import { attentionOfComings, evolveComings, NO_COMINGS, type Comings } from './flapping.js';
import { attentionOfAttempt, attentionOfLetter } from './other-attention.js';
import { attentionOfRun } from './run-attention.js';

const AT = '2026-11-20T10:00:00.000Z';
const RUN = {
  runId: 'r1',
  requestId: 'q1',
  name: 'nightly backup',
  status: 'RUNNING',
  outcome: null,
  reason: null,
  sequence: 3,
  revision: 1,
  requestedAt: '2026-11-20T09:00:00.000Z',
  endedAt: null,
  requestedBy: 'anna',
  waitingFor: null,
  editing: null,
  parent: null,
  tasks: [],
  lines: [],
  approvals: [],
} as const satisfies RunView;
const TASK: TaskView = {
  id: 'copy',
  name: 'copy',
  status: 'COMPLETED',
  attempts: 1,
  device: 'web-1',
  result: null,
  error: null,
  reason: null,
  held: false,
  recoveredBy: null,
  startedAt: AT,
  endedAt: AT,
};
const failed = (id: string, more: Partial<TaskView> = {}): TaskView => ({
  ...TASK,
  id,
  status: 'FAILED',
  error: { code: 'EXIT_CODE', message: 'exit code 1', outcome: 'failed' },
  ...more,
});
const unknown = { code: 'OUTCOME_UNKNOWN', message: 'the device is gone', outcome: 'unknown' } as const;
const asked = (state: ApprovalView['state']): ApprovalView => ({
  approvalId: 'r1.copy.1.2.0',
  runId: 'r1',
  taskId: 'copy',
  attempt: 1,
  ask: {
    kind: 'question',
    approvalId: 'r1.copy.1.2.0',
    deviceId: 'web-1',
    agent: 'linux',
    step: 2,
    thought: '',
    plan: [],
    expiresAt: AT,
    question: 'which port?',
  },
  requestedAt: AT,
  state,
  by: null,
  note: null,
  decidedAt: null,
  grantUntil: null,
});

const of = (view: Partial<RunView>) => attentionOfRun({ ...RUN, ...view }, []);
const kinds = (view: Partial<RunView>) => of(view).map(({ kind }) => kind);

describe('a run', () => {
  it.each<[string, Partial<RunView>, string[]]>([
    ['goes on', { tasks: [failed('a')] }, []],
    ['is cancelled', { status: 'CANCELLED', endedAt: AT, tasks: [failed('a')] }, []],
    ['did all it was asked for', { status: 'COMPLETED', outcome: 'succeeded', endedAt: AT }, []],
    ['failed', { status: 'FAILED', endedAt: AT }, ['failed']],
    [
      'did a part',
      { status: 'COMPLETED', outcome: 'partially_failed', endedAt: AT, tasks: [failed('a')] },
      ['partial'],
    ],
    ['does not know what was done', { tasks: [failed('a', { error: unknown })] }, ['unknown']],
    ['has done it in another way', { tasks: [failed('a', { error: unknown, recoveredBy: 'b' })] }, []],
    ['asks', { approvals: [asked('open')] }, ['approval']],
    ['was answered, wherever', { approvals: [asked('answered')] }, []],
    ['asked in vain', { approvals: [asked('expired')] }, []],
  ])('that %s', (_, view, wanted) => expect(kinds(view)).toEqual(wanted));

  it('whose plan waits for a person says how to go on', () => {
    const waitingFor = {
      reason: 'approval',
      detail: 'approval of the plan',
      wokenBy: 'operator',
      wakesAt: null,
    } as const;
    expect(of({ status: 'PAUSED', waitingFor })).toMatchObject([{ kind: 'approval', next: 'orrery resume r1' }]);
  });

  it('that fails again, after somebody tried again, has another entry', () => {
    const [first] = of({ status: 'FAILED', endedAt: AT });
    expect(of({ status: 'RUNNING', endedAt: null })).toEqual([]);
    const [second] = of({ status: 'FAILED', endedAt: '2026-11-20T10:00:00.001Z' });
    expect(first?.key).not.toBe(second?.key);
  });

  it('of which a task waits for a device says which and since when, until it does not', () => {
    const stranded = [{ taskId: 'copy', since: AT, text: 'copy (target device "db-9")' }];
    expect(attentionOfRun(RUN, stranded)).toMatchObject([{ kind: 'no-device', since: AT, taskId: 'copy' }]);
    expect(attentionOfRun(RUN, [])).toEqual([]);
  });

  it('says in one bounded line what devices and models have said', () => {
    const [entry] = of({ status: 'FAILED', endedAt: AT, reason: `a\n\nb ${'x'.repeat(5_000)}\ud800` });
    expect(entry?.what).toMatch(/^"nightly backup" failed: a b x+…$/u);
    expect(entry?.what.length).toBe(LIMITS.attentionCharsMax);
    expect(entry?.what.isWellFormed()).toBe(true);
  });
});

/** What every prefix of a history needs, told twice: as it came, and as somebody reads it who comes later. */
function prefixes(seed: number): { live: string; replayed: string; keys: string[]; endedAt: string | null }[] {
  const makers = [generateHistory, generateAskedHistory, generateEditedHistory];
  const commits = runCommitsOf((makers[seed % makers.length] ?? generateHistory)({ seed }));
  let run: Run | undefined;
  return commits.map((commit, index) => {
    run = evolveCommit(run, commit);
    const again = commits
      .slice(0, index + 1)
      .reduce<Run | undefined>((before, one) => evolveCommit(before, one), undefined);
    const entries = attentionOfRun(viewOf(run), strandedOf(run));
    const replayed =
      again === undefined ? [] : attentionOfRun(JSON.parse(JSON.stringify(viewOf(again))), strandedOf(again));
    const keys = entries.map(({ key }) => key);
    return {
      live: JSON.stringify(entries),
      replayed: JSON.stringify(replayed),
      keys,
      endedAt: viewOf(run).endedAt,
    };
  });
}

describe('the entries of a history', () => {
  it.each(Array.from({ length: 12 }, (_, seed) => seed + 1))('%i are those of its replay, and each is one', (seed) => {
    const all = prefixes(seed);
    for (const { live, replayed, keys } of all) {
      expect(live).toBe(replayed);
      expect(new Set(keys).size).toBe(keys.length);
    }
    // What is recorded beside the history after an end changes none of them.
    for (const [endedAt, after] of Map.groupBy(all, (one) => one.endedAt)) {
      if (endedAt !== null) expect(new Set(after.map(({ live }) => live)).size).toBe(1);
    }
  });
});

describe('an attempt', () => {
  const finished = (code: string) =>
    ({
      runId: 'r1',
      taskId: 'copy',
      at: AT,
      events: [
        {
          type: 'COMMAND_FINISHED',
          data: {
            commandId: 'r1.copy.1.0.0',
            deviceId: 'web-1',
            error: { code, message: 'it wrote to /etc', outcome: 'failed' },
          },
        },
      ],
    }) as unknown as AttemptCommit;

  it('needs somebody where a command did what its judgement did not say, and nowhere else', () => {
    expect(attentionOfAttempt(finished('POLICY_MISMATCH'))).toMatchObject([
      { kind: 'mismatch', key: 'mismatch r1.copy.1.0.0', deviceId: 'web-1', since: AT },
    ]);
    expect(attentionOfAttempt(finished('EXIT_CODE'))).toEqual([]);
  });
});

describe('a dead letter', () => {
  const letter = { service: 'planner', subject: 'orrery.run.r1', reason: 'not JSON', at: AT };
  const RUNS_5 = { ...letter, stream: 'RUNS', sequence: 5 } as const;
  const ofNone = { ...letter, stream: null, sequence: null };

  it('is one entry with those of all others who could not handle its message', () => {
    const [first, second] = [RUNS_5, { ...RUNS_5, service: 'logging', at: instantOf(Date.parse(AT) + 1) }].map(
      (one, index) => attentionOfLetter(one, 7 + index),
    );
    expect(second?.key).toBe(first?.key);
    expect(first).toMatchObject({ next: 'orrery dlq show 7', since: AT });
    expect(attentionOfLetter({ ...RUNS_5, sequence: 6 }, 9).key).not.toBe(first?.key);
    expect(attentionOfLetter({ ...RUNS_5, stream: 'PLANS' }, 9).key).not.toBe(first?.key);
  });

  it('of what came from no stream is an entry by its place', () =>
    expect(attentionOfLetter(ofNone, 8).key).not.toBe(attentionOfLetter(ofNone, 7).key));
});

describe('a device', () => {
  const MINUTE = 60_000;
  const start = Date.parse(AT);
  const connected = (minute: number) => ({
    at: instantOf(start + minute * MINUTE),
    events: [{ type: 'DEVICE_CONNECTED' }],
  });
  const came = (minutes: readonly number[], from: Comings = NO_COMINGS) =>
    minutes.reduce((comings, minute) => evolveComings(comings, connected(minute) as never), from);
  const keysOf = (comings: Comings) => attentionOfComings('web-1', comings).map(({ key }) => key);

  it.each<[string, number[], boolean]>([
    ['connects once', [0], false],
    ['connects one time too few', [0, 1, 2, 3], false],
    ['connects five times in ten minutes', [0, 1, 2, 3, 10], true],
    ['connects five times in a little more', [0, 1, 2, 3, 10.1], false],
    ['connects once an hour', [0, 60, 120, 180, 240, 300], false],
  ])('that %s', (_, minutes, flaps) => expect(keysOf(came(minutes)).length > 0).toBe(flaps));

  it('that goes on is one entry, which ends when it was quiet for an hour, and then another one', () => {
    const first = came([0, 1, 2, 3, 4]);
    const still = came([30, 31], first);
    expect(keysOf(still)).toEqual(keysOf(first));
    expect(attentionOfComings('web-1', still)[0]?.until).toBe(instantOf(start + 91 * MINUTE));
    const quiet = came([91], still);
    expect(keysOf(quiet)).toEqual([]);
    expect(keysOf(came([92, 93, 94, 95], quiet))).not.toEqual(keysOf(first));
  });

  it('is remembered by a handful of times, however often it comes', () => {
    const many = came(Array.from({ length: 10_000 }, (_, index) => index / 100));
    expect(many.latest).toHaveLength(LIMITS.flapsMin);
  });

  it('that only goes, or is enrolled, does not come', () => {
    const lost = { at: AT, events: [{ type: 'DEVICE_LOST' }, { type: 'DEVICE_ENROLLED' }] };
    expect(evolveComings(NO_COMINGS, lost as never)).toBe(NO_COMINGS);
  });
});
