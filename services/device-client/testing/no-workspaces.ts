import type { CommandHandlerOptions } from '../commands/index.js';

/** For commands that have nothing to do with workspaces. */
export const WITHOUT_WORKSPACES: Pick<CommandHandlerOptions, 'workspaces' | 'mover'> = {
  workspaces: { pathOf: (runId) => `/nowhere/${runId}`, make: () => Promise.reject(new Error('there are none')) },
  mover: { call: () => Promise.resolve({ kind: 'aborted' }) },
};
