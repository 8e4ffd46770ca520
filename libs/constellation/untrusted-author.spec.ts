import { describe, expect, it } from '@jest/globals';
import { RecordedRunEvent, type RunEventData, type TaskConstellation } from '#proto';
import { forkedFrom } from './fold/fork.js';
import { emptyRun, findTask } from './state/run.js';
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
  propose,
  remove,
  Story,
  submit,
  T0,
  withAgents,
} from './testing/given.js';
import { judgingText } from './views/view.js';

/* Alice asks. She is a requester: what she writes is judged like what a model writes, whichever way it comes. */

const FLEET = withAgents(fleet([device('web-1'), device('web-2'), device('db-1', { tags: ['db'] })]));
const BOB = { kind: 'person', id: 'bob' } as const;
const REQUESTER = ['viewer', 'requester'] as const;
const OPERATOR = ['requester', 'operator'] as const;
const story = () => new Story().on(FLEET);
const command = (line: string, more: object = {}) => ({ tool: 'EXEC_CLI', arguments: { command: line, ...more } });
const judged = (told: Story, taskId: string) => findTask(told.run, taskId)?.judged;
const marked = (told: Story) => [...told.run.tasks].flatMap(({ star, judged: is }) => (is ? [star.id] : []));
const startOf = (told: Story, taskId: string) =>
  told.events.findLast((event) => event.type === 'TASK_STARTED' && event.data.taskId === taskId)?.data;
const hers: Partial<RunEventData<'RUN_REQUESTED'>> = { requestedBy: ALICE, judgeCommands: true };
/** Asked for while she was an operator. */
const trusted: Partial<RunEventData<'RUN_REQUESTED'>> = { requestedBy: ALICE };
const asks = (plan: TaskConstellation, change: Partial<RunEventData<'RUN_REQUESTED'>> = {}) =>
  story().when(submit(plan, { ...hers, ...change }));
const hersNow = (edits: readonly unknown[]) => insert(edits, { by: ALICE, roles: REQUESTER });

describe('a request of who is no operator', () => {
  const plan = constellation(
    ['a', { id: 'b', verify: { command: command('test -e /srv/done') } }, { id: 'agent', command: undefined }],
    ['a->b', 'a->agent'],
  );

  it('is judged, every command and check of it, on every try', () => {
    const told = asks(constellation([{ id: 'a', retry: { attempts: 2, backoffMs: 0 } }, 'b'], ['a->b']));
    expect(marked(told)).toEqual(['a', 'b']);
    expect(startOf(told, 'a')).toMatchObject({ attempt: 1, judge: true, command: command('true') });
    told.when(failed('a'));
    expect(startOf(told, 'a')).toMatchObject({ attempt: 2, judge: true });
    told.when(completed('a', 2));
    expect(startOf(told, 'b')).toMatchObject({ judge: true });
  });

  it('says so in one fact, that a history without it does not have', () => {
    const fact = { id: 'run-1-1', sequence: 1, schemaVersion: 1, type: 'RUN_REQUESTED' };
    const [first] = asks(plan).events;
    expect(RecordedRunEvent.parse({ ...fact, data: first?.data })).toMatchObject({ data: { judgeCommands: true } });
    expect(marked(asks(plan, { judgeCommands: undefined }))).toEqual([]);
  });

  it('says which commands are judged, and why', () => {
    expect(judgingText(asks(plan).run)).toBe('every exact command: alice was no operator when it was requested');
    const operators = story().when(submit(plan, trusted));
    expect(judgingText(operators.run)).toBeUndefined();
    operators.when(hersNow([change.task('b', { command: command('reboot') })]));
    expect(judgingText(operators.run)).toMatch(/^the commands of b: a model may have written them, or somebody/u);
    expect(judgingText(asks(plan, { options: { judge: 'all' } }).run)).toMatch(/^every exact command/u);
  });

  it('is the same run with the same marks when it comes again, whatever she has become', () => {
    const told = asks(plan);
    told.when(submit(plan, trusted));
    expect([told.answers.at(-1), told.last?.events]).toEqual([{ kind: 'accepted' }, []]);
    expect(marked(told)).toEqual(['a', 'b', 'agent']);
    const other = story().when(submit(plan, trusted), submit(plan, hers));
    expect(other.answers).toEqual([{ kind: 'accepted' }, { kind: 'accepted' }]);
    expect(marked(other)).toEqual([]);
  });

  it.each(['runbook', 'rule', 'model'] as const)('for a goal: what a %s makes of it is judged', (source) => {
    const told = story()
      .when(ask(hers))
      .when(propose('e1', [build(plan)], {}, { source }));
    expect(told.events.find(({ type }) => type === 'CONSTELLATION_MODIFIED')?.data).toMatchObject({
      source,
      judgeCommands: true,
    });
    expect(startOf(told, 'a')).toMatchObject({ judge: true });
    const operators = story()
      .when(ask(trusted))
      .when(propose('e1', [build(plan)], {}, { source }));
    expect(judged(operators, 'a')).toBe(source === 'model');
  });
});

describe('an edit', () => {
  const plan = constellation(['now', 'a', 'b'], ['now->a', 'a->b']);

  it('of the requester is judged, in a run that she asked for as an operator, too', () => {
    const told = story().when(submit(plan, trusted), hersNow([add.task('n', { target: { device: 'web-1' } })]));
    expect(marked(told)).toEqual(['n']);
    expect(told.events.findLast(({ type }) => type === 'CONSTELLATION_MODIFIED')?.data).toMatchObject({
      proposedBy: ALICE,
      judgeCommands: true,
    });
  });

  it('of who has become an operator is believed, and what was written before stays judged', () => {
    const told = asks(plan).when(insert([add.task('n'), change.task('b', { priority: 2 })], { roles: OPERATOR }));
    expect(marked(told)).toEqual(['now', 'a', 'b']);
    expect(judged(told, 'n')).toBe(false);
  });

  it('of another operator in her run is believed', () => {
    const told = asks(plan).when(insert([add.task('n')], { by: BOB, roles: OPERATOR }));
    expect([judged(told, 'n'), judged(told, 'a')]).toEqual([false, true]);
  });

  it('goes nowhere but where the plan was made for', () => {
    const told = asks(plan).when(hersNow([add.task('n', { target: { device: 'db-1' } })]));
    expect(told.answers.at(-1)).toMatchObject({
      kind: 'rejected',
      reason: { issues: [{ path: 'edits[0].task.target' }] },
    });
    expect(told.run.scope).toEqual([{ device: 'web-1' }]);
  });

  it.each(['model', 'grant'] as const)('of a %s is judged, whoever has let it', (who) => {
    const told = story().when(submit(plan, trusted), insert([add.task('n')], { delegated: true, roles: OPERATOR }));
    if (who === 'model') told.when(imagine(null, [add.task('m')]));
    expect(judged(told, 'n')).toBe(true);
  });

  const reads = (line: string, ...from: string[]) => command(line, { stdin: { from } });
  const operators = () =>
    story().when(
      submit(
        constellation(
          ['x', 'check', { id: 'sh', command: reads('sh', 'x') }, 'guarded', 'free'],
          ['x->sh', 'check=>guarded', 'x->free'],
        ),
        { ...trusted, options: { concurrency: 1 } },
      ),
    );

  it.each<[string, unknown[], string[]]>([
    ['a command', [change.task('free', { command: command('reboot') })], ['free']],
    ['a check', [change.task('free', { verify: { command: command('reboot') } })], ['free']],
    [
      'where it runs',
      [add.task('n'), change.task('free', { target: { device: 'web-1' }, idempotent: true })],
      ['n', 'free'],
    ],
    ['what a shell reads', [change.task('check', { command: command('echo reboot') })], ['check', 'guarded']],
    ['a condition', [change.line('check-guarded', { type: 'unconditional' })], ['guarded']],
    ['a check away', [remove.line('check-guarded')], ['guarded']],
  ])('of hers that changes %s leaves nothing unmarked that she can influence', (_, edits, expected) => {
    const told = operators().when(hersNow(edits));
    expect(told.answers.at(-1)).toEqual({ kind: 'accepted' });
    expect(new Set(marked(told))).toEqual(new Set(expected));
  });
});

describe('what may be done with her run', () => {
  const plan = constellation(['a', 'b'], ['a->b']);

  it('she may not fork it; the fork of an operator keeps the marks, and her goal stays hers in it', () => {
    const told = asks(plan);
    const parent = { ...told.run, number: 1, sequence: told.events.length, hash: HASH };
    const forked = forkedFrom({ run: parent, by: BOB, requestId: 'f', now: T0 });
    const event = { id: 'f-1', sequence: 1, schemaVersion: 1, type: 'RUN_FORKED', data: forked };
    expect(RecordedRunEvent.parse(event)).toEqual(event);
    const fork = story().from(emptyRun('run-2')).when({ kind: 'fork', id: 'f', forked });
    expect(judged(fork, 'b')).toBe(true);
    expect(fork.run.request).toMatchObject({ requestedBy: BOB, judgeCommands: true });
    expect(judgingText(fork.run)).toMatch(/: who asked for the run that it goes on from was no operator$/u);
  });
});
