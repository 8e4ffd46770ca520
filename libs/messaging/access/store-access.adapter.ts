import { jetstream, JetStreamApiError } from '@nats-io/jetstream';
import { errors, type NatsConnection } from '@nats-io/transport-node';
import { ulid } from 'ulid';
import type { AccessRecord } from '#proto';
import { ConnectionWatch, storeFaultOf, StoreWatch } from '../connection/index.js';

const STORE_TIMEOUT_MS = 2_000;
const TRIES_MAX = 2;

/** It is not known that the record is stored, so what it tells of must not be shown. */
export class AccessNotStoredError extends Error {
  override readonly name = 'AccessNotStoredError';
}

/** Resolves when the record is on the disk of the bus. Throws AccessNotStoredError with a sentence for who wanted to read. */
export async function storeAccess(nc: NatsConnection, subject: string, about: Omit<AccessRecord, 'id'>): Promise<void> {
  if (!(await ConnectionWatch.of(nc).isBackSoon())) throw notStored('the bus cannot be reached now');
  // Nobody can guess it: who did could have the server take the record for one that it has.
  const id = ulid();
  const record: AccessRecord = { id, ...about };
  for (let attempt = 1; ; attempt++) {
    try {
      const options = { msgID: id, timeout: STORE_TIMEOUT_MS };
      await StoreWatch.of(nc).stored(() => jetstream(nc).publish(subject, JSON.stringify(record), options));
      return;
    } catch (cause) {
      if (attempt < TRIES_MAX && !isFinal(cause)) continue;
      throw notStored(reasonOf(cause), cause);
    }
  }
}

function notStored(why: string, cause?: unknown): AccessNotStoredError {
  return new AccessNotStoredError(`It cannot be recorded who reads this, so it is not shown: ${why}.`, { cause });
}

function isFinal(error: unknown): boolean {
  return (
    storeFaultOf(error) !== undefined ||
    error instanceof JetStreamApiError ||
    isDenied(error) ||
    error instanceof errors.NoRespondersError
  );
}

function isDenied(error: unknown): boolean {
  return [error, error instanceof Error ? error.cause : undefined].some(
    (one) => one instanceof errors.PermissionViolationError,
  );
}

function reasonOf(error: unknown): string {
  const fault = storeFaultOf(error);
  if (fault !== undefined) return fault.why;
  if (isDenied(error)) return 'the bus does not let this key write records';
  if (error instanceof JetStreamApiError) return `the bus says: ${error.message}`;
  if (error instanceof errors.NoRespondersError) return 'the bus has no stream for records';
  return 'the bus did not answer';
}
