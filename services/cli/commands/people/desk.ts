import type { QueryAnswer } from '#libs/messaging';
import { ActorId } from '#proto';
import { askRegistry, withSignedBus, type Desk } from '../../bus/index.js';
import { badInput, cleanLine, type CliContext } from '../../terminal/index.js';

/** Somebody, as the registry tells who is there. */
export type Person = QueryAnswer<'registry', 'people'>['people'][number];

/** Does the work with the key that lets us in. */
export function atDesk<T>(context: CliContext, work: (desk: Desk) => Promise<T>): Promise<T> {
  return withSignedBus(context, (nc) => work({ nc, now: context.now }));
}

/** Throws for a name that nobody has. */
export async function personAt(desk: Desk, id: string): Promise<Person> {
  const { people } = await askRegistry(desk, 'people', {});
  const found = people.find(({ actor }) => actor.id === id);
  if (found === undefined) throw badInput(`Nobody is called "${cleanLine(id)}"; see: orrery people`);
  return found;
}

/** What is left to do where the bus runs. */
export const elsewhere = (way: 'into' | 'out of'): string =>
  `the bus runs elsewhere: take the key ${way} its users there (docs/security.md), and let it read them anew`;

/** Throws for what cannot be a name. */
export function actorIdOf(id: string): ActorId {
  const parsed = ActorId.safeParse(id);
  if (!parsed.success) throw badInput(`The id ${parsed.error.issues.map(({ message }) => message).join('; ')}.`);
  return parsed.data;
}
