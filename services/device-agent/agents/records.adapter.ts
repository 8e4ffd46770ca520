import type { Logger } from 'pino';
import { standardMiddleware, type AgentRecord, type Middleware } from '#libs/device-agent';
import type { Metrics } from '#libs/platform';

/** With what a strategy waited for, which may be a person: from milliseconds to hours. */
const SECONDS = [0.005, 0.02, 0.1, 0.5, 2, 10, 60, 600, 3_600];

/**
 * What agents do, in the log and as metrics. An attempt that is taken over is seen from its beginning once more: counts are of
 * what this process has seen, bills are made of events.
 */
export function agentRecords(logger: Logger, metrics: Metrics): readonly Middleware[] {
  const rounds = metrics.counter('agent_rounds_total', 'Rounds of agents, by how they ended', ['agent', 'outcome']);
  const seconds = metrics.histogram('agent_phase_seconds', 'Time in phases of agents, waiting included', {
    labelNames: ['agent', 'phase'],
    buckets: SECONDS,
  });
  const emit = (record: AgentRecord): void => {
    const { agent, phase } = record;
    switch (record.kind) {
      case 'log':
        return logger.debug(record, 'agent');
      case 'count':
        if (record.name === 'rounds') rounds.inc({ agent, outcome: record.outcome });
        return;
      case 'timing':
        if (phase !== null) seconds.observe({ agent, phase }, record.durationMs / 1_000);
        return;
      case 'cost':
        return; // What models are asked is counted where they are asked: an attempt that is taken over asks nothing twice.
    }
  };
  return standardMiddleware({ now: () => performance.now(), emit });
}
