import type { NatsConnection } from '@nats-io/transport-node';
import { pino, type Logger } from 'pino';
import { parseConfig, type Environment } from '#libs/platform';
import { startReplica, type Replica } from '#libs/testing';
import type { ExperienceStore } from '../experience/experience-store.js';
import { loadPlannerKit, PLANNER_KIT, type PlannerKit } from '../kit/planner-kit.adapter.js';
import { PlannerConfig } from '../planner.config.js';
import { EXPERIENCES, MCP_SEED, PLANNER_CONFIG, PlannerModule } from '../planner.module.js';

export interface ServedPlanner {
  readonly nc: NatsConnection;
  readonly instance: string;
  /** Of the process; of prompts and runbooks, those of this installation are used. */
  readonly environment?: Environment;
  readonly config?: Partial<PlannerConfig>;
  readonly kit?: Partial<PlannerKit>;
  readonly experiences?: ExperienceStore;
  /** There is an endpoint when there is one. */
  readonly seed?: string;
  readonly logger?: Logger;
}

/** A planner in this process; unless it is told otherwise without an endpoint, and with the model of its environment. */
export async function servePlanner(options: ServedPlanner): Promise<Replica> {
  const { nc, instance, environment = {}, config, kit, experiences, seed, logger } = options;
  const given = parseConfig(PlannerConfig, { ORRERY_MCP_PORT: seed === undefined ? 'off' : '0' });
  return startReplica(PlannerModule, {
    service: 'planner',
    nc,
    instance,
    ...(logger && { logger }),
    providers: [
      { provide: PLANNER_CONFIG, useValue: { ...given, ...config } },
      {
        provide: PLANNER_KIT,
        useValue: { ...(await loadPlannerKit({}, environment, logger ?? pino({ level: 'silent' }))), ...kit },
      },
      { provide: MCP_SEED, useValue: seed ?? null },
      { provide: EXPERIENCES, useValue: experiences === undefined ? null : { store: experiences } },
    ],
  });
}
