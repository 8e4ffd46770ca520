import { z } from 'zod';
import { Actor, Login, mayDo, Role, type ActionName } from '#proto';
import { Observable } from '../model/index.js';
import { getJson, showWithChanges } from './api.client.js';
import { useStore } from './topics.js';

const Viewer = z.looseObject({ actor: Actor, roles: z.array(Role), login: Login, csrf: z.string().optional() });
/** Who looks at this. */
export type Viewer = z.infer<typeof Viewer>;

const me = new Observable<Viewer | undefined>(undefined);

/** Before anything is shown. Throws ApiError. */
export async function whoAmI(): Promise<void> {
  const found = Viewer.parse(await getJson('/v1/me'));
  showWithChanges(found.csrf);
  me.set(found);
}

export function useMe(): Viewer | undefined {
  return useStore(me);
}

/** Whether who looks may do it; the server checks it again. `owner`: of the run that it is about. */
export function useMay(): (action: ActionName, owner?: string) => boolean {
  const known = useMe();
  return (action, owner) =>
    known !== undefined && mayDo(known.roles, action, { own: owner !== undefined && owner === known.actor.id });
}
