import { describe, expect, it } from '@jest/globals';
import type { RunView } from '#proto';
import { tellNext } from '../terminal/index.js';
import { fakeTerminal, surroundings } from '../testing/fake-terminal.js';
import { stepsOfBegun, stepsOfEnded } from './next-steps.js';

const RUN = '0k3j4m7n8p9q0r1s2t3v4w5x6y';
type Ended = [status: string, outcome: string | null, ...tasks: { id: string; status: string; recoveredBy?: string }[]];
const stepsAfter = (...[status, outcome, ...tasks]: Ended) =>
  stepsOfEnded({
    runId: RUN,
    status,
    outcome,
    tasks: tasks.map((task) => ({ recoveredBy: null, ...task })),
  } as unknown as RunView);
const ended = (...run: Ended): string[] => stepsAfter(...run).map(({ words }) => words);

describe('what is typed next', () => {
  it('after a run that went well: what it wrote, and its report', () =>
    expect(ended('COMPLETED', 'succeeded', { id: 'a', status: 'COMPLETED' })).toEqual([
      `orrery output ${RUN}`,
      `orrery report ${RUN} -o report.md`,
    ]));

  it('after one in which something failed: what, and how that is tried again', () => {
    const tasks = [
      { id: 'a', status: 'FAILED', recoveredBy: 'c' },
      { id: 'b', status: 'FAILED' },
    ];
    expect(ended('COMPLETED', 'partially_failed', ...tasks)).toEqual([
      `orrery output ${RUN} --failed`,
      `orrery retry ${RUN} b --wait`,
      `orrery replay ${RUN}`,
    ]);
  });

  it('after one that ended before anything failed: why', () =>
    expect(ended('CANCELLED', null, { id: 'a', status: 'CANCELLED' })).toEqual([`orrery show ${RUN}`]));

  it('is told to a person, in lines of 80 columns, and neither to a pipe nor to a program', () => {
    const told = (isTerminal: boolean, json: boolean): string[] => {
      const terminal = fakeTerminal({ isTerminal });
      tellNext({ ...surroundings(terminal), json }, stepsOfBegun(RUN));
      return terminal.errLines;
    };
    expect(told(true, false)).toEqual([
      '',
      `next:  orrery watch ${RUN}    follow it`,
      `       orrery output ${RUN}   what its tasks write`,
    ]);
    for (const line of told(true, false)) expect(line.length).toBeLessThanOrEqual(80);
    expect([told(false, false), told(true, true)]).toEqual([[], []]);
  });

  it.each([
    ['all is well', 'COMPLETED', 'succeeded', { id: 'a', status: 'COMPLETED' }],
    ['a task has failed', 'FAILED', null, { id: 'collect-logs', status: 'FAILED' }],
    ['the task has a long name', 'FAILED', null, { id: 'b'.repeat(22), status: 'FAILED' }],
  ] as const)('fits 80 columns where %s, and says what to type whole', (_, status, outcome, task) => {
    const terminal = fakeTerminal({ isTerminal: true, columns: 80 });
    const steps = stepsAfter(status, outcome, task);
    tellNext({ ...surroundings(terminal), json: false }, steps);
    expect(terminal.errLines).toHaveLength(steps.length + 1);
    for (const [at, { words }] of steps.entries()) expect(terminal.errLines[at + 1]).toContain(words);
    for (const line of terminal.errLines) expect(line.length).toBeLessThanOrEqual(80);
  });
});
