import { z } from 'zod';
import { Instant, RunId } from './ids.js';
import { RUN_EVENT_TYPES, type RunEventType } from './run-events.js';

/** One event of a run for everybody outside: CloudEvents 1.0 in structured JSON mode. `id` is the event's id: dedupe by it. */
export const FeedMessage = z.looseObject({
  specversion: z.literal('1.0'),
  id: z.string(),
  source: z.string().describe('`/orrery/runs/<runId>`'),
  type: z.enum(RUN_EVENT_TYPES.map((type) => `orrery.${type}` as const) as [`orrery.${RunEventType}`]),
  subject: z.string().optional().describe('the task id, when the event is about one task'),
  time: Instant,
  datacontenttype: z.literal('application/json'),
  /** Extension attributes: where the event stands in its run and in RUNS. */
  orreryrunid: RunId,
  orrerysequence: z.int().min(1),
  orrerysource: z.string().describe('`<sequence in RUNS>.<index in the commit>`'),
  data: z.record(z.string(), z.unknown()),
});
export type FeedMessage = z.infer<typeof FeedMessage>;
