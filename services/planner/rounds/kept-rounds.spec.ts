import { memoryPlanLog, memoryRunLog, type EventLog } from '#libs/event-log';
import { keptRoundsContract } from './kept-rounds.contract.js';

/** A log in whose place another one can be put. */
function replaceable<K, C>(
  open: () => EventLog<K, C>,
): { log: EventLog<K, C>; cut(key: K, commits: number): Promise<void> } {
  let log = open();
  return {
    log: {
      append: (...args) => log.append(...args),
      load: (...args) => log.load(...args),
      endsAt: (key) => log.endsAt(key),
    },
    cut: async (key, commits) => {
      const left = (await log.load(key)).slice(0, commits);
      log = open();
      let end = 0;
      for (const { commit } of left) {
        const appended = await log.append(key, commit, end);
        if (appended.kind === 'appended') end = appended.sequence;
      }
    },
  };
}

keptRoundsContract('memory', async () => {
  const runs = replaceable(memoryRunLog);
  const plans = replaceable(memoryPlanLog);
  return {
    runs: runs.log,
    plans: plans.log,
    restore: async (runId, commits) => {
      await runs.cut(runId, commits.runs);
      await plans.cut(runId, commits.plans);
    },
    close: async () => undefined,
  };
});
