import type { NatsConnection } from '@nats-io/transport-node';
import { query, QueryRefusedError, QueryUnavailableError } from '#libs/messaging';
import type { AgentProfile } from '#proto';

/** The devices, where the registry says; null when it does not answer: for what is only shown beside something else. */
export async function fleetIfKnown(nc: NatsConnection): Promise<readonly AgentProfile[] | null> {
  try {
    return (await query(nc, 'registry', 'devices', {})).devices;
  } catch (error) {
    if (error instanceof QueryUnavailableError || error instanceof QueryRefusedError) return null;
    throw error;
  }
}
