import type { FailureOutcome } from '#proto';
import type { Circuit } from './fleet-view.js';

/** Failures of the device itself, one after the other, that open its circuit. */
const FAILURES_MAX = 3;
const OPEN_MS = 30_000;
const OPEN_MS_MAX = 5 * 60_000;

/** What is remembered of a device that fails. Immutable. */
export interface CircuitState {
  /** Failures since the last attempt that the device ended properly. */
  readonly failures: number;
  /** Milliseconds since the epoch; null while the circuit is closed. */
  readonly openUntil: number | null;
}

export const CLOSED: CircuitState = { failures: 0, openUntil: null };

/**
 * After an attempt on a device has ended. A command that failed is the task's fault, and shows that the device works; one
 * that was lost, timed out, or of which nobody knows is the device's. Each failed try keeps the circuit open twice as long.
 */
export function afterAttempt(state: CircuitState, outcome: FailureOutcome | 'completed', now: number): CircuitState {
  if (outcome === 'cancelled') return state;
  if (outcome === 'completed' || outcome === 'failed') return CLOSED;
  const failures = state.failures + 1;
  if (failures < FAILURES_MAX) return { failures, openUntil: null };
  const openMs = Math.min(OPEN_MS * 2 ** (failures - FAILURES_MAX), OPEN_MS_MAX);
  return { failures, openUntil: now + openMs };
}

export function circuitAt({ openUntil }: CircuitState, now: number): Circuit {
  if (openUntil === null) return { state: 'closed' };
  return now < openUntil ? { state: 'open', until: openUntil } : { state: 'half-open' };
}
