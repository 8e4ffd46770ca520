import type { Actor, Vouched } from '#proto';

/** Where request ids of the built-in users are unique; part of the hash that gives the run id. */
export const DEFAULT_NAMESPACE = 'default';
/** Issuer of what the system itself gives out. */
export const OWN_ISSUER = 'orrery';
/** What a login with the console's first token is called. */
export const ADMIN_TOKEN_SUBJECT = 'admin-token';
/** Issuer of the clients of a gateway, who have shown it a token that the registry knows. */
export const AIP_ISSUER = 'aip';

/** Who sends a command, and where its request ids are unique. */
export interface KnownSender {
  readonly actor: Actor;
  readonly namespace: string;
}

const CONSOLE = 'console';
const AIP_GATEWAY = 'aip-gateway';
/** The first person of an installation: a terminal and a browser of hers are one. */
export const FIRST_PERSON: Actor = { kind: 'person', id: 'cli' };

/** A client of a gateway as an actor; nobody else can be called so. */
export const clientActor = (clientId: string): Actor => ({ kind: 'external', id: `${AIP_ISSUER}:${clientId}` });

/** What a gateway says of a client whose task it sends. `session`: of its connection. */
export function clientVouched(clientId: string, session: string): Vouched {
  return { actor: clientActor(clientId).id, issuer: AIP_ISSUER, subject: clientId, session };
}

/** For whom a signer speaks; a sentence when it may not. A gateway speaks for its clients and for nobody else. */
export function vouchedBy(signer: Actor, vouched: Vouched): KnownSender | string {
  const { issuer, subject, actor: id } = vouched;
  const client = clientActor(subject);
  if (signer.id === AIP_GATEWAY && issuer === AIP_ISSUER && id === client.id) {
    return { actor: client, namespace: DEFAULT_NAMESPACE };
  }
  const isFirst = id === FIRST_PERSON.id && issuer === OWN_ISSUER && subject === ADMIN_TOKEN_SUBJECT;
  if (signer.id === CONSOLE && isFirst) return { actor: FIRST_PERSON, namespace: DEFAULT_NAMESPACE };
  return `${signer.id} may not speak for ${id}, logged in as ${subject} at ${issuer}.`;
}
