import type { Logger } from 'pino';
import type { RunId, Usage } from '#proto';
import type { Metrics } from '#libs/platform';

/** From what a rule takes to what a model takes that thinks for long. */
const SECONDS = [0.01, 0.05, 0.2, 1, 3, 10, 30, 90, 300];

export type RoundOutcome = 'proposed' | 'failed' | 'over' | 'left';

/** What became of one piece of work. */
export interface RoundRecord {
  readonly runId: RunId;
  readonly editId: string;
  readonly try: number;
  readonly mode: 'creation' | 'editing';
  /** Who made the plan; null when there is none. */
  readonly source: 'model' | 'runbook' | 'rule' | null;
  /** `over`: nobody wanted it any more. `left`: it is left to another replica. */
  readonly outcome: RoundOutcome;
  /** Why there is no plan. */
  readonly code?: string;
  readonly used: Usage;
  readonly durationMs: number;
}

export type Emit = (record: RoundRecord) => void;

/** What the planner does, in the log and as metrics: counts of what this process has seen; bills are made of events. */
export function roundRecords(logger: Logger, metrics: Metrics): Emit {
  const rounds = metrics.counter('planner_rounds_total', 'Tries of edit rounds, by how they ended', [
    'mode',
    'source',
    'outcome',
  ]);
  const seconds = metrics.histogram('planner_round_seconds', 'Time from the order to its end, the model included', {
    labelNames: ['mode', 'outcome'],
    buckets: SECONDS,
  });
  return (record) => {
    const { mode, outcome } = record;
    rounds.inc({ mode, outcome, source: record.source ?? 'none' });
    seconds.observe({ mode, outcome }, record.durationMs / 1_000);
    logger.info(record, 'round');
  };
}

/** Whose settings count when a model is asked for a plan. */
export const PLANNING_AGENT = 'ConstellationAgent';
