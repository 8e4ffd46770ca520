import { decodeEditGrant } from '#libs/keys';
import type { Actors } from '#libs/messaging';
import type { RunId } from '#proto';
import type { EndpointCaller } from './access.js';
import { refusals, type HttpRefusal } from './refusals.js';

const BEARER = /^Bearer +([A-Za-z0-9_-]{1,4096})$/iu;

export type CallerRead =
  { readonly ok: true; readonly caller: EndpointCaller } | { readonly ok: false; readonly refusal: HttpRefusal };

/** Who sends a request for a run. First whether the token is one at all: what it allows is nobody's business before. */
export function readCaller(
  { authorization, runId }: { readonly authorization: string | undefined; readonly runId: RunId },
  { actors, now }: { readonly actors: Pick<Actors, 'grantOf'>; readonly now: number },
): CallerRead {
  if (authorization === undefined) return { ok: false, refusal: refusals.noToken() };
  const grant = decodeEditGrant(BEARER.exec(authorization)?.[1] ?? '');
  if (grant === undefined)
    return { ok: false, refusal: refusals.badToken('The token is not one of "orrery mcp token".') };
  const granted = actors.grantOf(grant, { runId: grant.runId, access: grant.access, now });
  if (!granted.ok) {
    const { code, message } = granted.refusal;
    return { ok: false, refusal: code === 'TRY_AGAIN' ? refusals.later(message) : refusals.badToken(message) };
  }
  if (grant.runId !== runId) return { ok: false, refusal: refusals.otherRun() };
  return { ok: true, caller: { grant, actor: granted.actor } };
}
