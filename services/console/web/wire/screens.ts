import { useEffect } from 'react';
import { z } from 'zod';
import { Observable } from '../model/index.js';
import { getJson } from './api.client.js';
import { useStore } from './topics.js';

/** The devices whose screens the console can show. */
export const ShownScreens = z.object({ screens: z.array(z.string()) });
const shown = new Observable<ReadonlySet<string> | undefined>(undefined);
let asking: Promise<void> | undefined;

/** The devices whose screens can be looked at; undefined while that is not known. It is of the start of the console: it is asked for once. */
export function useScreens(): ReadonlySet<string> | undefined {
  useEffect(() => {
    asking ??= getJson('/v1/screens')
      .then((json) => shown.set(new Set(ShownScreens.parse(json).screens)))
      // Who may not see devices has no links to their screens; who could not be answered asks again with the next page.
      .catch(() => (asking = undefined));
  }, []);
  return useStore(shown);
}
