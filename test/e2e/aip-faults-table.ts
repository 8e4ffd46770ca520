import { expect } from '@jest/globals';
import type { FaultDevice } from './aip-faults-device.js';
import type { Fate } from './aip-faults-rig.js';

const OUTCOMES = ['completed', 'failed', 'timed_out', 'cancelled', 'device_lost', 'unknown'] as const;

/** What one fault did. Times are information and are never judged. */
export interface Row {
  readonly fault: string;
  readonly fates: readonly Fate[];
  readonly effects: readonly string[];
  /** The connection that there was before it is there still. */
  readonly isSame?: boolean;
  /** From the fault, or from its end when it lasts, until the device was connected again. */
  readonly backMs?: number | undefined;
  /** From the same instant until every command had its outcome. */
  readonly endedMs: number;
}

/** No command was executed twice, and whatever counts as completed was executed. Ids are unique on a device. */
export async function judged(fates: readonly Fate[], device: FaultDevice): Promise<string[]> {
  const ids = new Set(fates.map(({ id }) => id));
  const effects = (await device.effects()).filter((id) => ids.has(id));
  expect(effects.toSorted()).toEqual([...new Set(effects)].toSorted());
  const completed = fates.filter(({ outcome }) => outcome === 'completed').map(({ id }) => id);
  expect(completed.filter((id) => !effects.includes(id))).toEqual([]);
  return effects;
}

export const withOutcome = (fates: readonly Fate[], outcome: Fate['outcome']): string[] =>
  fates
    .filter((fate) => fate.outcome === outcome)
    .map(({ id }) => id)
    .toSorted();

/** The table of a whole file, for people. */
export function tableOf(rows: readonly Row[]): string {
  const head = ['fault', 'commands', ...OUTCOMES, 'effects', 'back ms', 'ended ms'];
  const lines = rows.map(({ fault, fates, effects, backMs, endedMs }) => [
    fault,
    fates.length,
    ...OUTCOMES.map((outcome) => withOutcome(fates, outcome).length),
    effects.length,
    backMs === undefined ? '-' : Math.round(backMs),
    Math.round(endedMs),
  ]);
  const all = [head, ...lines].map((line) => line.map(String));
  const widths = head.map((_, column) => Math.max(...all.map((line) => line[column]?.length ?? 0)));
  return all
    .map((line) =>
      line
        .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
        .join('  '),
    )
    .join('\n');
}
