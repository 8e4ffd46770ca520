import { grantIdOf } from '#libs/keys';
import { LIMITS, type EditGrant, type RevokedGrants } from '#proto';

/**
 * Which grants were taken back, as far as it is known here. What was known once stays known until no grant can be meant by it any
 * more, whatever becomes of the place that it was read from.
 */
export class KnownRevocations {
  /** By grant id. */
  readonly #single = new Map<string, RevokedGrants>();
  /** By key, and by key and run: the one that reaches furthest. */
  readonly #bySigner = new Map<string, RevokedGrants>();
  #newestMs = 0;

  /** Given twice, or in any order, it is the same. */
  add(revoked: RevokedGrants): void {
    const { grants } = revoked;
    if (grants.kind === 'grant') this.#single.set(grants.grantId, revoked);
    else this.#addOfSigner(grants, revoked);
    this.#newestMs = Math.max(this.#newestMs, Date.parse(revoked.revokedAt));
    this.#forgetOld(this.#single);
    this.#forgetOld(this.#bySigner);
  }

  /** By what this grant was taken back; undefined while it counts. */
  of(grant: EditGrant): RevokedGrants | undefined {
    const bySigner = [signerOf(grant.key, grant.runId), signerOf(grant.key)].map((signer) =>
      this.#bySigner.get(signer),
    );
    const one = bySigner.find((revoked) => revoked !== undefined && reachesTo(revoked, grant));
    return one ?? (this.#single.size === 0 ? undefined : this.#single.get(grantIdOf(grant)));
  }

  #addOfSigner(grants: OfSigner, revoked: RevokedGrants): void {
    const signer = signerOf(grants.key, grants.kind === 'run' ? grants.runId : undefined);
    const known = this.#bySigner.get(signer)?.grants;
    const isKnown = known !== undefined && known.kind !== 'grant';
    if (isKnown && Date.parse(known.signedUntil) >= Date.parse(grants.signedUntil)) return;
    this.#bySigner.delete(signer); // what is set anew stands last
    this.#bySigner.set(signer, revoked);
  }

  /** They come in the order in which they were said, so only the first are looked at. */
  #forgetOld(known: Map<string, RevokedGrants>): void {
    for (const [id, { revokedAt }] of known) {
      if (Date.parse(revokedAt) + LIMITS.grantRevocationMs > this.#newestMs) return;
      known.delete(id);
    }
  }
}

type OfSigner = Exclude<RevokedGrants['grants'], { kind: 'grant' }>;

function signerOf(key: string, runId?: string): string {
  return runId === undefined ? key : `${key} ${runId}`;
}

function reachesTo({ grants }: RevokedGrants, { issuedAt }: EditGrant): boolean {
  if (grants.kind === 'grant') return false;
  return issuedAt === undefined || Date.parse(issuedAt) <= Date.parse(grants.signedUntil);
}
