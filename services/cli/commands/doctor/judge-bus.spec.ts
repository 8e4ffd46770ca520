import { describe, expect, it } from '@jest/globals';
import { judgeClock, judgeDeclared, judgeDisk, judgeMoving, judgeStorage, type DurableLook } from './judge-bus.js';
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

it('room and clocks have three grades', () => {
  expect([10, 85, 96].map((used) => judgeStorage(used * GIB, 100 * GIB).state)).toEqual(['ok', 'warn', 'bad']);
  expect(judgeStorage(GIB, -1).state).toBe('ok');
  expect([50, 5, 1].map((free) => judgeDisk(free * GIB, 100 * GIB).state)).toEqual(['ok', 'warn', 'bad']);
  expect([100, -5_000, 900_000].map((ms) => judgeClock(ms, 300_000).state)).toEqual(['ok', 'warn', 'bad']);
});

it('the page has a line for each, its remedy below it, and nothing that a terminal obeys', () => {
  const findings = [
    ok('nats', 'up'),
    warn('dlq', '3 \u001B[2Jletters', 'orrery dlq ls'),
    bad('disk', 'full', 'make room'),
  ];
  expect(pageOf(findings, { color: false })).toEqual([
    'ok    nats        up',
    'warn  dlq         3 letters',
    '                  orrery dlq ls',
    'bad   disk        full',
    '                  make room',
  ]);
  expect(sumOf(findings)).toBe('1 ok, 1 to look at, 1 bad');
});
