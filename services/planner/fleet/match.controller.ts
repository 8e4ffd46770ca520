import { Inject } from '@nestjs/common';
import { type Runbook, matchGoal, noModel, planOfRunbook } from '#libs/planner';
import { refused, type QueryAnswer, type QueryRefusedError, type QueryRequest } from '#libs/messaging';
import { Answers, TakesMessages } from '#libs/platform';
import { sentenceOf } from '#proto';
import { PLANNER_KIT, type PlannerKit } from '../kit/index.js';
import { PlanningFleet } from './fleet.js';
import { untilKnown } from './known-fleet.adapter.js';

type Kit = Pick<PlannerKit, 'model'> & { readonly shelf: Pick<PlannerKit['shelf'], 'runbooks' | 'problems'> };

/** Says how goals would be planned and what runbooks would make of them; nothing is planned. */
@TakesMessages()
export class MatchQueries {
  readonly #kit: Kit;
  readonly #fleet: PlanningFleet;

  constructor(@Inject(PLANNER_KIT) kit: Kit, @Inject(PlanningFleet) fleet: PlanningFleet) {
    this.#kit = kit;
    this.#fleet = fleet;
  }

  @Answers('planner', 'match')
  async match({ goal }: QueryRequest<'planner', 'match'>): Promise<QueryAnswer<'planner', 'match'>> {
    const { shelf, model } = this.#kit;
    const { runbooks } = shelf;
    const found = matchGoal(goal, runbooks);
    if (found !== null && 'issues' in found) {
      const [word = ''] = goal.trim().split(/\s+/u);
      const about = runbooks.some(({ info }) => info.name === word) ? `runbook ${word}: ` : '';
      return { kind: 'none', message: `${about}${found.issues.map(sentenceOf).join('; ')}` };
    }
    if (found !== null) {
      return { kind: 'runbook', name: found.runbook.info.name, parameters: { ...found.parameters } };
    }
    if (model !== null) return { kind: 'model' };
    return { kind: 'none', message: noModel(runbooks.map(({ info }) => info.name)) };
  }

  @Answers('planner', 'runbooks')
  async runbooks(): Promise<QueryAnswer<'planner', 'runbooks'>> {
    const { runbooks, problems } = this.#kit.shelf;
    return { runbooks: runbooks.map(({ info }) => info), problems: [...problems] };
  }

  @Answers('planner', 'runbook')
  async runbook({ name, parameters }: QueryRequest<'planner', 'runbook'>): Promise<QueryAnswer<'planner', 'runbook'>> {
    const { runbooks } = this.#kit.shelf;
    const runbook = runbooks.find(({ info }) => info.name === name);
    if (runbook === undefined) throw unknown(name, runbooks);
    await untilKnown(this.#fleet);
    const made = planOfRunbook(runbook, parameters, { fleet: this.#fleet.view });
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
