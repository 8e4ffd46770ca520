import { createUser } from '@nats-io/nkeys';
import { hashCommit, NO_COMMITS, runIdOf, sealNext } from '#libs/event-log';
import { busKeyOfSeed, keepProof, proveActor } from '#libs/keys';
import { RunRequest, subjects, type Actor, type ActorEvent, type Cause, type RunEvent, type Vouched } from '#proto';
import { auditProofs } from './audit-proofs.js';
import type { ExportRecord } from './export-file.js';
import { findingText } from './findings.js';

/* A run that Anna has asked for and noted something in, Bob has paused, and the console has let somebody go on with. */

const T0 = Date.parse('2026-11-20T12:00:00.000Z');
const at = (minutes: number): string => new Date(T0 + minutes * 60_000).toISOString();
const newSeed = (): string => new TextDecoder().decode(createUser().getSeed());
const keyOf = busKeyOfSeed;
const SEEDS = { anna: newSeed(), bob: newSeed(), console: newSeed(), agents: newSeed(), mallory: newSeed() };
const ANNA: Actor = { kind: 'person', id: 'anna' };
const BOB: Actor = { kind: 'person', id: 'bob' };
const SETUP: Actor = { kind: 'system', id: 'setup' };
const task = { id: 'a', name: 'a', target: { device: 'web-1' }, command: { tool: 'NOOP' } };
const request = { requestId: 'r', constellation: { name: 'x', tasks: [task], lines: [] } };
const parsed = RunRequest.parse(request);
const RUN = runIdOf('anna', 'r');
const LOGIN: Vouched = { actor: 'bob', issuer: 'https://login.example', subject: '17', session: 's-1' };

/** What somebody ordered, and what was recorded of it. */
export interface ProvenOrder {
  readonly subject: string;
  readonly body: { readonly id?: string; readonly requestId?: string } & object;
  readonly events: RunEvent[];
  /** Minutes after the beginning. */
  readonly minute: number;
  readonly by?: keyof typeof SEEDS | undefined;
  readonly vouched?: Vouched;
  readonly cause?: Partial<Cause>;
}

const verb = (name: string, fields: object, id: string) => ({
  subject: subjects.verb(RUN, name),
  body: { id, ...fields },
});
const requested = (change: object = {}): RunEvent => ({
  type: 'RUN_REQUESTED',
  data: {
    requestId: 'r',
    namespace: 'anna',
    contentHash: hashCommit(parsed),
    goal: null,
    constellation: parsed.constellation,
    options: {},
    metadata: {},
    requestedBy: ANNA,
    requestedAt: at(10),
    deadlineAt: at(600),
    ...change,
  },
});
const note = (text: string, by: Actor): RunEvent => ({
  type: 'RUN_ANNOTATED',
  data: { kind: 'note', by, text, annotatedAt: at(11) },
});
const paused = (actor: Actor): RunEvent => ({
  type: 'RUN_PAUSED',
  data: { by: 'operator', actor, reason: 'lunch', pausedAt: at(12) },
});
const resumed = (by: Actor): RunEvent => ({ type: 'RUN_RESUMED', data: { by, resumedAt: at(13) } });

/** As it was written. */
const ORDERS: readonly ProvenOrder[] = [
  { subject: subjects.submit, body: request, events: [requested()], minute: 10, by: 'anna' },
  {
    ...verb('ANNOTATE', { text: 'mind the disk' }, 'n1'),
    events: [note('mind the disk', ANNA)],
    minute: 11,
    by: 'anna',
  },
  { ...verb('PAUSE', { reason: 'lunch' }, 'p1'), events: [paused(BOB)], minute: 12, by: 'bob' },
  { ...verb('RESUME', {}, 'r1'), events: [resumed(BOB)], minute: 13, by: 'console', vouched: LOGIN },
];

/** Whoever writes a file makes all hashes fit. */
function sealed(orders: readonly ProvenOrder[]): ExportRecord[] {
  let end = { ...NO_COMMITS };
  return orders.map(({ subject, body, events, minute, by, vouched, cause }, index): ExportRecord => {
    const proof = by && keepProof(proveActor(SEEDS[by], { subject, at: at(minute), body, vouched }), { subject, body });
    const { requestId, id = requestId ?? '' } = body;
    const made: Cause = { kind: requestId === undefined ? 'verb' : 'request', id, ...(proof && { proof }), ...cause };
    const by_ = { service: 'orchestrator', instance: 'one' };
    const stamp = { commit: `01JD4Q6Z8W3V5X7Y9A0B1C2D${String(index).padStart(2, '0')}`, now: T0 + minute * 60_000 };
    const commit = sealNext(end, { runId: RUN }, events, { ...stamp, by: by_, causes: [made] });
    end = { ...end, number: commit.number, events: end.events + events.length, hash: commit.hash };
    return { stream: 'RUNS', subject: subjects.run(RUN), sequence: index + 1, commit };
  });
}

function actorLog(id: string, events: readonly ActorEvent[]): ExportRecord[] {
  let end = { ...NO_COMMITS };
  return events.map((event, index): ExportRecord => {
    const stamp = {
      commit: `01JD4Q6Z8W3V5X7Y9A0B1C2E${String(index).padStart(2, '0')}`,
      now: Date.parse(event.data.at),
    };
    const by = { service: 'registry', instance: 'one' };
    const commit = sealNext(end, { actorId: id }, [event], { ...stamp, by, causes: [{ kind: 'request', id: 'x' }] });
    end = { ...end, number: commit.number, events: end.events + 1, hash: commit.hash };
    return { stream: 'ACTORS', subject: subjects.actor(id), sequence: index + 1, commit };
  });
}
const added = (actor: Actor, mayVouch = false): ActorEvent => ({
  type: 'ACTOR_ADDED',
  data: { actor, roles: [], namespace: actor.id, ...(mayVouch && { mayVouch: true }), by: SETUP, at: at(0) },
});
const keyAdded = (who: keyof typeof SEEDS, minute = 0): ActorEvent => ({
  type: 'KEY_ADDED',
  data: { key: keyOf(SEEDS[who]), by: SETUP, at: at(minute) },
});
const keyRevoked = (who: keyof typeof SEEDS, minute: number): ActorEvent => ({
  type: 'KEY_REVOKED',
  data: { key: keyOf(SEEDS[who]), by: SETUP, at: at(minute), reason: 'lost' },
});
const bound: ActorEvent = {
  type: 'LOGIN_BOUND',
  data: { issuer: LOGIN.issuer, subject: LOGIN.subject, by: SETUP, at: at(0) },
};
const LOGS: Readonly<Record<string, readonly ActorEvent[]>> = {
  anna: [added(ANNA), keyAdded('anna')],
  bob: [added(BOB), keyAdded('bob'), bound],
  console: [added({ kind: 'system', id: 'console' }, true), keyAdded('console')],
};
const logs = (change: Record<string, readonly ActorEvent[]> = {}): ExportRecord[] =>
  Object.entries({ ...LOGS, ...change }).flatMap(([id, events]) => actorLog(id, events));

const found = (orders: readonly ProvenOrder[], actors: readonly ExportRecord[] = logs()): string[] =>
  auditProofs(RUN, [...sealed(orders), ...actors]).findings.map(findingText);
/** With one of the orders changed. */
const changed = (index: number, change: Partial<ProvenOrder>): ProvenOrder[] =>
  ORDERS.map((order, other) => (other === index ? { ...order, ...change } : order));

/** For specs that forge it. */
export const provenRun = {
  ANNA,
  BOB,
  LOGIN,
  LOGS,
  ORDERS,
  RUN,
  SEEDS,
  SETUP,
  T0,
  added,
  at,
  bound,
  changed,
  found,
  keyAdded,
  keyOf,
  keyRevoked,
  logs,
  note,
  parsed,
  paused,
  request,
  requested,
  sealed,
  verb,
} as const;
