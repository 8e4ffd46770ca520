import { FLEET_ID, GRANTS_ID, LIMITS, type DeviceId, type Refusal } from '#proto';
import type { GivenRefusal, RejectedReason } from '#libs/fleet';

/** What people and devices are told when the answer is no. */
export function refusalOf(reason: RejectedReason, id: DeviceId): Refusal {
  switch (reason) {
    case 'IS_CLIENT':
      return clash('deviceId', `must be another name: a client is enrolled as ${id}`);
    case 'IS_DEVICE':
      return clash('clientId', `must be another name: a device is enrolled as ${id}`);
    case 'TOKEN_USED':
      return tokenRefused(reason, 'was used by a client with another key, and works once');
    case 'TOKEN_EXPIRED':
      return tokenRefused(reason, `is older than ${LIMITS.joinTokenMs / 60_000} minutes`);
    case 'TOKEN_UNKNOWN':
      return tokenRefused(reason, 'is not known: it was replaced by a newer one, revoked, or never made here');
    case 'NO_SCREEN':
      return {
        code: 'INVALID_STATE',
        message: `${id} has no screen that could be taken over.`,
        issues: [{ path: 'deviceId', message: 'must be a device with tools of a desktop (docs/desktop.md)' }],
      };
    case 'TOO_MANY_GRANTS':
      return {
        code: 'INVALID_STATE',
        message: `You have revoked ${LIMITS.grantRevocationsMax} single tokens within a day; revoke all of a run, or all that you have signed.`,
        issues: [],
      };
    default:
      return reason satisfies never;
  }
}

/** Why the profile of a device stays as it is. */
export function refusalOfProfile(refusal: GivenRefusal, id: DeviceId): Refusal {
  switch (refusal.code) {
    case 'ID_USED':
      return {
        code: 'IDEMPOTENCY_CONFLICT',
        message: 'Another command about this device had this id.',
        issues: [{ path: 'id', message: 'must be another one for another command' }],
      };
    case 'OTHER_REVISION':
      return {
        code: 'INVALID_STATE',
        message: `The profile of ${id} was changed since it was looked at.`,
        issues: [{ path: 'revision', message: `is ${refusal.revision} by now: look at it again` }],
      };
    case 'TOO_MUCH':
      return {
        code: 'INVALID_REQUEST',
        message: `The profile of ${id} cannot be so.`,
        issues: [{ path: 'set', message: `the profile of a device ${refusal.message}` }],
      };
    default:
      return refusal satisfies never;
  }
}

const RESERVED: ReadonlyMap<DeviceId, string> = new Map([
  [FLEET_ID, 'the whole fleet'],
  [GRANTS_ID, 'the tokens that people have revoked'],
]);

/** No device or client can have such a name; undefined for one that is free. */
export function reservedName(path: 'deviceId' | 'clientId', id: DeviceId): Refusal | undefined {
  const what = RESERVED.get(id);
  return what === undefined ? undefined : clash(path, `must be another name: ${id} stands for ${what}`);
}

function clash(path: 'deviceId' | 'clientId', message: string): Refusal {
  const what = path === 'deviceId' ? 'device' : 'client';
  return { code: 'INVALID_REQUEST', message: `The ${what} cannot be enrolled.`, issues: [{ path, message }] };
}

function tokenRefused(code: Extract<RejectedReason, `TOKEN_${string}`>, what: string): Refusal {
  const message = `The join token ${what}; an administrator makes a new one with "orrery devices enroll <id>".`;
  return { code, message, issues: [] };
}
