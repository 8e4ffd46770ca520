import { Inject } from '@nestjs/common';
import type { QueryAnswer, QueryRequest } from '#libs/messaging';
import { Answers, INSTANCE, TakesMessages } from '#libs/platform';
import { AGENT_KIT, type AgentKit } from '../agents/index.js';

/** Says by what this replica judges, and what its agents tell models. */
@TakesMessages()
export class SettingsHandler {
  readonly #kit: Pick<AgentKit, 'inUse' | 'texts'>;
  readonly #instance: string;

  constructor(@Inject(AGENT_KIT) kit: Pick<AgentKit, 'inUse' | 'texts'>, @Inject(INSTANCE) instance: string) {
    this.#kit = kit;
    this.#instance = instance;
  }

  @Answers('device-agent', 'settings')
  async settings(): Promise<QueryAnswer<'device-agent', 'settings'>> {
    return { instance: this.#instance, ...this.#kit.inUse };
  }

  @Answers('device-agent', 'prompt')
  async prompt({
    sha256: wanted,
  }: QueryRequest<'device-agent', 'prompt'>): Promise<QueryAnswer<'device-agent', 'prompt'>> {
    return { text: this.#kit.texts.find(({ sha256 }) => sha256 === wanted)?.text ?? null };
  }
}
