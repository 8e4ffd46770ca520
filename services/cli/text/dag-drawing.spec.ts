import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { drawDag, type DrawnTask } from './dag-drawing.js';
import { painted } from '../terminal/style.js';

const SCREEN = { columns: 80, rows: 30 };

const tasksOf = (ids: string, status = 'PENDING'): DrawnTask[] =>
  ids.split(' ').map((id) => ({ id, status, device: null }));
const linesOf = (arrows: string) =>
  arrows.split(' ').map((arrow) => {
    const [from = '', to = ''] = arrow.split('>');
    return { from, to };
  });
const drawn = (ids: string, arrows: string): string[] => drawDag(tasksOf(ids), linesOf(arrows), SCREEN);

describe('drawDag', () => {
  it('draws a single task', () => expect(drawDag(tasksOf('a'), [], SCREEN)).toEqual(['○ a']));

  it('draws a line once, however many lines join the same tasks', () =>
    expect(drawn('a b', 'a>b a>b')).toEqual(['○ a ──▶ ○ b']));

  it('joins what flows into one task', () =>
    expect(drawn('mem disk report', 'mem>report disk>report disk>report')).toEqual([
      '○ mem ───┬▶ ○ report',
      '        ┌┘',
      '○ disk ─┘',
    ]));

  it('fans out and in again', () =>
    expect(drawn('root w1 w2 w3 sum', 'root>w1 root>w2 root>w3 w1>sum w2>sum w3>sum')).toEqual([
      '○ root ─┬─▶ ○ w1 ──┬▶ ○ sum',
      '        │         ┌┘',
      '        ├─▶ ○ w2 ─┤',
      '        └─▶ ○ w3 ─┘',
    ]));

  it('leads a line that spans layers past the tasks between', () =>
    expect(drawn('a b c', 'a>b b>c a>c')).toEqual(['○ a ─┬─▶ ○ b ──┬▶ ○ c', '     │        ┌┘', '     └────────┘']));

  it('does not join lines that only cross', () =>
    expect(drawn('a b c d e f', 'a>d a>e b>d b>f c>d c>e c>f')).toEqual([
      '○ a ─────┬┬▶ ○ d',
      '     ┌─┬─│┘',
      '○ b ─┴─│┐│┌▶ ○ e',
      '      ┌││┴┘',
      '○ c ──┴┴│─┬▶ ○ f',
      '        └─┘',
    ]));

  it('orders a layer so that lines stay straight', () =>
    expect(drawn('a b c d', 'a>d b>c')).toEqual(['○ a ──▶ ○ d', '○ b ──▶ ○ c']));

  it('shows status and device', () =>
    expect(drawDag([{ id: 'a', status: 'RUNNING', device: 'web-1' }], [], SCREEN)).toEqual(['● a @web-1']));

  it('marks what an edit keeps from starting', () =>
    expect(drawDag([{ id: 'a', status: 'PENDING', device: null, held: true }], [], SCREEN)).toEqual(['◌ a']));

  it('draws nothing of a run that has no plan yet', () => expect(drawDag([], [], SCREEN)).toEqual([]));

  it('paints a label in the colour of its status, without moving what comes after it', () => {
    const tasks = [...tasksOf('a', 'COMPLETED'), ...tasksOf('b')];
    expect(drawDag(tasks, linesOf('a>b'), { ...SCREEN, paint: painted })).toEqual([
      '\u001B[32m✔ a\u001B[0m ──▶ \u001B[2m○ b\u001B[0m',
    ]);
  });

  it('draws an altered record all the same: a cycle, and a line to nowhere', () =>
    expect(drawn('a b c', 'a>b b>c c>b a>ghost')).toEqual(['○ a ──▶ ○ b', '        ○ c']));

  it('counts layer by layer when the drawing is too wide', () =>
    expect(
      drawDag([...tasksOf('a', 'COMPLETED'), ...tasksOf('b', 'RUNNING')], linesOf('a>b'), { columns: 8, rows: 9 }),
    ).toEqual(['layer 1: ✔ 1', 'layer 2: ● 1 | ● b']));

  it('counts layer by layer when the drawing is too high, and names only the first of those that run', () => {
    const ids = Array.from({ length: 40 }, (_, index) => `t${index}`).join(' ');
    expect(drawDag(tasksOf(ids, 'RUNNING'), [], SCREEN)[0]).toMatch(/^layer 1: ● 40 \| ● t0 .* ● t11 and 28 more$/u);
  });

  it('shows how long a task runs, unless there is no room for that', () => {
    const tasks = [{ id: 'a', status: 'RUNNING', device: 'web-1', clock: '1:05' }, ...tasksOf('b')];
    const at = (columns: number): string[] => drawDag(tasks, linesOf('a>b'), { columns, rows: 9 });
    expect(at(80)).toEqual(['● a @web-1 1:05 ──▶ ○ b']);
    expect(at(22)).toEqual(['● a @web-1 ──▶ ○ b']);
    expect(at(15)).toEqual(['layer 1: ● 1 | ● a @web-1 1:05', 'layer 2: ○ 1']);
  });

  it('draws every task of any graph exactly once, within the width', () => {
    const graphs = fc.integer({ min: 1, max: 9 }).chain((count) =>
      fc.record({
        count: fc.constant(count),
        pairs: fc.array(fc.tuple(fc.nat(count - 1), fc.nat(count - 1)), { maxLength: 20 }),
      }),
    );
    fc.assert(
      fc.property(graphs, ({ count, pairs }) => {
        const ids = Array.from({ length: count }, (_, index) => `t${index}`);
        const lines = pairs.map(([from, to]) => ({ from: `t${Math.min(from, to)}`, to: `t${Math.max(from, to)}` }));
        const drawing = drawDag(tasksOf(ids.join(' ')), lines, { columns: 200, rows: 100 });
        const text = drawing.join('\n');
        for (const id of ids) expect(text.split(`○ ${id}`)).toHaveLength(2);
        for (const line of drawing) expect(line.length).toBeLessThanOrEqual(200);
        const heads = text.split('▶').length - 1;
        expect(heads).toBeLessThanOrEqual(new Set(lines.map(({ to }) => to)).size);
      }),
      { seed: 20_261_121, numRuns: 200 },
    );
  });
});
