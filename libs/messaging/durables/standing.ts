import { durableDrift, driftText } from '../streams/index.js';
import type { DurableSpec } from '#proto';

/** What the server says of a durable, as far as it is judged; its `ConsumerInfo` is one. */
export interface FoundDurable {
  readonly config: object;
  readonly delivered: { readonly consumer_seq: number };
  readonly num_pending: number;
}

/** Where a durable stood at one look. */
export interface DurableStand {
  /** Milliseconds, monotonic. */
  readonly at: number;
  /** Deliveries so far, repeated ones too. */
  readonly delivered: number;
  /** Messages that wait to be delivered. */
  readonly waiting: number;
  /** Since when its service asks and is given nothing; undefined while it has enough to do. */
  readonly asksSince: number | undefined;
}

/** One look too few is a busy machine. */
export const LOOKS_STILL = 3;

/** Whether messages wait, are asked for and do not come, over the last looks: nobody delivers them to any replica. */
export function standsStill(looks: readonly DurableStand[]): boolean {
  const last = looks.slice(-LOOKS_STILL);
  const [first] = last;
  if (first === undefined || last.length < LOOKS_STILL) return false;
  return last.every(
    ({ delivered, waiting, asksSince = Number.POSITIVE_INFINITY }) =>
      waiting > 0 && delivered === first.delivered && asksSince <= first.at,
  );
}

/**
 * What is wrong with a durable, in one sentence that names it and the field; undefined when it is as `proto` declares it.
 * `looks`: where it stood, for who takes from it.
 */
export function durableProblem(
  spec: DurableSpec,
  found: FoundDurable | undefined,
  looks: readonly DurableStand[] = [],
): string | undefined {
  const what = `the durable ${spec.durable} of ${spec.stream}`;
  if (found === undefined) return `${what} is not there`;
  const drift = durableDrift(spec, found.config);
  if (drift.length > 0) return `${what} is not as it has to be: ${driftText(drift)}`;
  if (!standsStill(looks)) return undefined;
  return `${what} stands still: num_pending is ${found.num_pending}, and nothing of it is delivered`;
}
