import type { Runbook } from '#libs/planner';
import { matchGoal, noModel, planOfRunbook } from '#libs/planner';
import { refused, type QueryAnswer, type QueryRefusedError, type QueryRequest } from '#libs/messaging';
import { sentenceOf } from '#proto';
import type { PlanningFleet } from './fleet.js';
import { untilKnown } from './known-fleet.adapter.js';

export interface MatchParts {
  readonly runbooks: readonly Runbook[];
  readonly problems: readonly string[];
  readonly fleet: PlanningFleet;
  readonly hasModel: boolean;
}

/** Says how goals would be planned and what runbooks would make of them; nothing is planned. */
export class MatchHandler {
  readonly #parts: MatchParts;

  constructor(parts: MatchParts) {
    this.#parts = parts;
  }

  async match({ goal }: QueryRequest<'planner', 'match'>): Promise<QueryAnswer<'planner', 'match'>> {
    const { runbooks, hasModel } = this.#parts;
    const found = matchGoal(goal, runbooks);
    if (found !== null && 'issues' in found) {
      const [word = ''] = goal.trim().split(/\s+/u);
      const about = runbooks.some(({ info }) => info.name === word) ? `runbook ${word}: ` : '';
      return { kind: 'none', message: `${about}${found.issues.map(sentenceOf).join('; ')}` };
    }
    if (found !== null) {
      return { kind: 'runbook', name: found.runbook.info.name, parameters: { ...found.parameters } };
    }
    if (hasModel) return { kind: 'model' };
    return { kind: 'none', message: noModel(runbooks.map(({ info }) => info.name)) };
  }

  async runbooks(): Promise<QueryAnswer<'planner', 'runbooks'>> {
    const { runbooks, problems } = this.#parts;
    return { runbooks: runbooks.map(({ info }) => info), problems: [...problems] };
  }

  async runbook({ name, parameters }: QueryRequest<'planner', 'runbook'>): Promise<QueryAnswer<'planner', 'runbook'>> {
    const { runbooks, fleet } = this.#parts;
    const runbook = runbooks.find(({ info }) => info.name === name);
    if (runbook === undefined) throw unknown(name, runbooks);
    await untilKnown(fleet);
    const made = planOfRunbook(runbook, parameters, { fleet: fleet.view });
    return {
      runbook: runbook.info,
      constellation: made.ok ? made.constellation : null,
      issues: made.ok ? [] : [...made.issues],
    };
  }
}

function unknown(name: string, runbooks: readonly Runbook[]): QueryRefusedError {
  const names = runbooks.map(({ info }) => info.name).join(', ');
  const valid = names === '' ? 'there are none' : `must be one of ${names}`;
  return refused('NOT_FOUND', `There is no runbook ${name}.`, [{ path: 'name', message: valid }]);
}
