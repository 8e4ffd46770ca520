import type { Usage } from '#proto';
import type { AttemptContext } from './attempt-context.js';
import { errorText } from './failure.js';
import type { Phase } from './strategy.js';

/** Where a round is. `strategy` and `phase` are null for the round as a whole. */
export interface Moment {
  readonly agent: string;
  readonly processor: string;
  readonly phase: Phase | null;
  readonly strategy: string | null;
  readonly context: Pick<AttemptContext, 'task' | 'stepsLeft' | 'notes'>;
}

/**
 * Looks on at rounds and strategies, and changes nothing: what it throws is dropped, because an agent must do the same
 * whether somebody looks on or not. In a replayed attempt it sees everything again.
 */
export interface Middleware<Begun = unknown> {
  readonly name: string;
  /** What it gives is handed to `after` or `onError` of the same moment: attempts run side by side. */
  before?(at: Moment): Begun;
  after?(at: Moment, begun: Begun, provided: Provided): void;
  /** Of a strategy: it threw. Of a round: it ended in FAIL. */
  onError?(at: Moment, begun: Begun, error: unknown): void;
}

/** What a strategy has given, by the names that it declares; of a round nothing. */
type Provided = Readonly<Record<string, unknown>>;

/** Where middleware writes to, and where its time comes from: the core has no clock. */
export interface RecordSink {
  /** Milliseconds, from any beginning. */
  now(): number;
  emit(record: AgentRecord): void;
}

interface RecordShape {
  readonly taskId: string;
  readonly agent: string;
  readonly processor: string;
  readonly phase: Phase | null;
  readonly strategy: string | null;
}

export type AgentRecord = RecordShape &
  (
    | { readonly kind: 'log'; readonly what: 'begun' | 'done' | 'failed'; readonly error: string | null }
    /** With what it waited for: the model, the device, a person. */
    | { readonly kind: 'timing'; readonly durationMs: number; readonly failed: boolean }
    /** What the calls of a model for one reply have used up. */
    | { readonly kind: 'cost'; readonly used: Usage }
    | { readonly kind: 'count'; readonly name: 'rounds' | 'strategies'; readonly outcome: 'done' | 'failed' }
  );

/** One record when something begins, one when it is over. */
export function loggingMiddleware(sink: RecordSink): Middleware {
  const emit = (at: Moment, what: 'begun' | 'done' | 'failed', error: string | null = null) =>
    sink.emit({ ...shapeOf(at), kind: 'log', what, error });
  return {
    name: 'logging',
    before: (at) => emit(at, 'begun'),
    after: (at) => emit(at, 'done'),
    onError: (at, _, error) => emit(at, 'failed', errorText(error)),
  };
}

/** How long everything took. */
export function timingMiddleware(sink: RecordSink): Middleware<number> {
  const emit = (at: Moment, begun: number, failed: boolean) =>
    sink.emit({ ...shapeOf(at), kind: 'timing', durationMs: sink.now() - begun, failed });
  return {
    name: 'timing',
    before: () => sink.now(),
    after: (at, begun) => emit(at, begun, false),
    onError: (at, begun) => emit(at, begun, true),
  };
}

/** Counts rounds and strategies by how they ended. */
export function metricsMiddleware(sink: RecordSink): Middleware {
  const emit = (at: Moment, outcome: 'done' | 'failed') =>
    sink.emit({ ...shapeOf(at), kind: 'count', name: at.strategy === null ? 'rounds' : 'strategies', outcome });
  return { name: 'metrics', after: (at) => emit(at, 'done'), onError: (at) => emit(at, 'failed') };
}

/** What every reply of a model has cost. Counted again when an attempt is replayed: bills are made of the events of attempts. */
export function costMiddleware(sink: RecordSink): Middleware {
  return {
    name: 'cost',
    after: (at, _, { turn }) => {
      const used = (turn as { readonly used?: Usage } | undefined)?.used;
      if (used !== undefined) sink.emit({ ...shapeOf(at), kind: 'cost', used });
    },
  };
}

/** All four, the way agents mostly want them. */
export const standardMiddleware = (sink: RecordSink): readonly Middleware[] => [
  loggingMiddleware(sink),
  timingMiddleware(sink),
  metricsMiddleware(sink),
  costMiddleware(sink),
];

/** Tells all of them that something begins; gives what tells them how it ended, in the opposite order. */
export function observe(middleware: readonly Middleware[], at: Moment) {
  const watching = middleware.map((one) => ({ one, begun: quietly(() => one.before?.(at)) }));
  return {
    done: (provided: Provided = {}) =>
      watching.toReversed().forEach(({ one, begun }) => quietly(() => one.after?.(at, begun, provided))),
    failed: (error: unknown) =>
      watching.toReversed().forEach(({ one, begun }) => quietly(() => one.onError?.(at, begun, error))),
  };
}

function quietly<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    // Who looks on must not change what happens.
    return undefined;
  }
}

const shapeOf = ({ agent, processor, phase, strategy, context }: Moment): RecordShape => ({
  taskId: context.task.taskId,
  agent,
  processor,
  phase,
  strategy,
});
