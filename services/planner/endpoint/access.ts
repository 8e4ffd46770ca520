import type { Actor, EditGrant } from '#proto';
import { accessNeededFor } from '#libs/constellation-mcp';

/** Who calls, proven by a token. */
export interface EndpointCaller {
  readonly grant: EditGrant;
  /** Whom the key of the token stands for. */
  readonly actor: Actor;
}

/** `name:port` as browsers and hosts write them, in lower case. */
export interface EndpointPlaces {
  readonly exact: ReadonlySet<string>;
  /** Names that are taken with every port. */
  readonly names: ReadonlySet<string>;
}

const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]'] as const;
const WITH_PORT = /:\d{1,5}$/u;
const PORT_OF: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

/** Where a request may say that it goes to, and a page that it comes from: a page of elsewhere must not reach a loopback server by a name of its own (DNS rebinding). */
export function allowedPlaces(hosts: readonly string[], port: number): EndpointPlaces {
  const given = hosts.map((host) => host.toLowerCase());
  return {
    exact: new Set([...LOOPBACK.map((name) => `${name}:${port}`), ...given.filter((host) => WITH_PORT.test(host))]),
    names: new Set(given.filter((host) => !WITH_PORT.test(host))),
  };
}

/** A name that was given without a port counts with every port. */
export function isAllowedHost(host: string | undefined, { exact, names }: EndpointPlaces): boolean {
  const place = (host ?? '').toLowerCase();
  return exact.has(place) || names.has(place.replace(WITH_PORT, ''));
}

/** Programs send no Origin, browsers always do. */
export function isAllowedOrigin(origin: string | undefined, places: EndpointPlaces): boolean {
  if (origin === undefined) return true;
  const url = URL.parse(origin);
  if (url === null || url.origin !== origin) return false;
  const port = url.port === '' ? PORT_OF[url.protocol] : url.port;
  return port !== undefined && isAllowedHost(`${url.hostname}:${port}`, places);
}

/** Whether a message calls a tool that the token does not allow. */
export function needsMore(message: unknown, access: EditGrant['access']): boolean {
  if (access === 'edit' || typeof message !== 'object' || message === null) return false;
  const { method, params } = message as { method?: unknown; params?: { name?: unknown } | null };
  if (method !== 'tools/call' || typeof params?.name !== 'string') return false;
  return accessNeededFor(params.name) === 'edit';
}
