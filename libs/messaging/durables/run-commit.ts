import { HEADER_TYPES, parseWith, RunCommit, runIdOfSubject, sentenceOf, parseJson, type RunEventType } from '#proto';
import type { BusMessage } from './bus-message.js';

/** What a consumer of RUNS gets to see of a message. */
type RunMessage = Pick<BusMessage, 'subject' | 'data' | 'header'>;

/** Whether the commit may hold one of these events; without the header nobody knows before it is parsed. */
export function mayHold(message: RunMessage, types: readonly RunEventType[]): boolean {
  const header = message.header(HEADER_TYPES);
  if (header === undefined) return true;
  const held = header.split(',');
  return types.some((type) => held.includes(type));
}

type ParsedCommit = { readonly ok: true; readonly commit: RunCommit } | { readonly ok: false; readonly reason: string };

/** The commit, or why the message can never be one. */
export function parseCommit(message: RunMessage): ParsedCommit {
  const json = parseJson(message.data);
  if (json === undefined) return { ok: false, reason: 'it is not JSON in UTF-8' };
  const parsed = parseWith(RunCommit, json);
  if (!parsed.ok) return { ok: false, reason: parsed.issues.map(sentenceOf).join('; ') };
  const runId = runIdOfSubject(message.subject);
  if (parsed.value.runId !== runId) return { ok: false, reason: `it belongs to another run than ${String(runId)}` };
  return { ok: true, commit: parsed.value };
}
