import { describe, expect, it } from '@jest/globals';
import { judgeClock, judgeDeclared, judgeMoving, judgeStores, type DurableLook } from './judge-bus.js';
import { storeOf } from '../../home/index.js';
import { bad, ok, pageOf, sumOf, warn } from './finding.js';

const GIB = 1024 ** 3;
const states = (findings: readonly { readonly state: string }[]): string[] => findings.map(({ state }) => state);

describe('what was declared', () => {
  it('is one line when all is as it should be', () => {
    const things = ['RUNS', 'FLEET'].map((name) => ({ name, drift: [] }));
    expect(judgeDeclared('streams', things)).toEqual([ok('streams', '2 as they were declared')]);
  });

  it('and is missing or differs is named, with what the server has', () => {
    const drift = [{ field: 'ack_wait', wanted: 3, found: 30 }];
    const things = [
      { name: 'a', drift: undefined },
      { name: 'b', drift },
      { name: 'c', drift: undefined },
    ];
    const [missing, differs] = judgeDeclared('durables', things);
    expect(missing).toMatchObject({ state: 'bad', what: 'a, c missing' });
    expect(differs).toMatchObject({ state: 'bad', what: 'b differs: ack_wait is 30, not 3' });
  });
});

describe('a durable', () => {
  const look = (change: Partial<DurableLook>): DurableLook[] => [
    { name: 'RUNS/x', pending: 5, inWork: 0, waiting: 0, delivered: 7, ...change },
  ];

  it('that nobody reads while messages wait stands still', () =>
    expect(judgeMoving(look({}), look({}))).toMatchObject([{ state: 'bad', what: expect.stringContaining('RUNS/x') }]));

  it.each<[string, Partial<DurableLook>, Partial<DurableLook>]>([
    ['moves', { delivered: 7 }, { delivered: 8 }],
    ['has nothing that waits', { pending: 0 }, { pending: 0 }],
    ['has only now something that waits', { pending: 0 }, { pending: 3 }],
  ])('that %s does not', (_, before, after) => expect(states(judgeMoving(look(before), look(after)))).toEqual(['ok']));

  it('whose reader is full may be well, and is told all the same', () =>
    expect(states(judgeMoving(look({ inWork: 9 }), look({ inWork: 9 })))).toEqual(['warn']));
});

it('what stores is told on one line where it is well, and what is not seen is said not to be', () => {
  const disk = storeOf('the disk', { usedBytes: 0.5 * GIB, limitBytes: GIB });
  const tight = storeOf('the other disk', { usedBytes: 85 * GIB, limitBytes: 100 * GIB });
  expect(judgeStores({ stores: [disk, tight], unseen: ['what else there is'] })).toEqual([
    warn('storage', 'the other disk: 85 GiB of 100 GiB are used (85 %)', 'make room: what cannot be stored is refused'),
    ok('storage', 'the disk: 512 MiB of 1024 MiB are used (50 %); what else there is is not seen from here'),
  ]);
  const [first] = judgeStores({ stores: [], unseen: [], fault: 'the disk of nats-server is full' });
  expect(first).toMatchObject({ state: 'bad', what: 'nothing new is taken, because the disk of nats-server is full' });
});

it('room and clocks have three grades', () => {
  const grade = (used: number, limit = 100): string =>
    storeOf('it', { usedBytes: used * GIB, limitBytes: limit * GIB }).state;
  expect([10, 79.9, 80, 94.9, 95].map((used) => grade(used))).toEqual(['ok', 'ok', 'warn', 'warn', 'bad']);
  expect(grade(1, -1)).toBe('ok');
  expect([100, -5_000, 900_000].map((ms) => judgeClock(ms, 300_000).state)).toEqual(['ok', 'warn', 'bad']);
});

it('the page has a line for each, its remedy below it, and nothing that a terminal obeys', () => {
  const findings = [
    ok('nats', 'up'),
    warn('dlq', '3 \u001B[2Jletters', 'orrery dlq ls'),
    bad('disk', 'full', 'make room'),
  ];
  expect(pageOf(findings, { color: false, isTerminal: false, columns: 80 })).toEqual([
    'ok    nats        up',
    'warn  dlq         3 letters',
    '                  orrery dlq ls',
    'bad   disk        full',
    '                  make room',
  ]);
  expect(sumOf(findings)).toBe('1 ok, 1 to look at, 1 bad');
});

it('the page breaks no word of a terminal, and no line that is to be typed', () => {
  const remedy = `orrery people role anna --give ${'operator'.repeat(8)}`;
  const what = Array.from({ length: 30 }, (_, at) => `service-${at}`).join(' ');
  const lines = pageOf([warn('processes', what, remedy)], { color: false, isTerminal: true, columns: 80 });
  const told = lines.map((line) => line.slice(18));
  expect(told.slice(0, -1).join(' ')).toBe(what);
  expect(told.at(-1)).toBe(remedy);
  for (const line of lines.slice(0, -1)) expect(line.length).toBeLessThanOrEqual(80);
});
