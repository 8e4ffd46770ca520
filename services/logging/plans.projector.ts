import type { DataSource, EntityManager } from 'typeorm';
import { parseWith, PlanCommit, runIdOfSubject, sentenceOf } from '#proto';
import { planStepsOf, type PlanStep } from '#libs/constellation';
import type { StreamEntry } from '#libs/event-log';
import type { Clock } from '#libs/platform';
import type { DeadLetters } from './dead-letter.adapter.js';
import { DeadLetterEntity, PlanStepEntity } from './entities/index.js';
import type { Prepared, Projection } from './follow.projector.js';
import { parseJson } from './json.js';
import { upsertRows } from './write.adapter.js';

export interface PlansOptions {
  readonly clock: Clock;
  readonly deadLetters: DeadLetters;
}

/** PLANS -> table plan_step. Every commit says it all, so no state is folded. */
export class PlansProjection implements Projection {
  readonly stream = 'PLANS';
  private readonly options: PlansOptions;
  private readonly buried = new Set<number>();

  constructor(options: PlansOptions) {
    this.options = options;
  }

  async begin(source: DataSource): Promise<void> {
    const letters = await source.getRepository(DeadLetterEntity).findBy({ stream: this.stream });
    for (const { sequence } of letters) this.buried.add(sequence);
  }

  async prepare(entries: readonly StreamEntry[], refused?: string): Promise<Prepared> {
    const steps: PlanStep[] = [];
    const bad: { entry: StreamEntry; reason: string }[] = [];
    for (const entry of entries) {
      const commit = refused ?? parse(entry);
      if (typeof commit === 'string') bad.push({ entry, reason: commit });
      else steps.push(...planStepsOf([commit]));
    }
    return {
      write: async (manager) => {
        await upsertRows(manager, PlanStepEntity, lastByPlace(steps));
        for (const { entry, reason } of bad) await this.bury(manager, entry, reason);
      },
      applied: () => undefined,
    };
  }

  /** Last of all, when nothing else can be refused. */
  private async bury(manager: EntityManager, entry: StreamEntry, reason: string): Promise<void> {
    const { stream } = this;
    const { sequence } = entry;
    const at = new Date(this.options.clock.now()).toISOString();
    await upsertRows(manager, DeadLetterEntity, [{ stream, sequence, reason, at }]);
    if (!this.buried.has(sequence)) await this.options.deadLetters.bury(stream, entry, reason);
    this.buried.add(sequence);
  }
}

/** A statement may touch a row only once; a chain that was forged may have a number twice. */
function lastByPlace(steps: readonly PlanStep[]): PlanStep[] {
  return [...new Map(steps.map((step) => [`${step.runId} ${step.number} ${step.index}`, step])).values()];
}

function parse(entry: StreamEntry): PlanCommit | string {
  const parsed = parseWith(PlanCommit, parseJson(entry.data));
  if (!parsed.ok) return parsed.issues.map(sentenceOf).join('; ');
  const { runId } = parsed.value;
  return runIdOfSubject(entry.subject) === runId ? parsed.value : `it says that it belongs to the run ${runId}`;
}
