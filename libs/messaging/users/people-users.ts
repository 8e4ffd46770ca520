import { z } from 'zod';
import { withOwnSubjects } from '#libs/keys';
import { Actor, ActorId, BusKey, LIMITS, subjects } from '#proto';
import { natsUsers, type NatsUserSpec } from './nats-users.js';
import { outsideUser, personAccount, type OutsideLimits } from './outside.js';

/** A key of a person or of another system that the server lets in. Whom it stands for is a fact; this is only how it gets in. */
export const BusPerson = z.strictObject({
  id: ActorId,
  kind: Actor.shape.kind,
  key: BusKey,
  /** At a time, of all keys of an external system together, where it was given more. */
  connections: z.int().min(1).max(LIMITS.externalConnectionsGivenMax).optional(),
});
export type BusPerson = z.infer<typeof BusPerson>;

/** Whether a user of the installation itself has this name: nobody else may have it, or he would hear its answers. */
export const isBuiltInUser = (id: string): boolean => natsUsers().some(({ name }) => name === id);

/** The keys of people as users of the bus. A name of the installation's own is nobody's: it is left out. */
export function peopleUsers(people: readonly BusPerson[]): (NatsUserSpec & { readonly nkeyPublic: string })[] {
  return people
    .filter(({ id }) => !isBuiltInUser(id))
    .map(({ id, kind, key, connections }) => {
      const user = kind === 'person' ? atTerminal(id) : outside(id, { connections });
      return withOwnSubjects({ ...user, nkeyPublic: key });
    });
}

/** As the person at the terminal of the installation, with requests of his own and what is answered to them. */
function atTerminal(id: string): NatsUserSpec {
  const terminal = natsUsers().find(({ name }) => name === 'cli');
  const { publish = [], subscribe = [] } = terminal ?? {};
  const rights = {
    publish: [...publish.filter((subject) => subject !== subjects.requests), subjects.requestsOf(id)],
    subscribe: [...subscribe.filter((subject) => !subject.startsWith('_INBOX_')), subjects.answersTo(id)],
  };
  return { name: id, ...rights, outside: personAccount(id, rights), allowResponses: false };
}

function outside(id: string, limits: OutsideLimits): NatsUserSpec {
  return { name: id, ...outsideUser(id, limits), allowResponses: false };
}
