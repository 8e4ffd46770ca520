import type { LineView, TaskConstellation } from '#proto';
import { topologyOf, type Sky, type Star } from './stars.js';

/** A plan that nobody has begun: every star waits, every line is open. */
export function skyOfPlan({ tasks, lines }: TaskConstellation): Omit<Sky, 'view'> {
  const stars = tasks.map(({ id, name, target }): Star => ({
    id,
    name,
    status: 'PENDING',
    attempts: 0,
    device: 'device' in target ? target.device : null,
    result: null,
    error: null,
    reason: null,
    held: false,
    recoveredBy: null,
    startedAt: null,
    endedAt: null,
    asks: false,
    edited: null,
  }));
  const open = lines.map(({ id, from, to, type, condition }): LineView => ({
    id,
    from,
    to,
    type,
    condition: condition ?? null,
    satisfied: null,
    reason: null,
  }));
  return { stars, lines: open, topology: topologyOf(tasks, lines) };
}
