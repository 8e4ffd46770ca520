import { describe, expect, it } from '@jest/globals';
import { ENGINE_WORKLOADS } from './engine-workloads.js';
import { PATH_WORKLOADS, stepChain } from './path-workloads.js';

describe('the workloads of the whole path', () => {
  it('have names that no other table uses: --only means one of them', () => {
    const names = [...ENGINE_WORKLOADS, ...PATH_WORKLOADS].map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });

  it('do the same work with and without a program', () => {
    const graphsOf = (workload: string) =>
      PATH_WORKLOADS.find(({ name }) => name === workload)?.plans.map(({ tasks, lines }) => ({ tasks, lines }));
    for (const shape of ['steps', 'wide', 'many']) {
      const nothing = graphsOf(`${shape}-nothing`);
      expect(nothing?.length).toBeGreaterThan(0);
      expect(graphsOf(`${shape}-true`)).toEqual(nothing);
    }
  });

  it('take a step of a chain as the time between two starts on one device', () => {
    expect(stepChain('true')).toMatchObject({ oneDevice: true, work: 'true' });
    const steps = PATH_WORKLOADS.find(({ name }) => name === 'steps-true');
    const executions = [[1, 4, 9].map((at) => ({ task: `t${at}`, at }))];
    expect(steps?.values({ beganAt: 0, endedAt: 20, killedAt: 0, executions })).toEqual([3, 5]);
  });
});
