import { z } from 'zod';
import { ActorId, FIRST_EXTERNAL, type Actor } from './actors.js';
import { Instant, RunId } from './ids.js';
import { RUN_EVENT_TYPES, type RunEventType } from './run-events.js';

/** All of FEED, or what the runs of one actor come to. */
export const FeedShare = z.enum(['own', 'all']);
export type FeedShare = z.infer<typeof FeedShare>;

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

/** The one external system of version 0.1.0, as its runs name it: the user `external` of the bus. */
const OF_OLD = { kind: 'external', id: 'default' } as const satisfies Actor;
/** No actor is called so. */
const NOBODYS = '-';

/** Whose feed the events of a run are in: of the actor who asked for it, by its id; `-` when that is nobody who is an actor of the bus. */
export function feedOwner(requestedBy: Actor | undefined): string {
  if (requestedBy?.kind === OF_OLD.kind && requestedBy.id === OF_OLD.id) return FIRST_EXTERNAL;
  return ActorId.safeParse(requestedBy?.id).data ?? NOBODYS;
}
