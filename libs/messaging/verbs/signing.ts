import type { NatsConnection } from '@nats-io/transport-node';
import type { Vouched } from '#proto';

/** In whose name a command is sent. */
export interface CommandSigner {
  /** Of the sender's bus key: the command is signed with it. */
  readonly seed: string;
  /** Milliseconds since the epoch: the time of the proof. */
  readonly now: () => number;
  /** For whom the sender speaks, where that is somebody who has logged in at it. */
  readonly vouched?: Vouched | undefined;
}

const signers = new WeakMap<NatsConnection, CommandSigner>();

/** Whoever came in by this connection signs what is asked by it. */
export function signsQueries(nc: NatsConnection, signer: CommandSigner): void {
  signers.set(nc, signer);
}

/** Who signs what is asked by this connection; undefined: nobody, and it is asked in nobody's name. */
export function signerOn(nc: NatsConnection): CommandSigner | undefined {
  return signers.get(nc);
}

export const HALF_A_CHARACTER = 'the text must be whole: half a character cannot be signed';

/** Whether every text in it is whole: RFC 8785 has no form for half of a character. */
export function hasCanonicalForm(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([key, item]) => key.isWellFormed() && hasCanonicalForm(item));
}
