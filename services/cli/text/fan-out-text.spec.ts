import { describe, expect, it } from '@jest/globals';
import type { FanOutView, RunView, TaskView } from '#proto';
import { generateEditedHistory, runCommitsOf } from '#libs/testing';
import { stateAt } from '../sources/run-history.js';
import { plain } from '../terminal/style.js';
import { fanOutLines } from './fan-out-text.js';
import { drawingOf, headline, runText } from './run-text.js';

const FAN_OUT: FanOutView = {
  devices: 100,
  wave: 2,
  waves: 10,
  running: 5,
  waiting: 2,
  completed: 12,
  failed: 1,
  cancelled: 0,
  notStarted: 80,
  maxFailures: 2,
  nextWaveAt: null,
  stopped: null,
};
const commits = runCommitsOf(generateEditedHistory({ seed: 6 }));
const view = stateAt(commits[0]?.runId ?? '', commits, {});
const [some] = view.tasks;
if (some === undefined) throw new Error('the history has no task');
const TASK: TaskView = { ...some, result: null, error: null, reason: null, held: false, recoveredBy: null };

const device = (number: number, status: TaskView['status'], more: Partial<TaskView> = {}): TaskView => ({
  ...TASK,
  id: `sweep-web-${number}`,
  device: `web-${number}`,
  status,
  part: { of: 'sweep', wave: number > 10 ? 2 : 1 },
  ...more,
});
const FAILED = { code: 'EXIT_CODE', message: 'exit code 3', outcome: 'failed' } as const;
const DEVICES = [
  ...Array.from({ length: 12 }, (_, index) => device(index + 1, 'COMPLETED')),
  ...[13, 14, 15, 16, 17].map((number) => device(number, 'RUNNING')),
  device(18, 'FAILED', { error: FAILED }),
  ...[19, 20].map((number) => device(number, 'PENDING')),
];
const swept = (fanOut: Partial<FanOutView>, more: Partial<TaskView> = {}): RunView => ({
  ...view,
  tasks: [{ ...TASK, id: 'sweep', status: 'RUNNING', fanOut: { ...FAN_OUT, ...fanOut }, ...more }, ...DEVICES],
  lines: [],
});
const LINE = 'sweep  wave 2 of 10: 12 of 100 devices done, 1 failed (2 may), 5 running, 2 waiting';
const ROOM = { columns: 80, rows: 4, paint: plain };

describe('a task on several devices on a screen', () => {
  it('is one line, which is open while it works: who failed stands first, then who runs and who waits', () => {
    expect(fanOutLines(swept({}), ROOM)).toEqual([
      `${LINE.slice(0, 78)}…`,
      '    ✘ web-18 EXIT_CODE   ● web-13   ● web-14   ● web-15   ● web-16   ● web-17',
      '    ○ web-19   ○ web-20',
    ]);
  });

  it('says how many have no room', () => {
    expect(fanOutLines(swept({}), { ...ROOM, columns: 40, rows: 1 }).at(-1)).toMatch(/^ {4}and \d+ more$/u);
  });

  it('closes when it has ended, and says why no other one began', () => {
    const stopped = '3 of 100 devices failed, and 2 may';
    const lines = fanOutLines(swept({ failed: 3, running: 0, waiting: 0, stopped }, { status: 'FAILED' }), {
      ...ROOM,
      columns: 200,
    });
    expect(lines).toEqual(['sweep  wave 2 of 10: 12 of 100 devices done, 3 failed (2 may); no other one begins']);
  });

  it('is one task of a drawing and of its headline, whatever the devices, and no line is wider than the screen', () => {
    const screen = { isTerminal: false, color: false, columns: 80 };
    const drawn = drawingOf(swept({}), screen, 12);
    expect(headline(swept({}), plain)).toContain('0/1');
    expect(drawn.join('\n')).not.toContain('sweep-web-1');
    expect(drawn.filter((line) => line.length > 80)).toEqual([]);
  });

  it('has its devices below it in the table of a run', () => {
    const text = runText(swept({}), { isTerminal: false, color: false, columns: 200 });
    expect(text).toMatch(/^sweep\tRUNNING\t.*wave 2 of 10/mu);
    expect(text).toMatch(/^sweep-web-18\tFAILED\tweb-18\t.*EXIT_CODE exit code 3/mu);
  });

  it('shows what a device calls itself as text', () => {
    const hostile = {
      ...swept({}),
      tasks: [...swept({}).tasks, device(21, 'FAILED', { error: { ...FAILED, code: 'A\u001B[2JB' } })],
    };
    expect(fanOutLines(hostile, ROOM).join('')).not.toContain('\u001B');
  });
});
