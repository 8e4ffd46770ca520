import { type Actor, mayDo, type Role, ROLE_TABLE, type RunVerb } from '#proto';
import { type Answer, refuse } from '../values/index.js';
import { authorOf } from './authors.js';
import type { Run } from './run.js';

/** Who says a verb, with the roles that he has as it is decided; undefined: nobody knows, and everybody is taken as he comes. */
export interface Speaker {
  readonly by: Actor;
  readonly roles: readonly Role[] | undefined;
}

/**
 * The refusal for who has no role to say this to the run as it stands; undefined when he may. One's own is a run that one requested, edited
 * or forked. To go on with a plan that waits is to approve it.
 */
export function mayNotSay(run: Run, verb: RunVerb, { by, roles }: Speaker): Answer | undefined {
  if (roles === undefined) return undefined;
  const action = verb === 'RESUME' && run.waitsFor === 'plan_approval' ? 'APPROVE' : verb;
  const part = authorOf(run, by)?.part;
  if (mayDo(roles, action, { own: part !== undefined && part !== 'parent' })) return undefined;
  const { roles: enough, own = [] } = ROLE_TABLE[action];
  const what = action === verb ? verb : `${verb} of a plan that waits for approval`;
  const less = own.length === 0 ? '' : `, or ${own.join(' or ')} for a run of one's own`;
  const has = roles.length === 0 ? 'none' : roles.join(', ');
  return refuse('UNAUTHORIZED', `${what} needs the role ${enough.join(' or ')}${less}; ${by.id} has ${has}`);
}
