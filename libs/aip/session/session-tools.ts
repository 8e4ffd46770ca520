import { AIP_LIMITS, type ActionResult, type ToolInfo } from '#proto';
import { dialectOf, listedAgents, listToolsMessages, unlistedTools } from '../commands/index.js';
import type { SessionIn, OpenSession, SessionStep } from './session-state.js';
import { fitting, toolsOf } from './telemetry.js';

/*
 * A foreign client names its tools once, after REGISTER, and never of its own accord again; a tool server that comes up later,
 * or changes, is seen only by who asks. One question is open at a time: one without an answer counts until the next is due.
 */

/** Asks a foreign client for its tools again, if it is time for that. */
export function askTools(session: OpenSession, wanted: boolean, nowMs: number): SessionStep {
  if (session.phase !== 'READY' || session.client.revision !== null || !isDue(session, wanted, nowMs)) {
    return [session, []];
  }
  const asked = { ...session, toolsAskedMs: nowMs, toolsAwaited: true };
  const messages = listToolsMessages(dialectOf(session.client), nowMs);
  return [asked, messages.map((message) => ({ kind: 'send', message }))];
}

function isDue({ client, sinceMs, toolsAskedMs }: SessionIn<'READY'>, wanted: boolean, nowMs: number): boolean {
  // The first question was asked when it registered, and is no reason to let a wanted tool wait.
  if (wanted) return nowMs - (toolsAskedMs ?? -Infinity) >= AIP_LIMITS.listToolsAgainMs;
  return client.telemetry.tools.length === 0 && nowMs - (toolsAskedMs ?? sinceMs) >= AIP_LIMITS.listToolsMissingMs;
}

/** The answer, however late; one that nobody asked for, that is no list or says nothing new changes nothing. */
export function namedAgain(
  session: SessionIn<'READY'>,
  result: ActionResult | undefined,
  isLast: boolean,
): SessionStep {
  const named = session.toolsAwaited ? toolsOf(result) : undefined;
  const heard = { ...session, toolsAwaited: session.toolsAwaited && !isLast };
  const tools = named && withListed(session, named);
  if (tools === undefined) return [heard, []];
  const { client } = session;
  const telemetry = fitting({ ...client.telemetry, tools });
  const told = { ...heard, client: { ...client, toolsKnown: true, telemetry } };
  const isNew = JSON.stringify(telemetry.tools) !== JSON.stringify(client.telemetry.tools);
  return [told, isNew ? [{ kind: 'telemetry', telemetry }] : []];
}

/** A client with tools for several agents names them one after the other: what one names adds to what another has. */
export function withListed({ client }: Pick<SessionIn<'READY'>, 'client'>, named: readonly ToolInfo[]): ToolInfo[] {
  const dialect = dialectOf(client);
  if (listedAgents(dialect).length === 1) return unlistedTools(dialect, named);
  const before = client.telemetry.tools.filter((tool) => named.every(({ name }) => name !== tool.name));
  return unlistedTools(dialect, [...before, ...named]);
}
