import type { QueryHandlers } from '#libs/messaging';
import { QUERIES } from '#proto';

/** Answers to all queries of a service, for a stand-in that answers a few of them: whoever asks one of these hears that nobody should. */
export function notAsked<S extends keyof typeof QUERIES>(service: S): QueryHandlers<S> {
  const refuse = () => Promise.reject(new Error('not asked'));
  return Object.fromEntries(Object.keys(QUERIES[service]).map((name) => [name, refuse])) as unknown as QueryHandlers<S>;
}
