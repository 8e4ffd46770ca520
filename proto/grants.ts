import { z } from 'zod';
import { ActorProof } from './actors.js';
import { Revocation } from './agent-profile.js';
import { Instant, RunId, Sha256 } from './ids.js';

/** Which grants somebody takes back: any one, by its id; or of those that are signed with the sender's key, for one run or all. */
export const GrantSelection = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('grant'), grantId: Sha256 }),
  z.strictObject({ kind: z.literal('run'), runId: RunId }),
  z.strictObject({ kind: z.literal('all') }),
]);
export type GrantSelection = z.infer<typeof GrantSelection>;

/** Grants of this key that were signed at this time or before; later ones count. */
const ofSigner = { key: ActorProof.shape.key, signedUntil: Instant } as const;

/** A person's word that some grants count no more: a fact of FLEET, and value of the bucket REVOKED_GRANTS. */
export const RevokedGrants = z.strictObject({
  ...Revocation.shape,
  grants: z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('grant'), grantId: Sha256 }),
    z.strictObject({ kind: z.literal('run'), runId: RunId, ...ofSigner }),
    z.strictObject({ kind: z.literal('all'), ...ofSigner }),
  ]),
});
export type RevokedGrants = z.infer<typeof RevokedGrants>;
