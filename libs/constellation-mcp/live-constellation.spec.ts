import { expect, it } from '@jest/globals';
import { emptyRun, evolve, type Run } from '#libs/constellation';
import type { Edit } from '#proto';
import { LiveConstellation } from './live-constellation.js';

const AT = '2026-11-20T10:00:00.000Z';

/** A run of a goal that is longer than any name. */
function wordy(): Run {
  const goal = 'look after the disks '.repeat(50);
  const request = {
    requestId: 'r1',
    namespace: 'default',
    contentHash: 'a'.repeat(64),
    goal,
    options: {},
    metadata: {},
  };
  const by = { kind: 'external', id: 'default' } as const;
  const data = { ...request, constellation: null, requestedBy: by, requestedAt: AT, deadlineAt: AT };
  return evolve(emptyRun('run1'), { type: 'RUN_REQUESTED', data });
}

it('a constellation without a name is not called by a goal that is too long for one', async () => {
  const proposed: Edit[] = [];
  const live = new LiveConstellation({
    loadRun: async () => wordy(),
    propose: async (edits) => {
      proposed.push(...edits);
      return { answer: 'ignored', sequence: 0 };
    },
  });
  const task = { task_id: 'a', name: 'a', description: 'look', target_device_id: 'web-1' };
  const config = { tasks: [task], dependencies: [] };
  const call = { tool: 'build_constellation', arguments: { config, clear_existing: true } } as const;
  await live.apply(call);
  expect(proposed).toMatchObject([{ tool: 'build_constellation' }]);
  const [edit] = proposed;
  if (edit?.tool !== 'build_constellation') throw new Error('nothing was built');
  expect(edit.constellation.name.length).toBeLessThanOrEqual(200);
});
