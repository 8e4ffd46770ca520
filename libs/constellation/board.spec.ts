import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { BoardName, LIMITS, type Actor, type Json, type Role, type RunEventData } from '#proto';
import { boardValues, boardWrite, NO_BOARD, shownBoard, withWritten, type Board } from './board/index.js';
import { foldEvents, forkedFrom } from './fold/index.js';
import { validateConstellation } from './plan/index.js';
import { completed, constellation, device, fleet, Story, submit, T0, verb, withAgents } from './testing/given.js';

const person = (id: string): Actor => ({ kind: 'person', id });
const ANNA = person('anna');
const AGENTS: Actor = { kind: 'system', id: 'device-agent' };
const FLEET = withAgents(fleet([device('web-1')]));

interface Write {
  readonly revision?: number;
  readonly by?: Actor;
  readonly roles?: readonly Role[];
  readonly delegated?: true;
  readonly attempt?: { taskId: string; attempt: number };
}
let ids = 0;
const set = (name: string, value: Json, { by = ANNA, roles = ['operator'], ...more }: Write = {}) =>
  ({ ...verb({ verb: 'BOARD_SET', name, value, ...more }, `v${ids++}`, by), roles }) as ReturnType<typeof verb>;
const off = (name: string, { by = ANNA, ...more }: Pick<Write, 'revision' | 'by'> = {}) =>
  verb({ verb: 'BOARD_DELETE', name, ...more }, `v${ids++}`, by);
const valuesOf = ({ run }: Story) => boardValues(run);
const lastOf = (story: Story) => story.answers.at(-1);
const begun = (plan = constellation(['a', 'b'], ['a->b'])) =>
  new Story().on(FLEET).when(submit(plan, { requestedBy: ANNA }));
const startOf = (story: Story, taskId: string): RunEventData<'TASK_STARTED'> | undefined =>
  story.events.flatMap(({ type, data }) => (type === 'TASK_STARTED' && data.taskId === taskId ? [data] : [])).at(-1);

describe('a write to the board', () => {
  it('is a fact with its author and a revision that counts all writes', () => {
    const story = begun().when(set('free', 120), set('hosts', ['db-1']), set('free', 90));
    expect(story.told).toEqual(['BOARD_WRITTEN free 1', 'BOARD_WRITTEN hosts 2', 'BOARD_WRITTEN free 3']);
    expect(valuesOf(story)).toEqual({ free: 90, hosts: ['db-1'] });
    expect(story.run.board.entries.get('free')).toMatchObject({ by: ANNA, revision: 3 });
    expect(lastOf(story)).toMatchObject({ kind: 'accepted', board: { revision: 3, value: 90 } });
  });

  it('that has seen another revision is answered with the current one, and changes nothing', () => {
    const story = begun()
      .when(set('free', 120))
      .when(set('free', 90, { revision: 7 }));
    expect(story.told).toEqual([]);
    expect(lastOf(story)).toMatchObject({
      kind: 'rejected',
      reason: { code: 'CONFLICT', message: expect.stringContaining('it is at revision 1 now') },
      board: { name: 'free', revision: 1, value: 120 },
    });
    expect(lastOf(story.when(set('free', 1, { revision: 0 })))).toMatchObject({ kind: 'rejected' });
    expect(lastOf(story.when(set('new', 1, { revision: 3 })))).toMatchObject({ kind: 'rejected', board: null });
    expect(lastOf(story.when(set('free', 90, { revision: 1 })))).toMatchObject({ kind: 'accepted' });
  });

  it('of two that have seen the same one is taken', () => {
    const story = begun().when(set('n', 0));
    story.when(set('n', 'mine', { revision: 1 }), set('n', 'yours', { revision: 1 }));
    expect(story.answers.slice(-2).map(({ kind }) => kind)).toEqual(['accepted', 'rejected']);
  });

  it('comes to the same once, however often its id comes', () => {
    const one = set('n', 1, { revision: 0 });
    const story = begun().when(one).when(one);
    expect(lastOf(story)).toMatchObject({ kind: 'accepted' });
    expect(story.run.board.revision).toBe(1);
  });

  it('takes a value off, and a revision is never given twice', () => {
    const story = begun()
      .when(set('n', 1))
      .when(off('n', { revision: 1 }));
    expect(valuesOf(story)).toEqual({});
    expect(lastOf(story)).toMatchObject({ kind: 'accepted', board: null });
    expect(lastOf(story.when(off('n')))).toEqual({ kind: 'ignored', reason: 'NOT_ON_BOARD' });
    story.when(set('n', 2));
    expect(lastOf(story.when(set('n', 3, { revision: 1 })))).toMatchObject({ board: { revision: 3 } });
  });

  it('makes its writer an author, who approves nothing in the run', () => {
    const story = begun()
      .approvedBy('bert')
      .when(set('n', 1, { by: person('bert') }));
    expect(story.run.authors.map(({ part }) => part)).toEqual(['requested', 'wrote']);
    expect(JSON.stringify(lastOf(story))).toContain('somebody else approves');
  });

  it('to a run that has ended is refused, with what can be done', () => {
    const story = begun(constellation(['a']))
      .when(completed('a'))
      .when(set('n', 1));
    expect(JSON.stringify(lastOf(story))).toContain('the run is COMPLETED, and its board stays as it is');
  });

  it('of an attempt counts while that attempt runs', () => {
    const of = (attempt: number) => set('n', attempt, { by: AGENTS, attempt: { taskId: 'a', attempt } });
    const story = begun().when(of(1));
    expect(story.told).toEqual(['BOARD_WRITTEN n 1 judged']);
    expect(JSON.stringify(lastOf(story.when(of(2))))).toContain('attempt 2 of \\"a\\" does not run');
    expect(JSON.stringify(lastOf(story.when(completed('a')).when(of(1))))).toContain('does not run');
  });

  it.each<[string, Json, string]>([
    ['a value of 64 KiB and a byte', 'x'.repeat(64 * 1024 - 1), 'it has 65537 bytes as JSON; at most 65536 are taken'],
    ['a value that is nested too deep', JSON.parse(`${'['.repeat(33)}${']'.repeat(33)}`), 'nested deeper than 32'],
  ])('of %s is refused with one sentence', (_, value, why) => {
    expect(JSON.stringify(lastOf(begun().when(set('n', value))))).toContain(why);
  });

  it('under the name of the notes is refused', () => {
    expect(JSON.stringify(lastOf(begun().when(set('notes', 1))))).toContain('what agents have noted');
  });

  it.each(['__proto__', '', 'a.b', 'a b', '1a', 'ä', 'a\n', 'a\u0000', 'x'.repeat(65)])('%j is no name', (name) => {
    expect(BoardName.safeParse(name).success).toBe(false);
  });

  it.each(['constructor', 'toString', 'hasOwnProperty'])('%s is a name like any other', (name) => {
    const condition = `board.${name} == "mine"`;
    const story = (value: string) =>
      begun(constellation(['a', 'b'], [`a?${condition}>b`]))
        .when(set(name, value))
        .when(completed('a'));
    expect(story('mine').told).toContain('TASK_STARTED b 1 on web-1');
    expect(story('yours').told).toContain('TASK_SKIPPED b by condition');
    const without = begun(constellation(['a', 'b'], [`a?has(board.${name})>b`])).when(completed('a'));
    expect(without.told).toContain('TASK_SKIPPED b by condition');
  });
});

describe('the limits of a board', () => {
  const by = { by: ANNA, judge: false, at: new Date(T0).toISOString() };
  const put = (board: Board, name: string, value?: Json): Board => {
    const written = boardWrite(board, { name, value }, by);
    return written.kind === 'written' ? withWritten(board, written.data) : board;
  };

  it('hold whatever is written: names, bytes and revisions', () => {
    const value = fc.oneof(fc.string({ maxLength: 50 }), fc.integer(), fc.constant('y'.repeat(60_000)));
    const write = fc.record({
      name: fc.integer({ min: 0, max: 400 }).map((n) => `n${n}`),
      value: fc.option(value, { nil: undefined, freq: 4 }),
      seen: fc.option(fc.integer({ min: 0, max: 30 }), { nil: undefined }),
    });
    fc.assert(
      fc.property(fc.array(write, { maxLength: 60 }), (writes) => {
        let board = NO_BOARD;
        for (const { name, value: to, seen } of writes) {
          const before = board.entries.get(name)?.revision ?? 0;
          const written = boardWrite(board, { name, value: to, revision: seen }, by);
          if (seen !== undefined && seen !== before) expect(written.kind).toBe('rejected');
          if (written.kind !== 'written') continue;
          expect(written.data.revision).toBe(board.revision + 1);
          board = withWritten(board, written.data);
          const bytes = [...board.entries.values()].reduce((sum, one) => sum + JSON.stringify(one.value).length, 0);
          expect(board.bytes).toBe(bytes);
          expect(bytes).toBeLessThanOrEqual(LIMITS.boardBytesMax);
        }
      }),
      { seed: 7, numRuns: 100 },
    );
  });

  it('are told: too many values, too many bytes together, too many writes', () => {
    let wide = NO_BOARD;
    for (let n = 0; n < LIMITS.boardEntriesMax; n++) wide = put(wide, `n${n}`, n);
    expect(boardWrite(wide, { name: 'more', value: 1 }, by)).toMatchObject({
      reason: { message: expect.stringContaining('256 values stand on the board') },
    });
    expect(boardWrite(wide, { name: 'n7', value: 1 }, by).kind).toBe('written');
    let full = NO_BOARD;
    for (let n = 0; n < 17; n++) full = put(full, `n${n}`, 'x'.repeat(64 * 1024 - 2));
    expect(full.entries.size).toBe(16);
    expect(boardWrite(full, { name: 'more', value: 'x' }, by)).toMatchObject({
      reason: { message: expect.stringContaining('take something off first') },
    });
    expect(boardWrite(put(full, 'n3'), { name: 'more', value: 'x' }, by).kind).toBe('written');
    const often = { ...NO_BOARD, revision: LIMITS.boardWritesMax };
    expect(boardWrite(often, { name: 'n', value: 1 }, by)).toMatchObject({
      reason: { message: expect.stringContaining('was written 10000 times') },
    });
    const much = { ...NO_BOARD, written: LIMITS.boardWrittenBytesMax };
    expect(boardWrite(much, { name: 'n', value: 1 }, by)).toMatchObject({ kind: 'rejected' });
  });

  it('hold for 10,000 writes, of which the last one is refused', () => {
    let board = NO_BOARD;
    for (let n = 0; n <= LIMITS.boardWritesMax; n++) board = put(board, 'n', n);
    expect([board.revision, board.entries.get('n')?.value]).toEqual([10_000, 9_999]);
  });
});

describe('a value that a model may have written', () => {
  const takes = { command: { tool: 'EXEC_CLI', arguments: { command: 'sh', stdin: { board: 'script' } } } };
  const plan = constellation(['a', { id: 'b', ...takes }, { id: 'c', command: pipe('b') }], ['a->b', 'b->c']);
  function pipe(from: string) {
    return { tool: 'EXEC_CLI', arguments: { command: 'sh', stdin: { from: [from] } } };
  }
  const after = (...writes: ReturnType<typeof set>[]) =>
    begun(plan)
      .when(...writes)
      .when(completed('a'));

  it('goes into the order as it stands, and the command is judged', () => {
    const story = after(set('script', 'rm -rf /', { by: AGENTS, attempt: { taskId: 'a', attempt: 1 } }));
    expect(startOf(story, 'b')).toMatchObject({ judge: true, command: { arguments: { stdin: 'rm -rf /' } } });
    expect(startOf(story.when(completed('b')), 'c')).toMatchObject({ judge: true });
  });

  it.each<[string, Write]>([
    ['a program with a grant', { delegated: true }],
    ['a system', { by: { kind: 'system', id: 'planner' } }],
    ['who is no operator', { roles: ['requester'] }],
  ])('is that of %s, too', (_, write) => {
    expect(startOf(after(set('script', 'ls', write)), 'b')).toMatchObject({ judge: true });
  });

  it('is not that of an operator, who writes what runs', () => {
    const story = begun(plan).when(set('script', 'ls')).at(1).when(completed('a'));
    expect(startOf(story, 'b')?.judge).toBeUndefined();
    expect(startOf(story.when(completed('b')), 'c')?.judge).toBeUndefined();
  });

  it('keeps its mark behind a command that read it before somebody else wrote there', () => {
    const story = after(set('script', 'ls', { delegated: true }))
      .when(set('script', 'ls'))
      .when(completed('b'));
    expect(startOf(story, 'c')).toMatchObject({ judge: true });
  });

  it('goes along into a fork, with the rest of the board as it was then', () => {
    const { run } = begun(plan).when(set('script', 'ls', { delegated: true }), set('n', 1), off('n'));
    const forked = forkedFrom({ run, by: ANNA, requestId: 'f', now: T0 });
    const fork = new Story().on(FLEET).when({ kind: 'fork', id: 'f', forked });
    expect(shownBoard(fork.run)).toMatchObject([{ name: 'script', judge: true, revision: 1 }]);
    expect(fork.run.board).toEqual(run.board);
    expect(fork.when(set('n', 2)).told).toEqual(['BOARD_WRITTEN n 4']);
  });
});

describe('a command that takes values of the board', () => {
  const given = {
    command: 'report',
    env: { HOST: { board: 'host' }, TOKEN: { secret: 't' } },
    stdin: { board: 'all' },
  };
  const plan = constellation(
    [
      'a',
      {
        id: 'b',
        command: { tool: 'EXEC_CLI', arguments: given },
        verify: { command: { tool: 'EXEC_CLI', arguments: { command: { board: 'check' } } } },
      },
    ],
    ['a->b'],
  );

  it('is given them where they are named: texts as they are, everything else as JSON', () => {
    const story = begun(plan)
      .when(set('host', 'db-1'), set('all', { n: [1] }), set('check', 'true'))
      .when(completed('a'));
    expect(startOf(story, 'b')).toMatchObject({
      command: { arguments: { command: 'report', env: { HOST: 'db-1', TOKEN: { secret: 't' } }, stdin: '{"n":[1]}' } },
      verify: { command: { arguments: { command: 'true' } } },
    });
  });

  it('fails at once where nothing stands there, and says what to do', () => {
    const story = begun(plan).when(set('host', 'db-1')).when(completed('a'));
    expect(story.told).toContain('TASK_FAILED b 0 NOT_ON_BOARD failed');
    expect(JSON.stringify(story.events)).toContain('nothing stands there; write it and retry the task');
  });
});

describe('a task that writes on the board', () => {
  const writes = (board: { name: string; field?: string }[]) =>
    constellation([{ id: 'a', board }, 'b'], ['a?board.free > 100>b']);

  it('does so with its end, before its lines are judged', () => {
    const story = begun(writes([{ name: 'free', field: 'stdout.free' }])).when(
      completed('a', 1, { stdout: { free: 120 } }),
    );
    expect(story.told).toEqual(['BOARD_WRITTEN free 1', 'TASK_COMPLETED a 1', 'TASK_STARTED b 1 on web-1']);
    expect(story.run.board.entries.get('free')).toMatchObject({ attempt: { taskId: 'a', attempt: 1 }, value: 120 });
  });

  it('fails when it has not got what it was to write', () => {
    const story = begun(writes([{ name: 'free', field: 'free' }])).when(completed('a', 1, { stdout: '' }));
    expect(story.told).toContain('TASK_FAILED a 1 BOARD_REFUSED failed');
    expect(story.run.board.revision).toBe(0);
  });

  it('marks it where an agent does it', () => {
    const plan = constellation([{ id: 'a', command: undefined as never, board: [{ name: 'x' }] }]);
    expect(begun(plan).when(completed('a', 1, 'found it')).told[0]).toBe('BOARD_WRITTEN x 1 judged');
  });
});

describe('a condition', () => {
  const plan = (condition: string) => constellation(['a', 'b'], [`a?${condition}>b`]);

  it('reads the board as it stands when its task ends', () => {
    const story = begun(plan('board.free > 100 && "db-1" in board.hosts')).when(
      set('free', 120),
      set('hosts', ['db-1']),
    );
    expect(story.when(completed('a')).told).toContain('TASK_STARTED b 1 on web-1');
  });

  it('that reckons a name reads all of it', () => {
    const story = begun(plan('board[result.which] == 1')).when(set('x', 1));
    expect(story.when(completed('a', 1, { which: 'x' })).told).toContain('TASK_STARTED b 1 on web-1');
  });

  it('over what does not stand there is undecided, which fails the task behind it', () => {
    const story = begun(plan('board.free > 100')).when(completed('a'));
    expect(story.told).toContain('TASK_FAILED b 0 CONDITION_UNDECIDABLE failed');
  });

  it('of a post-condition has no board: it is judged elsewhere', () => {
    const issues = validateConstellation(constellation([{ id: 'a', verify: { condition: 'board.x == 1' } }]));
    expect(issues).toEqual([{ path: 'tasks[0].verify.condition', message: expect.stringContaining('reads no board') }]);
  });
});

it('what agents noted stands on the board, and is read like the rest', () => {
  const finished = { status: 'completed', result: { value: 'ok' }, notes: ['port 5433', 'busybox'] } as const;
  const end = Object.assign(completed('a'), { finished });
  const plan = constellation(
    [{ id: 'a', command: undefined as never }, 'x', 'b'],
    ['a->x', 'x?size(board.notes.a) == 2>b'],
  );
  const story = begun(plan).when(end).when(completed('x'));
  expect(story.told).toContain('TASK_STARTED b 1 on web-1');
  expect(shownBoard(story.run)).toEqual([
    { name: 'notes', judge: true, bytes: 29, value: { a: ['port 5433', 'busybox'] } },
  ]);
});

it('folds to the same board wherever it is cut', () => {
  const { events, run } = begun().when(set('a', 1), set('b', [2]), off('a'), set('b', 3));
  for (let at = 0; at <= events.length; at++) {
    expect(foldEvents(foldEvents(new Story().run, events.slice(0, at)), events.slice(at)).board).toEqual(run.board);
  }
});
