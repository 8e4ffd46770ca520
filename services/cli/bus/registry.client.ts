import type { NatsConnection } from '@nats-io/transport-node';
import { ulid } from 'ulid';
import { query, type QueryAnswer, type QueryRequest } from '#libs/messaging';
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
  readonly now: CliContext['now'];
}

/** Asks for what not everybody may see. */
export function askRegistry<N extends Question>(
  { nc }: Desk,
  name: N,
  request: QueryRequest<'registry', N>,
): Promise<QueryAnswer<'registry', N>> {
  return query(nc, 'registry', name, request);
}

/** Orders a change, under an id that is made here where none is given; whether it changed anything. */
export async function orderOfRegistry<N extends Order>(
  { nc, now }: Desk,
  name: N,
  order: Omit<QueryRequest<'registry', N>, 'id'> & { readonly id?: string },
): Promise<boolean> {
  const request = { id: ulid(now()), ...order } as QueryRequest<'registry', N>;
  return ((await query(nc, 'registry', name, request)) as { changed: boolean }).changed;
}
