import { PastedEnrolment, EnrolmentWord, EnrolmentOffer } from '../enrolment/index.js';
import { answer, body, operation, refusedWith } from './described.js';

export const ENROLMENT_SCHEMAS = { EnrolmentWord, PastedEnrolment, EnrolmentOffer };

/** How machines become devices. */
export function enrolmentPaths(): Record<string, object> {
  return {
    '/v1/enrolments': {
      post: {
        ...operation(
          'Enrol a machine as a device, with the lines to paste there, as `orrery devices enroll` prints them: the token in them is in this answer only',
          { '200': answer('PastedEnrolment'), ...refusedWith(409, 413, 507) },
          [],
        ),
        ...body('EnrolmentWord'),
      },
    },
    '/v1/enrolments/offer': {
      get: operation(
        'Where devices reach the gateway, and the release of the client that they are offered',
        { '200': answer('EnrolmentOffer') },
        [],
      ),
    },
  };
}
