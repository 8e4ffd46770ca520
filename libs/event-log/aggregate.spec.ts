import { describe, expect, it } from '@jest/globals';
import { NO_COMMITS, sealNext } from './aggregate.js';
import { aggregateContract } from './aggregate.contract.js';
import { chainOver } from './chain.js';
import { MemoryEventLog, memoryRunLog } from './memory-event-log.js';

aggregateContract('memory', async () => {
  const log = memoryRunLog();
  return {
    log,
    other: log,
    logOf: (spec) => new MemoryEventLog(spec),
    losing: (what) => {
      log.faults.push(what === 'ack' ? 'stored-unknown' : 'lost-unknown');
      return { log, heard: 'nobody can say' };
    },
    close: () => Promise.resolve(),
  };
});

describe('the chain with a digest of its own', () => {
  /** Not a good one: enough to see that nothing else is asked. */
  const digest = (text: string) => `${text.length}`.padStart(64, '0');
  const chain = chainOver(digest);

  it('is sealed and verified with it alone', () => {
    const first = chain.sealCommit({ number: 1, events: [{ sequence: 1 }] }, NO_COMMITS.hash);
    expect(first.hash).toMatch(/^0{61}/u);
    expect(chain.verifyChain([first])).toEqual([]);
    expect(chain.verifyChain([{ ...first, events: [{ sequence: 10 }] }])).not.toEqual([]);
    const event = { type: 'RUN_RESUMED', data: {} };
    const stamp = { commit: 'c', now: 0, by: { service: 's', instance: 'i' }, causes: [] };
    const [kind] = chain.verifyChain([sealNext(NO_COMMITS, { runId: 'r' }, [event], stamp)]).map((one) => one.kind);
    expect(kind).toBe('hash');
  });
});
