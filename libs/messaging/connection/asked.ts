import type { Msg } from '@nats-io/transport-node';

/** An inbox of somebody, or the way back over the border of his account, which nobody but the server can name. */
const INBOX = /^_(?:INBOX|R_)/u;

/**
 * Whether the answer goes to who waits for one. Who asks may name any subject, and the answer is published with the rights of who answers:
 * one that goes anywhere else is not given. What the server itself was made to publish here has no such subject either.
 */
export const isAsked = ({ reply }: Pick<Msg, 'reply'>): boolean => INBOX.test(reply ?? '');
