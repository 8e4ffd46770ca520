import type { NatsConnection } from '@nats-io/transport-node';
import type { AgentKind } from '#libs/device-agent';
import type { ChatModel } from '#libs/llm';
import { parseConfig } from '#libs/platform';
import { startReplica, type Replica } from '#libs/testing';
import { AGENT_KIT } from '../agents/index.js';
import { DeviceAgentConfig } from '../device-agent.config.js';
import { DEVICE_AGENT_CONFIG, DeviceAgentModule, TIMES } from '../device-agent.module.js';
import type { RunnerTimes } from '../orders/index.js';
import { testPolicy } from './policy.js';
import { shellAgent } from './shell-agent.js';

export interface ServedOptions {
  readonly nc: NatsConnection;
  readonly instance: string;
  readonly times: RunnerTimes;
  readonly attemptsMax: number;
  /** Exact commands only when absent. */
  readonly model?: ChatModel | null;
  readonly kinds?: readonly AgentKind[];
}

/** The service in this process, with a policy, a model and agents of a test. */
export function serveAgent(options: ServedOptions): Promise<Replica> {
  const { nc, instance, times, attemptsMax, model = null, kinds = [shellAgent()] } = options;
  const config = { ...parseConfig(DeviceAgentConfig, {}), attemptsMax };
  const kit = { policy: testPolicy(), model, kinds: model === null ? [] : kinds };
  return startReplica(DeviceAgentModule, {
    service: 'device-agent',
    nc,
    instance,
    providers: [
      { provide: DEVICE_AGENT_CONFIG, useValue: config },
      { provide: AGENT_KIT, useValue: kit },
      { provide: TIMES, useValue: times },
    ],
  });
}
