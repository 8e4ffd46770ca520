import { Screens } from '../screens/index.js';
import { answer, operation } from './described.js';

export const SCREEN_SCHEMAS = { Screens };

/** Which screens there are. What is on one comes through a socket at `/v1/devices/{id}/screen`, which is no operation of HTTP. */
export function screenPaths(): Record<string, object> {
  return {
    '/v1/screens': {
      get: operation('The devices whose screens this console can show', { '200': answer('Screens') }, []),
    },
  };
}
