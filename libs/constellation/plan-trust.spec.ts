import { describe, expect, it } from '@jest/globals';
import { RecordedRunEvent, type Target, type TaskConstellation } from '#proto';
import { forkedFrom } from './fold/fork.js';
import {
  add,
  ALICE,
  ask,
  build,
  change,
  completed,
  constellation,
  device,
  failed,
  fleet,
  HASH,
  imagine,
  insert,
  PLANNER,
  propose,
  remove,
  Story,
  submit,
  T0,
  verb,
  withAgents,
} from './testing/given.js';
import { checkInvariants } from './fold/invariants.js';
import { emptyRun, findTask } from './state/run.js';

const FLEET = withAgents(
  fleet([
    device('web-1'),
    device('web-2', { tags: ['web'] }),
    device('db-1', { tags: ['db'], os: 'linux', capabilities: ['cli', 'sql'] }),
    device('pay-1', { os: 'openbsd', capabilities: [], tags: ['db'] }),
  ]),
);

const story = () => new Story().on(FLEET);
const command = (line: string) => ({ tool: 'EXEC_CLI', arguments: { command: line } });
const judged = (told: Story, taskId: string) => findTask(told.run, taskId)?.judged;
const startOf = (told: Story, taskId: string) =>
  told.events.findLast((event) => event.type === 'TASK_STARTED' && event.data.taskId === taskId)?.data;
const goal = (plan: TaskConstellation, of: typeof imagine = imagine) =>
  story()
    .when(ask({ options: { editPolicy: 'every-result' } }))
    .when(of('e1', [build(plan)]));

describe('who is believed', () => {
  const plan = constellation(['a', 'b'], ['a->b']);

  it('a plan of a model is judged: its commands are marked where they start', () => {
    const told = goal(plan);
    expect(told.events.find(({ type }) => type === 'CONSTELLATION_MODIFIED')?.data).toMatchObject({
      source: 'model',
      judgeCommands: true,
      planHash: HASH,
      proposedBy: PLANNER,
    });
    expect(startOf(told, 'a')).toMatchObject({ judge: true, command: command('true') });
  });

  it.each(['runbook', 'rule'] as const)('a plan of a %s is trusted like a request', (source) => {
    const told = goal(plan, (editId, edits) => propose(editId, edits, {}, { source }));
    const data = told.events.find(({ type }) => type === 'CONSTELLATION_MODIFIED')?.data;
    expect(data).toMatchObject({ source });
    expect(data).not.toHaveProperty('judgeCommands');
    expect(startOf(told, 'a')).not.toHaveProperty('judge');
  });

  it.each([
    { who: 'a person', by: ALICE, delegated: false, isJudged: false },
    { who: 'an external system', by: { kind: 'external', id: 'ops' } as const, delegated: false, isJudged: false },
    { who: 'a program', by: PLANNER, delegated: false, isJudged: true },
    { who: 'somebody whom a person let act for him', by: ALICE, delegated: true, isJudged: true },
  ])('an edit of $who, sent as a verb, is judged: $isJudged', ({ by, delegated, isJudged }) => {
    const told = story()
      .when(submit(plan))
      .when(insert([add.task('n')], { by, delegated }));
    expect(judged(told, 'n')).toBe(isJudged);
    const data = told.events.findLast(({ type }) => type === 'CONSTELLATION_MODIFIED')?.data;
    expect(data).toMatchObject({ proposedBy: by });
    expect(data).not.toHaveProperty('source');
    expect(data).not.toHaveProperty('used');
  });

  it('marks what a model defines, and leaves alone what it names only', () => {
    const told = story().when(submit(constellation(['a', 'b', 'c', 'd', 'e'], ['a->b', 'a->c', 'a->d', 'a->e'])));
    const restated = constellation(
      ['a', 'b', { id: 'c', tips: ['look twice'] }, 'd', 'e'],
      ['a->b', 'a->c', 'a->d', 'a->e'],
    );
    told.when(
      insert(
        [
          build(restated),
          change.task('b', { command: command('reboot') }),
          change.task('d', { verify: { command: command('test -e /srv/done') } }),
          change.task('e', { priority: 3 }),
        ],
        { delegated: true },
      ),
    );
    expect(['a', 'b', 'c', 'd', 'e'].map((id) => judged(told, id))).toEqual([false, true, false, true, false]);
  });

  it('marks a command that a model lets run on another device: it was written for the first one', () => {
    const told = story().when(
      submit(
        constellation(
          ['a', { id: 'b', target: { device: 'web-2' } }, { id: 'c', target: { device: 'db-1' } }],
          ['a->b'],
        ),
      ),
    );
    told.when(insert([change.task('b', { target: { device: 'db-1' } })], { delegated: true }));
    expect(judged(told, 'b')).toBe(true);
    told.when(completed('a'));
    expect(startOf(told, 'b')).toMatchObject({ deviceId: 'db-1', judge: true });
  });

  it('marks what a model lets write on the board: a command reads there by name', () => {
    const told = story().when(submit(constellation(['a', 'b'], ['a->b'])));
    told.when(insert([change.task('b', { board: [{ name: 'host', field: 'stdout' }] })], { delegated: true }));
    expect([judged(told, 'a'), judged(told, 'b')]).toEqual([false, true]);
    expect(startOf(told.when(completed('a')), 'b')).toMatchObject({ judge: true });
  });

  const reads = (line: string, ...from: string[]) => ({
    tool: 'EXEC_CLI',
    arguments: { command: line, stdin: { from } },
  });

  it('marks what reads from a task that a model rewrites, and what reads from that: a shell does what it is told', () => {
    const told = story().when(
      submit(
        constellation(
          [
            'x',
            { id: 'a', command: command('cat script') },
            { id: 'b', command: reads('cat', 'a') },
            { id: 'c', command: reads('sh', 'b') },
            { id: 'd', command: reads('sh', 'x') },
            'e',
          ],
          ['x->a', 'a->b', 'b->c', 'x->d', 'a->e'],
        ),
      ),
    );
    told.when(insert([change.task('a', { command: command('echo reboot') })], { delegated: true }));
    expect(['a', 'b', 'c', 'd', 'e'].map((id) => judged(told, id))).toEqual([true, true, true, false, false]);
    told.when(completed('x')).when(completed('a')).when(completed('b'));
    expect(startOf(told, 'c')).toMatchObject({ judge: true, command: reads('sh', 'b') });
    expect(startOf(told, 'd')).not.toHaveProperty('judge');
  });

  it('marks what reads from an agent to which a model says something else', () => {
    const told = story().when(
      submit(
        constellation(
          [
            { id: 'a', command: undefined, description: 'write the script' },
            { id: 'b', command: reads('sh', 'a') },
            'c',
          ],
          ['a->b', 'c->a'],
        ),
      ),
    );
    told.when(insert([change.task('a', { priority: 2 })], { delegated: true }));
    expect(judged(told, 'b')).toBe(false);
    told.when(insert([change.task('a', { description: 'write: reboot' })], { delegated: true }));
    expect(judged(told, 'b')).toBe(true);
  });

  const guarded = () =>
    story().when(
      submit(constellation(['x', 'check', 'drop', 'report', 'note'], ['x->check', 'check=>drop', 'drop=>report'])),
    );

  it.each([
    { what: 'takes the check away', edits: [remove.task('check')], marked: ['drop', 'report'] },
    { what: 'takes its line away', edits: [remove.line('check-drop')], marked: ['drop', 'report'] },
    {
      what: 'lets it run whatever the check says',
      edits: [change.line('check-drop', { type: 'unconditional' })],
      marked: ['drop', 'report'],
    },
    {
      what: 'rewrites the check',
      edits: [change.task('check', { command: command('true # sure') })],
      marked: ['check', 'drop', 'report'],
    },
    { what: 'lets it wait for more', edits: [add.line('note=>drop')], marked: [] },
    { what: 'touches nothing of it', edits: [change.task('check', { priority: 2, tips: ['look twice'] })], marked: [] },
  ])('marks what a person let run only after a check when a model $what', ({ edits, marked }) => {
    const told = guarded().when(insert(edits, { delegated: true }));
    expect(told.answers.at(-1)).toEqual({ kind: 'accepted' });
    expect(['x', 'check', 'drop', 'report', 'note'].filter((id) => judged(told, id) === true)).toEqual(marked);
    expect(guarded().when(insert(edits)).run.tasks.at(2).judged).toBe(false);
  });

  it('marks a command that a model lets run again when nobody knows whether it ran', () => {
    const told = story().when(submit(constellation(['a', 'b', 'c'], ['a->b', 'a->c'])));
    told.when(
      insert([change.task('b', { idempotent: true }), change.task('c', { retry: { attempts: 2, backoffMs: 0 } })], {
        delegated: true,
      }),
    );
    expect([judged(told, 'b'), judged(told, 'c')]).toEqual([true, false]);
  });

  it('keeps the mark when a person changes another part, over retries, and in a fork', () => {
    const told = goal(constellation(['a', { id: 'b', retry: { attempts: 2, backoffMs: 0 } }], ['a->b']));
    told.when(insert([change.task('b', { priority: 1 })]), completed('a'));
    told.when(propose('e2', []));
    expect(startOf(told, 'b')).toMatchObject({ attempt: 1, judge: true });
    told.when(failed('b'));
    expect(startOf(told, 'b')).toMatchObject({ attempt: 2, judge: true });
    const parent = { ...told.run, number: 1, sequence: told.events.length, hash: HASH };
    const forked = forkedFrom({ run: parent, by: ALICE, requestId: 'f', now: T0 });
    const event = { id: 'f-1', sequence: 1, schemaVersion: 1, type: 'RUN_FORKED', data: forked };
    expect(RecordedRunEvent.parse(event)).toEqual(event);
    const fork = story().from(emptyRun('run-2')).when({ kind: 'fork', id: 'f', forked });
    expect(judged(fork, 'b')).toBe(true);
    expect(fork.run.scope).toEqual(told.run.scope);
  });

  it('an old history says nothing of it, and nothing is judged in it', () => {
    const told = story().when(submit(plan));
    expect(told.events.some(({ data }) => 'judge' in data || 'judgeCommands' in data)).toBe(false);
  });
});

describe('the scope of a plan', () => {
  const at = (id: string, target: Target) => ({ id, target });

  it('is where the tasks of a request run', () => {
    const told = story().when(
      submit(constellation([at('a', { device: 'web-1' }), at('b', { tags: ['db'] }), at('c', { device: 'web-1' })])),
    );
    expect(told.run.scope).toEqual([{ device: 'web-1' }, { tags: ['db'] }]);
  });

  it('is where the plan of a goal runs, and what it keeps in reserve', () => {
    const told = story()
      .when(ask())
      .when(imagine('e1', [build(constellation(['a']))], { spare: [{ device: 'web-2' }] }));
    expect(told.run.scope).toEqual([{ device: 'web-1' }, { device: 'web-2' }]);
    expect(told.events.findLast(({ type }) => type === 'CONSTELLATION_MODIFIED')?.data).toMatchObject({
      spare: [{ device: 'web-2' }],
    });
  });

  it('is the same of a plan that took more than one try', () => {
    const told = story().when(ask());
    told.when(imagine('e1', [build(constellation([at('a', { device: 'nobody' })]))], { spare: [{ device: 'db-1' }] }));
    expect(told.run.scope).toBeNull();
    told.when(imagine('e1', [build(constellation(['a']))], { try: 2 }));
    expect(told.run.scope).toEqual([{ device: 'web-1' }]);
  });

  const PLAN = constellation(
    [at('a', { device: 'web-1' }), at('b', { os: 'linux', tags: ['db'], resources: { memoryMb: 512 } }), 'z'],
    ['a->b', 'a->z'],
  );

  it.each([
    { what: 'the same device', target: { device: 'web-1' } },
    {
      what: 'the same selector, whatever its order',
      target: { tags: ['db'], resources: { memoryMb: 512 }, os: 'linux' },
    },
    { what: 'a device that the selector means', target: { device: 'db-1' } },
    {
      what: 'a selector that demands more',
      target: { os: 'linux', tags: ['db'], capabilities: ['sql'], resources: { memoryMb: 1_000, cpuCount: 1 } },
    },
  ])('covers $what', ({ target }) => {
    const told = story()
      .when(submit(PLAN))
      .when(insert([add.task('n', { target })], { delegated: true }));
    expect(told.answers.at(-1)).toEqual({ kind: 'accepted' });
    expect(told.run.scope).toEqual([{ device: 'web-1' }, { os: 'linux', tags: ['db'], resources: { memoryMb: 512 } }]);
  });

  it.each([
    { what: 'another device', target: { device: 'web-2' } },
    { what: 'a selector that demands less', target: { os: 'linux', tags: ['db'] } },
    { what: 'a selector that lacks a tag', target: { os: 'linux', resources: { memoryMb: 512 } } },
    { what: 'a selector for another system', target: { os: 'openbsd', tags: ['db'], resources: { memoryMb: 512 } } },
    { what: 'a selector that a device of the plan satisfies', target: { capabilities: ['cli'] } },
  ])('does not cover $what', ({ target }) => {
    const told = story()
      .when(submit(PLAN))
      .when(insert([add.task('n', { target })], { delegated: true }));
    expect(told.answers.at(-1)).toMatchObject({
      kind: 'rejected',
      reason: {
        code: 'EDIT_REJECTED',
        issues: [
          {
            path: 'edits[0].task.target',
            message: expect.stringContaining(
              'valid are device "web-1", {"os":"linux","tags":["db"],"resources":{"memoryMb":512}}',
            ),
          },
        ],
      },
    });
  });

  it('binds what a model changes, wherever in its batch', () => {
    const told = goal(constellation(['a', 'b', 'c'], ['a->b', 'a->c']));
    told.when(completed('a'));
    const elsewhere = { target: { device: 'db-1' } };
    told.when(
      imagine('e2', [
        change.task('b', elsewhere),
        build(
          constellation(
            [
              { id: 'c', ...elsewhere },
              { id: 'n', ...elsewhere },
            ],
            ['c->n'],
          ),
          false,
        ),
      ]),
    );
    expect(told.told).toEqual(['EDIT_REJECTED e2 try 1 OUT_OF_SCOPE OUT_OF_SCOPE OUT_OF_SCOPE']);
    expect(told.last?.events[0]).toMatchObject({
      data: {
        violations: [
          { path: 'edits[0].change.target' },
          { path: 'edits[1].constellation.tasks[0].target' },
          { path: 'edits[1].constellation.tasks[1].target' },
        ],
      },
    });
    expect(told.run.editing?.tries).toBe(1);
  });

  it('says no more than a few times how a batch of a thousand tasks leaves it', () => {
    const told = goal(constellation(['a', 'b'], ['a->b']));
    told.when(completed('a'));
    told.when(
      imagine(
        'e2',
        Array.from({ length: 1_000 }, (_, at) => add.task(`n${at}`, { target: { device: 'pay-1' } })),
      ),
    );
    const [refused] = told.last?.events ?? [];
    expect(refused).toMatchObject({ type: 'EDIT_REJECTED', data: { violations: { length: 20 } } });
  });

  it('says nothing of a task that the same batch takes away', () => {
    const told = goal(constellation(['a', 'b'], ['a->b']));
    told.when(completed('a'));
    told.when(imagine('e2', [add.task('n', { target: { device: 'db-1' } }), remove.task('n')]));
    expect(told.told[0]).toBe('CONSTELLATION_MODIFIED e2 revision 2');
  });

  it('is widened by what a person adds or lets run elsewhere, and then a model may go there', () => {
    const told = goal(constellation(['a', 'b'], ['a->b']));
    told.when(
      insert([add.task('n', { target: { device: 'db-1' } }), change.task('b', { target: { device: 'web-2' } })]),
    );
    expect(told.run.scope).toEqual([{ device: 'web-1' }, { device: 'db-1' }, { device: 'web-2' }]);
    told.when(completed('a')).when(imagine('e2', [add.task('m', { target: { device: 'web-2' } })]));
    expect(told.status('m')).toBeDefined();
  });

  it('is not widened by what a model keeps in reserve later', () => {
    const told = goal(constellation(['a', 'b'], ['a->b']));
    told.when(completed('a')).when(imagine('e2', [], { spare: [{ device: 'db-1' }] }));
    expect(told.run.scope).toEqual([{ device: 'web-1' }]);
    expect(told.last?.events[0]?.data).not.toHaveProperty('spare');
  });

  it('does not bind a person, a runbook or a rule', () => {
    const elsewhere = [add.task('n', { target: { device: 'db-1' } })];
    for (const source of ['runbook', 'rule'] as const) {
      const told = goal(constellation(['a', 'b'], ['a->b']));
      told.when(completed('a')).when(propose('e2', elsewhere, {}, { source }));
      expect(told.status('n')).toBe('RUNNING');
      expect(checkInvariants(told.run)).toEqual([]);
    }
  });

  it('is nothing in a run that was forked before there was one: everywhere is valid', () => {
    const told = story().when(submit(constellation(['a'])));
    const { scope: _, ...forked } = forkedFrom({
      run: { ...told.run, number: 1, sequence: 3, hash: HASH },
      by: ALICE,
      requestId: 'f',
      now: T0,
    });
    const fork = story()
      .from(emptyRun('run-2'))
      .when({ kind: 'fork', id: 'f', forked }, verb({ verb: 'RETRY', taskId: 'a' }));
    expect(fork.run.scope).toBeNull();
    fork.when(insert([add.task('n', { target: { device: 'db-1' } })], { delegated: true }));
    expect(fork.status('n')).toBe('RUNNING');
    expect(fork.run.scope).toBeNull();
  });
});

describe('a value that a model wrote', () => {
  const reads = (line: string, ...from: (string | { task: string; field: string })[]) => ({
    tool: 'EXEC_CLI',
    arguments: { command: line, stdin: { from } },
  });
  const agent = (id: string) => ({ id, command: undefined });

  it('keeps its mark in the hands of a command that a person wrote, however many commands it goes through', () => {
    const told = story().when(
      submit(
        constellation(
          [
            agent('says'),
            { id: 'log', command: command('cat /var/log/syslog') },
            { id: 'cleaned', command: reads('tr -d x', 'says') },
            { id: 'run', command: reads('sh', { task: 'cleaned', field: 'stdout' }) },
            { id: 'mixed', command: reads('sort', 'log', 'says') },
            { id: 'counted', command: reads('wc -l', 'log') },
          ],
          ['says->cleaned', 'cleaned->run', 'log->mixed', 'says->mixed', 'log->counted'],
        ),
      ),
    );
    told.when(completed('says')).when(completed('log')).when(completed('cleaned'));
    expect(startOf(told, 'cleaned')).toMatchObject({ judge: true });
    expect(startOf(told, 'run')).toMatchObject({ judge: true });
    expect(startOf(told, 'mixed')).toMatchObject({ judge: true });
    expect(startOf(told, 'log')).not.toHaveProperty('judge');
    expect(startOf(told, 'counted')).not.toHaveProperty('judge');
  });

  it('is what a command prints that a model wrote, also for a person who adds what reads it later', () => {
    const told = story().when(submit(constellation(['first', 'last'], ['first->last'])));
    told.when(insert([add.task('a', { command: command('echo reboot') })], { delegated: true }));
    told.when(insert([add.task('b', { command: reads('sh', 'a') }), add.line('a->b')])).when(completed('a'));
    expect(judged(told, 'b')).toBe(false);
    expect(startOf(told, 'b')).toMatchObject({ judge: true });
  });

  it('keeps its mark in another try, and in a fork', () => {
    const told = story().when(
      submit(
        constellation(
          [
            agent('says'),
            { id: 'run', command: reads('sh', 'says'), retry: { attempts: 2, backoffMs: 0 }, idempotent: true },
          ],
          ['says->run'],
        ),
      ),
    );
    told.when(completed('says')).when(failed('run'));
    const starts = told.events.flatMap((event) => (event.type === 'TASK_STARTED' ? [event.data] : []));
    expect(starts.filter(({ taskId }) => taskId === 'run').map(({ judge }) => judge)).toEqual([true, true]);
    const parent = { ...told.when(failed('run', 2)).run, number: 1, sequence: told.events.length, hash: HASH };
    const forked = forkedFrom({ run: parent, by: ALICE, requestId: 'f', now: T0 });
    const fork = story()
      .from(emptyRun('run-2'))
      .when({ kind: 'fork', id: 'f', forked }, verb({ verb: 'RETRY', taskId: 'run' }));
    expect(startOf(fork, 'run')).toMatchObject({ judge: true });
  });

  it('is never a part of the command itself: what starts is what stands in the plan, whatever was said before', () => {
    const told = story().when(
      submit(
        constellation(
          [agent('says'), { id: 'run', command: command('echo ${says} {{ says }} $says') }],
          ['says?result.contains("yes")>run'],
        ),
      ),
    );
    told.when(completed('says', 1, 'yes; $(reboot)'));
    expect(startOf(told, 'run')).toMatchObject({ command: command('echo ${says} {{ says }} $says') });
  });
});
