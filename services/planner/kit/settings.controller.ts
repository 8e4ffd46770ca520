import { Inject } from '@nestjs/common';
import type { QueryAnswer, QueryRequest } from '#libs/messaging';
import { Answers, INSTANCE, TakesMessages } from '#libs/platform';
import { PLANNER_KIT, type PlannerKit } from './planner-kit.adapter.js';

/** Says what this replica plans with. */
@TakesMessages()
export class SettingsQueries {
  readonly #kit: Pick<PlannerKit, 'inUse' | 'texts'>;
  readonly #instance: string;

  constructor(@Inject(PLANNER_KIT) kit: Pick<PlannerKit, 'inUse' | 'texts'>, @Inject(INSTANCE) instance: string) {
    this.#kit = kit;
    this.#instance = instance;
  }

  @Answers('planner', 'settings')
  async settings(): Promise<QueryAnswer<'planner', 'settings'>> {
    return { instance: this.#instance, ...this.#kit.inUse };
  }

  @Answers('planner', 'prompt')
  async prompt({ sha256: wanted }: QueryRequest<'planner', 'prompt'>): Promise<QueryAnswer<'planner', 'prompt'>> {
    return { text: this.#kit.texts.find(({ sha256 }) => sha256 === wanted)?.text ?? null };
  }
}
