import { doubledMs, spreadMs, type BackoffRange } from '#libs/backoff';

/** When a lost connection is tried again. There is no last try: a device that was off for a week has to come back. */
export interface BackoffPolicy extends BackoffRange {
  /** A connection shorter than this was no success: what accepts and drops at once would be hammered otherwise. */
  readonly uptimeMsMin: number;
}

/** Several tries fit into the time after which a device counts as lost. */
export const RECONNECT: BackoffPolicy = { msMin: 500, msMax: 10_000, uptimeMsMin: 10_000 };

/** Wait before the next try after `failures` in a row (at least 1): doubled each time, between half and all of it by `random` in [0, 1). */
export const delayMs = (policy: BackoffPolicy, failures: number, random: number): number =>
  spreadMs(doubledMs(policy, failures), random);

/** Failures in a row after a connection ended that was up for `uptimeMs` (0: never came up). */
export function failuresAfter({ uptimeMsMin }: BackoffPolicy, failures: number, uptimeMs: number): number {
  return uptimeMs >= uptimeMsMin ? 1 : failures + 1;
}

/** Where a client of several servers is: which one it dials next, and how often it has been sent away. */
export interface Dialling {
  /** Index into the list of servers. */
  readonly server: number;
  /** Servers in a row that failed since the last wait. */
  readonly tried: number;
  /** Rounds in a row in which every server failed. */
  readonly failures: number;
}

export const FIRST_DIAL: Dialling = { server: 0, tried: 0, failures: 0 };

/** How a connection ended, or that none came up. */
export interface DialEnd {
  /** How long it was registered; 0 when it never was. */
  readonly uptimeMs: number;
  /**
   * `failed`: by the server or the network. `own`: by this client, which wants a new one. `unwelcome`: another client has
   * this identity, or the identity counts no more: two clients with one credential would take the session from each other
   * as fast as they can. `renewed`: there is a newer credential, to be tried at once; said seldom, by the client that has it.
   */
  readonly why: 'failed' | 'own' | 'unwelcome' | 'renewed';
}

/**
 * What to do after an end: a server that fails is followed by the next one at once, and a round in which all failed by a
 * wait. After real uptime the same server is dialled first, after the shortest wait, so that a fleet does not come back
 * in one moment.
 */
export function nextDial(
  { policy, servers, random }: { readonly policy: BackoffPolicy; readonly servers: number; readonly random: number },
  at: Dialling,
  { uptimeMs, why }: DialEnd,
): { readonly at: Dialling; readonly waitMs: number } {
  if (why === 'unwelcome') return { at: { ...at, tried: 0 }, waitMs: policy.msMax };
  if (why === 'renewed') return { at, waitMs: 0 };
  const wasUp = uptimeMs >= policy.uptimeMsMin;
  const server = wasUp || why === 'own' ? at.server : (at.server + 1) % servers;
  const tried = wasUp ? servers : at.tried + 1;
  if (tried < servers && why === 'failed') return { at: { server, tried, failures: at.failures }, waitMs: 0 };
  const failures = failuresAfter(policy, at.failures, uptimeMs);
  return { at: { server, tried: 0, failures }, waitMs: delayMs(policy, failures, random) };
}
