import { LIMITS, type Refusal } from '#proto';
import type { ActorOrder, ActorRefusal } from '#libs/actors';

const APPROVAL_DAYS_MAX = LIMITS.contentApprovalMsMax / 86_400_000;

/** A command id that stands for something else already. */
export const ID_USED: Refusal = {
  code: 'INVALID_REQUEST',
  message: 'The command is not carried out.',
  issues: [{ path: 'id', message: 'must be new: another command had this id' }],
};

/** What people are told when the answer is no. */
export function refusalOfActor(reason: ActorRefusal, { actorId }: ActorOrder): Refusal {
  switch (reason) {
    case 'ACTOR_KNOWN':
      return invalid('actorId', `must be another name: ${actorId} is or was somebody's, and stands in logs`);
    case 'ACTOR_UNKNOWN':
      return {
        code: 'NOT_FOUND',
        message: `There is nobody called ${actorId}; "orrery people list" shows who there is.`,
        issues: [],
      };
    case 'ACTOR_REVOKED':
      return no(`${actorId} is revoked, for good; add the person under another name.`);
    case 'SERVICE':
      return no(
        `${actorId} is a service of this installation: what it may do comes with its version. A stolen key of it is revoked as such.`,
      );
    case 'LAST_ADMIN':
      return no(
        'Nobody could administer people any more: give the role admin to another person who has a key, a login or a token first.',
      );
    case 'GIVEN_AND_TAKEN':
      return invalid('take', 'must name no role that is given at the same time');
    case 'KEY_TAKEN':
      return invalid('key', "must be nobody else's key");
    case 'KEY_WAS_REVOKED':
      return invalid('key', 'must be a new key: this one was revoked, and stays so');
    case 'LOGIN_TAKEN':
      return invalid('subject', "must be nobody else's login; unbind it there first");
    case 'NO_PERSON':
      return invalid('actorId', 'must be a person: systems come in with keys and tokens');
    case 'NOT_OUTSIDE':
      return invalid('actorId', 'must be a system outside: what people and services do is not limited');
    case 'TOKEN_KNOWN':
      return invalid('tokenId', 'must be new, and so must the secret: a token is given once');
    case 'TOKEN_UNKNOWN':
      return {
        code: 'NOT_FOUND',
        message: `There is no such token; "orrery tokens list" shows those there are.`,
        issues: [],
      };
    case 'TOKEN_OVER':
      return invalid('expiresAt', 'must be later than now, and a token that is over is not used');
    case 'NO_APPROVER':
      return no(`${actorId} is no person with the role approver.`);
    case 'APPROVAL_KNOWN':
      return ID_USED;
    case 'APPROVAL_TIME':
      return invalid('expiresAt', `must be later than now, by ${APPROVAL_DAYS_MAX} days at most`);
    case 'TOO_MANY':
      return no(
        `There are too many: an installation has ${LIMITS.actorsMax} actors, an actor ${LIMITS.actorKeysMax} keys, ${LIMITS.actorTokensMax} tokens, ${LIMITS.actorLoginsMax} logins and ${LIMITS.contentApprovalsMax} standing approvals at most.`,
      );
    default:
      return reason satisfies never;
  }
}

function no(message: string): Refusal {
  return { code: 'INVALID_STATE', message, issues: [] };
}

function invalid(path: string, message: string): Refusal {
  return { code: 'INVALID_REQUEST', message: 'The command is not carried out.', issues: [{ path, message }] };
}
