import { GENESIS_HASH } from '#proto';
import type { AttemptCommit, AttemptKey, FleetCommit, PlanCommit, RunCommit } from '#proto';
import { sealCommit } from './sealing.js';

const AT = '2026-11-20T15:40:40.489Z';
const BY = { service: 'orchestrator', instance: 'test' };

/** What the next commit of an aggregate follows. */
export interface Head {
  readonly number: number;
  readonly hash: string;
  readonly sequence: number;
}

export const START: Head = { number: 0, hash: GENESIS_HASH, sequence: 0 };

export function headOf(
  commits: readonly { number: number; hash: string; events: readonly { sequence: number }[] }[],
): Head {
  const last = commits.at(-1);
  if (last === undefined) return START;
  return { number: last.number, hash: last.hash, sequence: last.events.at(-1)?.sequence ?? 0 };
}

/** A commit id out of a counter: tests read better than with random ones. */
export function sampleId(index: number): string {
  return `01${String(index).padStart(24, '0')}`;
}

export function sampleRunCommit(runId: string, after: Head, id: string, text = 'a reason'): RunCommit {
  const sequence = after.sequence + 1;
  const data = { by: 'system' as const, reason: text, pausedAt: AT };
  return sealCommit(
    {
      commit: id,
      runId,
      number: after.number + 1,
      at: AT,
      by: BY,
      causes: [{ kind: 'verb' as const, id: `cause-${id}` }],
      events: [{ id: `${runId}.${sequence}`, type: 'RUN_PAUSED' as const, sequence, schemaVersion: 1, data }],
    },
    after.hash,
  );
}

export function sampleAttemptCommit(key: AttemptKey, after: Head, id: string): AttemptCommit {
  const sequence = after.sequence + 1;
  return sealCommit(
    {
      commit: id,
      ...key,
      number: after.number + 1,
      at: AT,
      by: BY,
      causes: [],
      events: [
        {
          id: `${id}.${sequence}`,
          type: 'ATTEMPT_RESUMED' as const,
          sequence,
          schemaVersion: 1,
          data: { instance: 'test' },
        },
      ],
    },
    after.hash,
  );
}

export function samplePlanCommit(runId: string, after: Head, id: string): PlanCommit {
  const sequence = after.sequence + 1;
  const data = {
    editId: 'e1',
    try: after.number + 1,
    calls: [],
    templates: [],
    error: { code: 'NO_MODEL', message: 'no model is configured' },
    used: { llmCalls: 0, tokens: 0, commands: 0, costUsd: 0 },
  };
  return sealCommit(
    {
      commit: id,
      runId,
      number: after.number + 1,
      at: AT,
      by: { service: 'planner', instance: 'test' },
      causes: [],
      events: [{ id: `${id}.${sequence}`, type: 'ROUND_FAILED' as const, sequence, schemaVersion: 1, data }],
    },
    after.hash,
  );
}

export function sampleFleetCommit(deviceId: string, after: Head, id: string): FleetCommit {
  const sequence = after.sequence + 1;
  return sealCommit(
    {
      commit: id,
      deviceId,
      number: after.number + 1,
      at: AT,
      by: BY,
      causes: [],
      events: [
        {
          id: `${id}.${sequence}`,
          type: 'DEVICE_LOST' as const,
          sequence,
          schemaVersion: 1,
          data: { sessionId: 'session-1', lostAt: AT },
        },
      ],
    },
    after.hash,
  );
}
