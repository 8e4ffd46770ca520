import { z } from 'zod';
import { authorText, barredBy, type Author, type Run } from '#libs/constellation';
import { Actor, Login, mayDo, Role, type ActionName } from '#proto';
import { Observable } from '../model/index.js';
import { getJson, showWithChanges } from './api.client.js';
import { useStore } from './topics.js';

const Viewer = z.looseObject({
  actor: Actor,
  roles: z.array(Role),
  login: Login,
  csrf: z.string().optional(),
  isOnlyApprover: z.literal(true).optional(),
});
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

/**
 * Why the word of who looks lets nothing run in a run: what he had a part in, another person approves, unless there is none. Of a run of
 * which no more is known than who asked for it, that is what counts. The server checks it again.
 */
export function useBarred(run: Run | { readonly requestedBy: string } | undefined): string | undefined {
  const me = useMe();
  if (me === undefined || run === undefined) return undefined;
  const { actor } = me;
  const isOnly = me.isOnlyApprover === true;
  const author: Author | undefined =
    'phase' in run
      ? barredBy(run, actor, isOnly ? [actor.id] : [])
      : run.requestedBy === actor.id && !isOnly
        ? { actor, part: 'requested' }
        : undefined;
  return author && authorText(author);
}
