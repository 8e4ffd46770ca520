import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { headers } from '@nats-io/transport-node';
import { HEADER_COMMIT, STREAMS, subjects, type PlanCommit, type RunCommit, type RunId } from '#proto';
import { encodeCommit, openPlanLog, openRunLog, type EventLog } from '#libs/event-log';
import { connectBus } from '#libs/messaging';
import { startTestNats } from '#libs/testing';
import { keptRoundsContract } from './kept-rounds.contract.js';

keptRoundsContract('JetStream', async () => {
  const server = await startTestNats({ provisioned: true });
  const nc = await connectBus({ url: server.url, name: 'test', inboxPrefix: '_INBOX_test' });
  const jsm = await jetstreamManager(nc);
  const runs = openRunLog(nc);
  const plans = openPlanLog(nc);
  /** As `nats stream restore` would do it: the same messages, without asking what the server thinks of repeats. */
  const cut = async <C extends RunCommit | PlanCommit>(
    log: EventLog<RunId, C>,
    runId: RunId,
    { stream, subject, commits }: { stream: string; subject: string; commits: number },
  ): Promise<void> => {
    const left = (await log.load(runId)).slice(0, commits);
    await jsm.streams.purge(stream, { filter: subject });
    for (const { commit } of left) {
      const head = headers();
      head.set(HEADER_COMMIT, commit.commit);
      await jetstream(nc).publish(subject, encodeCommit(commit), { headers: head });
    }
  };
  return {
    runs,
    plans,
    restore: async (runId, commits) => {
      await cut(runs, runId, { stream: STREAMS.RUNS.name, subject: subjects.run(runId), commits: commits.runs });
      await cut(plans, runId, { stream: STREAMS.PLANS.name, subject: subjects.plan(runId), commits: commits.plans });
    },
    close: async () => {
      await nc.close();
      await server.stop();
    },
  };
});
