import { z } from 'zod';
import { withOwnInbox } from '#libs/keys';
import { Actor, ActorId, BusKey, subjects } from '#proto';
import { natsUsers, type NatsUserSpec } from './nats-users.js';

/** A key of a person or of another system that the server lets in. Whom it stands for is a fact; this is only how it gets in. */
export const BusPerson = z.strictObject({ id: ActorId, kind: Actor.shape.kind, key: BusKey });
export type BusPerson = z.infer<typeof BusPerson>;

/** Whether a user of the installation itself has this name: nobody else may have it, or he would hear its answers. */
export const isBuiltInUser = (id: string): boolean => natsUsers().some(({ name }) => name === id);

/** The keys of people as users of the bus. A name of the installation's own is nobody's: it is left out. */
export function peopleUsers(people: readonly BusPerson[]): (NatsUserSpec & { readonly nkeyPublic: string })[] {
  return people
    .filter(({ id }) => !isBuiltInUser(id))
    .map(({ id, kind, key }) =>
      withOwnInbox({ ...(kind === 'person' ? atTerminal(id) : outside(id)), nkeyPublic: key }),
    );
}

/** As the person at the terminal of the installation, with requests of his own. */
function atTerminal(id: string): NatsUserSpec {
  const terminal = natsUsers().find(({ name }) => name === 'cli');
  const { publish = [], subscribe = [] } = terminal ?? {};
  return {
    name: id,
    publish: [...publish.filter((subject) => subject !== subjects.requests), subjects.requestsOf(id)],
    subscribe: subscribe.filter((subject) => !subject.startsWith('_INBOX_')),
    allowResponses: false,
  };
}

/** Another system asks, and hears what became of its requests; it reads no stream. */
function outside(id: string): NatsUserSpec {
  return {
    name: id,
    publish: [subjects.submit, subjects.requestsOf(id)],
    subscribe: [subjects.anyAnswer],
    allowResponses: false,
  };
}
