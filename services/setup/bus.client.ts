import { setTimeout as sleep } from 'node:timers/promises';
import type { NatsConnection } from '@nats-io/transport-node';
import { readSecret } from '#libs/keys';
import { BusError, connectBus, QueryUnavailableError, signsQueries } from '#libs/messaging';

const TRIES_MAX = 30;
const WAIT_MS = 1_000;

export interface BusLogin {
  readonly url: string;
  readonly user: string;
  readonly seedFile: string;
}

/** Does the work on the bus as this user. A bus or a service that is not there yet is waited for; every work can be repeated. */
export async function withSetupBus<T>(as: BusLogin, work: (nc: NatsConnection) => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await once(as, work);
    } catch (error) {
      const absent = error instanceof BusError || error instanceof QueryUnavailableError;
      if (!absent || tries === TRIES_MAX) throw error;
      await sleep(WAIT_MS);
    }
  }
}

async function once<T>({ url, user, seedFile }: BusLogin, work: (nc: NatsConnection) => Promise<T>): Promise<T> {
  const nc = await connectBus({ url, seedFile, name: `orrery-setup-${user}`, inboxPrefix: `_INBOX_${user}` });
  try {
    // Whoever came in by it has it.
    signsQueries(nc, { seed: (await readSecret(seedFile)) ?? '', now: Date.now });
    return await work(nc);
  } finally {
    await nc.close();
  }
}
