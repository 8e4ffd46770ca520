import type { NatsConnection } from '@nats-io/transport-node';
import { ulid } from 'ulid';
import { proveActor } from '#libs/keys';
import { query, type QueryAnswer, type QueryRequest } from '#libs/messaging';
import { subjects } from '#proto';
import type { CliContext } from '../terminal/index.js';

type Question = 'people' | 'tokens' | 'content-approvals';
type Order =
  | 'people-add'
  | 'people-role'
  | 'people-limits'
  | 'people-revoke'
  | 'people-key'
  | 'people-login'
  | 'token-issue'
  | 'token-revoke'
  | 'content-approve'
  | 'content-revoke';

/** The registry, asked with the key of a person. */
export interface Desk {
  readonly nc: NatsConnection;
  readonly seed: string;
  readonly now: CliContext['now'];
}

/** Asks for what not everybody may see. */
export function askRegistry<N extends Question>(
  desk: Desk,
  name: N,
  body: Omit<QueryRequest<'registry', N>, 'actor'>,
): Promise<QueryAnswer<'registry', N>> {
  return query(desk.nc, 'registry', name, signed(desk, name, body) as QueryRequest<'registry', N>);
}

/** Orders a change, under an id that is made here where none is given; whether it changed anything. */
export async function orderOfRegistry<N extends Order>(
  desk: Desk,
  name: N,
  body: Omit<QueryRequest<'registry', N>, 'actor' | 'id'> & { readonly id?: string },
): Promise<boolean> {
  const command = { id: ulid(desk.now()), ...body };
  const answer = await query(desk.nc, 'registry', name, signed(desk, name, command) as QueryRequest<'registry', N>);
  return (answer as { changed: boolean }).changed;
}

/** What is signed has no fields without a value. */
function signed({ seed, now }: Desk, name: Question | Order, body: object): object {
  const command = JSON.parse(JSON.stringify(body)) as object;
  const at = new Date(now()).toISOString();
  return { ...command, actor: proveActor(seed, { subject: subjects.query('registry', name), at, body: command }) };
}
