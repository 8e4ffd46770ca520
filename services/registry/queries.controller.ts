import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import type { AgentProfile } from '#proto';
import { serveQueries, type QueryHandlers, type Served } from '#libs/messaging';
import type { FleetConsumer } from './fleet.consumer.js';
import type { FleetHandler } from './fleet.handler.js';
import type { FleetState } from './fleet-state.js';
import { profileOf } from './profile.js';

export interface QueryPorts {
  readonly nc: NatsConnection;
  readonly fleet: FleetHandler;
  readonly state: FleetState;
  readonly consumer: FleetConsumer;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

export function serveRegistry(ports: QueryPorts): Promise<Served> {
  const { nc, logger } = ports;
  return serveQueries(nc, 'registry', handlers(ports), {
    report: (error, query) => logger.error({ err: error, query }, 'a query failed'),
  });
}

function handlers({ fleet, state, consumer, signal }: QueryPorts): QueryHandlers<'registry'> {
  return {
    devices: async () => ({ devices: state.all().map(listed).toSorted(byId) }),
    enroll: (request) => fleet.enroll(request),
    authenticate: async ({ tokenHash }) => {
      const known = state.deviceOf(tokenHash);
      if (known !== undefined) return { deviceId: known };
      // Perhaps another replica enrolled it a moment ago: look at everything there is before saying no.
      await consumer.reached(await consumer.lastSequence(), signal);
      return { deviceId: state.deviceOf(tokenHash) ?? null };
    },
  };
}

/** Descriptions of tools are in AGENT_PROFILES; a list of many devices has to fit into one message. */
function listed(device: Parameters<typeof profileOf>[0]): AgentProfile {
  const profile = profileOf(device);
  return { ...profile, tools: profile.tools.map((tool) => ({ ...tool, description: '' })) };
}

function byId(a: AgentProfile, b: AgentProfile): number {
  return a.deviceId < b.deviceId ? -1 : 1;
}
