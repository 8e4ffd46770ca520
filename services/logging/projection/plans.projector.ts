import { parseWith, PlanCommit, runIdOfSubject, sentenceOf, parseJson } from '#proto';
import { planStepsOf, type PlanStep } from '#libs/constellation';
import type { StreamEntry } from '#libs/event-log';
import { PlanStepEntity } from '../entities/index.js';
import type { BurialParts } from './dead-letter.adapter.js';
import { RowsProjection } from './rows.projector.js';
import { upsertRows } from './write.adapter.js';

/** PLANS -> table plan_step. */
export function plansProjection(options: BurialParts): RowsProjection<PlanCommit> {
  return new RowsProjection<PlanCommit>(
    {
      stream: 'PLANS',
      parse,
      write: (manager, read) =>
        upsertRows(manager, PlanStepEntity, lastByPlace(read.flatMap(({ commit }) => planStepsOf([commit])))),
    },
    options,
  );
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
