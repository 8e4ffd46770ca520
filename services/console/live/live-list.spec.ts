import { describe, expect, it } from '@jest/globals';
import { listChanges } from './list-changes.js';
import { LiveList, type ListState } from './live-list.adapter.js';

const rows = (...pairs: [string, string][]) => new Map(pairs);
const many = (count: number, row = 'x') =>
  new Map(Array.from({ length: count }, (_, index): [string, string] => [`r${index}`, row]));

describe('listChanges', () => {
  it('tells all to who has seen nothing, and nothing to who has seen it', () => {
    expect(listChanges(undefined, rows())).toEqual([{ kind: 'rows' }]);
    expect(listChanges(many(3), many(3))).toEqual([]);
  });

  it('tells what is new, other and gone', () =>
    expect(listChanges(rows(['a', '1'], ['b', '1']), rows(['b', '2'], ['c', '1']))).toEqual([
      { kind: 'gone', id: 'a' },
      { kind: 'row', row: '2' },
      { kind: 'row', row: '1' },
    ]));

  it('tells all again when most of it changed', () =>
    expect(listChanges(many(100), many(100, 'y'))).toEqual([{ kind: 'rows' }]));
});

describe('LiveList', () => {
  function list(answers: (string | Error)[]) {
    let asked = 0;
    const live = new LiveList<string>({
      load: async () => {
        const answer = answers[Math.min(asked++, answers.length - 1)] ?? '';
        if (answer instanceof Error) throw answer;
        return { rows: rows(['a', answer]), isMore: false, beside: undefined };
      },
      everyMs: 1,
      restMs: 1,
    });
    return { live, asked: () => asked };
  }

  async function first(live: LiveList<string>, count: number): Promise<ListState[]> {
    const states: ListState[] = [];
    const over = new AbortController();
    for await (const state of live.states('anna', over.signal)) {
      states.push(state);
      if (states.length === count) break;
    }
    return states;
  }

  it('gives what changed, and says when it may be old', async () => {
    const { live } = list(['1', '1', new Error('The logging service is not running.'), '2']);
    const states = await first(live, 3);
    expect(states.map(({ rows: all, stale }) => [all.get('a'), stale])).toEqual([
      ['1', undefined],
      ['1', 'The logging service is not running.'],
      ['2', undefined],
    ]);
  });

  it('asks once for all who listen, and not at all when nobody does', async () => {
    const { live, asked } = list(['1']);
    await Promise.all([first(live, 1), first(live, 1), first(live, 1)]);
    expect(live.isHeard).toBe(false);
    expect(asked()).toBeLessThanOrEqual(2);
  });
});
