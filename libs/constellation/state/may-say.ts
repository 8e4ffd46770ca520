import { type Actor, mayDo, type Role, ROLE_TABLE, type RunVerb } from '#proto';
import { type Answer, refuse } from '../values/index.js';
import { authorOf, isOwner } from './authors.js';
import type { Run } from './run.js';

/** Who says a verb, with the roles that he has as it is decided; undefined: nobody knows, and everybody is taken as he comes. */
export interface Speaker {
  readonly by: Actor;
  readonly roles: readonly Role[] | undefined;
}

/**
 * The refusal for who has no role to say this to the run as it stands; undefined when he may. One's own is a run that one requested, edited
 * or forked. To go on with a plan that waits is to approve it, and to say something to a run that was cancelled is to take that back.
 */
export function mayNotSay(run: Run, verb: RunVerb, { by, roles }: Speaker): Answer | undefined {
  if (roles === undefined) return undefined;
  const { action, what } = meantBy(run, verb);
  if (mayDo(roles, action, { own: isOwner(authorOf(run, by)) })) return undefined;
  const { roles: enough, own = [] } = ROLE_TABLE[action];
  const less = own.length === 0 ? '' : `, or ${own.join(' or ')} for a run of one's own`;
  const has = roles.length === 0 ? 'none' : roles.join(', ');
  return refuse('UNAUTHORIZED', `${what} needs the role ${enough.join(' or ')}${less}; ${by.id} has ${has}`);
}

/** What a verb comes to in the run as it stands. */
function meantBy(run: Run, verb: RunVerb): { readonly action: RunVerb; readonly what: string } {
  if (verb === 'RESUME' && run.waitsFor === 'plan_approval') {
    return { action: 'APPROVE', what: `${verb} of a plan that waits for approval` };
  }
  if (verb === 'SAY' && run.phase === 'CANCELLED')
    return { action: 'RETRY', what: `${verb} to a run that was cancelled` };
  return { action: verb, what: verb };
}
