import type { NatsConnection } from '@nats-io/transport-node';
import type { PlanCommit, PlanEvent, Proposal } from '#proto';
import { newCommitId, openPlanLog, sealCommit, type PlanLog } from '#libs/event-log';

const AT = '2026-01-01T00:00:00.000Z';
export const USED = { llmCalls: 1, tokens: 900, commands: 0, costUsd: 0.01 };

/** Appends to the chain of a run what the planner would have written, for tests. */
export class PlannerHand {
  readonly #plans: PlanLog;

  constructor(from: NatsConnection | PlanLog) {
    this.#plans = 'append' in from ? from : openPlanLog(from);
  }

  async write(runId: string, ...events: PlanEvent[]): Promise<PlanCommit> {
    const stored = await this.#plans.load(runId);
    const last = stored.at(-1);
    const before = stored.flatMap(({ commit }) => commit.events).length;
    const commit = newCommitId(Date.now());
    const recorded = events.map((event, index) => ({
      id: `${commit}.${index}`,
      sequence: before + index + 1,
      schemaVersion: 1,
      ...event,
    }));
    const draft = {
      commit,
      number: stored.length + 1,
      at: AT,
      by: { service: 'planner', instance: 'test' },
      causes: [],
      runId,
      events: recorded,
    };
    const sealed = sealCommit(draft, last?.commit.hash ?? '0'.repeat(64));
    const appended = await this.#plans.append(runId, sealed, last?.sequence ?? 0);
    if (appended.kind === 'conflict') throw new Error('somebody else plans for this run');
    return sealed;
  }
}

/** A proposal of one task without an agent. */
export function proposed(change: Partial<Proposal> = {}, ...taskIds: string[]): PlanEvent {
  const tasks = taskIds.map((id) => ({
    id,
    name: id,
    description: '',
    tips: [],
    target: { device: 'web-1' },
    command: { tool: 'NOOP', arguments: {} },
  }));
  const edits = tasks.map((task) => ({ tool: 'add_task' as const, task }));
  const proposal: Proposal = {
    editId: 'e1',
    try: 1,
    baseRevision: null,
    state: 'CONTINUE',
    edits,
    ...change,
  };
  return { type: 'PLAN_PROPOSED', data: { proposal, source: 'model', used: USED } };
}

export function planned(change: { readonly try?: number } = {}): PlanEvent {
  return {
    type: 'ROUND_PLANNED',
    data: {
      editId: 'e1',
      try: 1,
      mode: 'creation',
      source: 'model',
      calls: [],
      templates: [],
      revision: 0,
      reply: null,
      ...change,
    },
  };
}

export function failed(message: string): PlanEvent {
  const error = { code: 'NO_MODEL', message };
  return { type: 'ROUND_FAILED', data: { editId: 'e1', try: 1, calls: [], templates: [], error, used: USED } };
}

export function evaluated(reason: string): PlanEvent {
  const evaluation = { reason, sub_scores: [{ name: 'all', evaluation: 'yes' as const }], complete: 'yes' as const };
  return { type: 'RUN_EVALUATED', data: { calls: [], templates: [], evaluation, used: USED } };
}
