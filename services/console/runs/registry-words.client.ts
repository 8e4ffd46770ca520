import type { NatsConnection } from '@nats-io/transport-node';
import { proveActor } from '#libs/keys';
import { query, type QueryAnswer, type QueryName, type QueryRequest, type QueryService } from '#libs/messaging';
import type { Clock } from '#libs/platform';
import { type DeviceId, subjects } from '#proto';
import { vouchedFor, type ConsoleCaller } from '../callers/index.js';
import { RefusedError } from '../http/index.js';

type Name = 'content-approve' | 'content-revoke' | 'content-approvals' | 'devices' | 'device-set';

export interface RegistryWordsParts {
  readonly nc: NatsConnection;
  /** Of the console's bus key; without it nobody could say who asks. */
  readonly seed: string | undefined;
  readonly clock: Clock;
}

/** Asks the registry, and what knows the devices, in the name of who uses the console; signs with the console's key. */
export class RegistryWords {
  readonly #parts: RegistryWordsParts;

  constructor(parts: RegistryWordsParts) {
    this.#parts = parts;
  }

  /** Throws RefusedError and what the registry refuses with. */
  ask<N extends Name>(
    caller: ConsoleCaller,
    name: N,
    body: Omit<QueryRequest<'registry', N>, 'actor'>,
  ): Promise<QueryAnswer<'registry', N>> {
    return this.#ask(caller, 'registry', name, body);
  }

  /** The directories that runs have on a device, of which the device itself is asked. */
  workspaces(caller: ConsoleCaller, deviceId: DeviceId): Promise<QueryAnswer<'device-agent', 'workspaces'>> {
    return this.#ask(caller, 'device-agent', 'workspaces', { deviceId });
  }

  #ask<S extends QueryService, N extends QueryName<S>>(
    caller: ConsoleCaller,
    service: S,
    name: N,
    body: object,
  ): Promise<QueryAnswer<S, N>> {
    const { nc, seed, clock } = this.#parts;
    if (seed === undefined) {
      const message = 'This console has no key to sign with, so it asks for nothing in the name of others.';
      throw new RefusedError({ code: 'UNAUTHORIZED', message }, 403);
    }
    const command = JSON.parse(JSON.stringify(body)) as object;
    const at = new Date(clock.now()).toISOString();
    const signed = { subject: subjects.query(service, name), at, body: command, vouched: vouchedFor(caller) };
    return query(nc, service, name, { ...command, actor: proveActor(seed, signed) } as QueryRequest<S, N>);
  }
}
