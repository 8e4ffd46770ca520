import type { NatsConnection } from '@nats-io/transport-node';
import type { Clock } from '#libs/platform';
import { startReplica, type Replica } from '#libs/testing';
import type { OrchestratorConfig } from './orchestrator.config.js';
import { ORCHESTRATOR_CONFIG, OrchestratorModule } from './orchestrator.module.js';

/** A replica of the orchestrator in this process. */
export function startOrchestrator(
  nc: NatsConnection,
  { instance = 'one', clock, ...config }: { instance?: string; clock?: Clock } & Partial<OrchestratorConfig> = {},
): Promise<Replica> {
  const given = {
    tasksMax: undefined,
    planApproval: 'as-requested',
    approvals: 1,
    judge: 'models',
    metricsLabels: [],
    ...config,
  } satisfies OrchestratorConfig;
  return startReplica(OrchestratorModule, {
    service: 'orchestrator',
    nc,
    instance,
    ...(clock && { clock }),
    providers: [{ provide: ORCHESTRATOR_CONFIG, useValue: given }],
  });
}
