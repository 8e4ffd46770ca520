import type { NatsConnection } from '@nats-io/transport-node';
import { type Json, type PlanCommit, type RunCommit, type RunOptions } from '#proto';
import { decide, emptyRun, evolveCommit, type FleetView, type Input, type Run } from '#libs/constellation';
import { newCommitId, openRunLog, sealCommit, type RunLog } from '#libs/event-log';

const DAY_MS = 24 * 60 * 60 * 1_000;
const HASH = 'a'.repeat(64);

/** A commit of the run, and where it lies in the stream. */
export interface Written {
  readonly commit: RunCommit;
  readonly sequence: number;
}

/** What an orchestrator writes of one run, decided with the real core, without anything around it. */
export class PlannedRun {
  readonly #runs: RunLog;
  readonly #fleet: FleetView;
  #run: Run;
  #end = 0;

  constructor(nc: NatsConnection, runId: string, fleet: FleetView) {
    this.#runs = openRunLog(nc);
    this.#fleet = fleet;
    this.#run = emptyRun(runId);
  }

  /** Tasks that a device works on. */
  get running(): string[] {
    const { running, graph } = this.#run;
    return [...running].map((position) => graph.taskIds.at(position) ?? '');
  }

  get isEdited(): boolean {
    return this.#run.editing !== null;
  }

  submit(goal: string, options: RunOptions = {}): Promise<Written> {
    const now = Date.now();
    const requested = {
      requestId: this.#run.runId,
      namespace: 'default',
      contentHash: HASH,
      goal,
      constellation: null,
      options,
      metadata: {},
      requestedBy: { kind: 'external' as const, id: 'default' },
      requestedAt: new Date(now).toISOString(),
      deadlineAt: new Date(now + DAY_MS).toISOString(),
    };
    return this.#decide({ kind: 'submit', requested });
  }

  /** Takes what the planner has proposed. */
  take({ events, hash: planHash }: PlanCommit): Promise<Written> {
    const by = { kind: 'system', id: 'planner' } as const;
    const inputs = events.flatMap((event): Input[] =>
      event.type === 'PLAN_PROPOSED' ? [{ kind: 'proposal', ...event.data, by, planHash }] : [],
    );
    return this.#decide(...inputs);
  }

  complete(taskId: string, value: Json): Promise<Written> {
    const finished = { status: 'completed', result: { value } } as const;
    return this.#decide({ kind: 'attempt-ended', taskId, attempt: 1, attemptHash: HASH, finished });
  }

  async #decide(...inputs: readonly Input[]): Promise<Written> {
    const now = Date.now();
    const { events, answers } = decide(this.#run, inputs, { fleet: this.#fleet, now, planner: true });
    if (events.length === 0) throw new Error(`nothing follows: ${JSON.stringify(answers)}`);
    const id = newCommitId(now);
    const { runId, number, sequence } = this.#run;
    const draft = {
      commit: id,
      number: number + 1,
      at: new Date(now).toISOString(),
      by: { service: 'orchestrator', instance: 'bench' },
      causes: [],
      runId,
      events: events.map((event, index) => ({
        id: `${id}.${index}`,
        sequence: sequence + index + 1,
        schemaVersion: 1,
        ...event,
      })),
    };
    const commit: RunCommit = sealCommit(draft, this.#run.hash);
    const appended = await this.#runs.append(runId, commit, this.#end);
    if (appended.kind === 'conflict') throw new Error(`somebody else wrote to run ${runId}`);
    this.#run = evolveCommit(this.#run, commit);
    this.#end = appended.sequence;
    return { commit, sequence: appended.sequence };
  }
}
