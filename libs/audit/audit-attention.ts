// What people have said to entries of the inbox: taken on, settled.
//
//   chain of each entry ──► schema ──► it stands where it belongs, its id is the hash of what it is about, and that never changes
//   word ──► signature ──► of this word, this entry, this id ──► key of the actor by then ──► what was signed is what was recorded
import { isDeepStrictEqual } from 'node:util';
import { attentionIdOf } from '#libs/event-log';
import { checkKeptProof, PROOF_MS_MAX } from '#libs/keys';
import {
  ActorCommit,
  AttentionCommit,
  FleetCommit,
  subjects,
  type Cause,
  type KeptProof,
  type RecordedAttentionEvent,
  type RunId,
} from '#proto';
import type { ExportRecord } from './export-file.js';
import { type Finding, verified } from './findings.js';
import { SLACK_MS, whoSpoke, type KnownActors } from './known-keys.js';

/** Streams that are of the whole installation: one chain per entry, actor or device. */
export const CHAIN_STREAMS = ['ATTENTION', 'ACTORS', 'FLEET'] as const;
export type ChainStream = (typeof CHAIN_STREAMS)[number];

interface ChainProblem {
  readonly number: number | null;
  readonly message: string;
}

/** One chain of these, all its commits, for itself: what is wrong with it. */
export function auditChain(
  stream: ChainStream,
  subject: string,
  records: readonly Pick<ExportRecord, 'commit'>[],
): ChainProblem[] {
  const problems: ChainProblem[] = [];
  const say = (number: number | null, message: string): void => void problems.push({ number, message });
  if (records.length === 0) say(null, 'its commits are missing');
  const elsewhere = (number: number, own: string): void => {
    if (own !== subject) say(number, `it belongs on the subject ${own}`);
  };
  switch (stream) {
    case 'ATTENTION':
      for (const { value } of verified(AttentionCommit, records, say)) {
        elsewhere(value.number, subjects.attention(value.attentionId));
        for (const { data } of value.events) {
          if (attentionIdOf(data.about.key) !== value.attentionId)
            say(value.number, 'its id is not that of what it is about');
        }
      }
      break;
    case 'ACTORS':
      for (const { value } of verified(ActorCommit, records, say))
        elsewhere(value.number, subjects.actor(value.actorId));
      break;
    case 'FLEET':
      for (const { value } of verified(FleetCommit, records, say))
        elsewhere(value.number, subjects.fleet(value.deviceId));
      break;
    default:
      stream satisfies never;
  }
  return problems;
}

interface AttentionReport {
  readonly findings: readonly Finding[];
  /** What was said, each with its proof. */
  readonly proofs: readonly KeptProof[];
  readonly words: number;
}

/** What was said to the entries that are about a run. `actors`: undefined when their logs are not there. */
export function auditAttention(
  runId: RunId,
  records: readonly ExportRecord[],
  actors: KnownActors | undefined,
): AttentionReport {
  const findings: Finding[] = [];
  const proofs: KeptProof[] = [];
  let words = 0;
  const own = records.filter(({ stream }) => stream === 'ATTENTION');
  for (const [subject, chain] of Map.groupBy(own, (record) => record.subject)) {
    const attempt = subject.split('.').at(-1) ?? subject;
    const say = (number: number | null, message: string): void =>
      void findings.push({ runId, stream: 'ATTENTION', attempt, number, message });
    for (const { number, message } of auditChain('ATTENTION', subject, chain)) say(number, message);
    const commits = chain.flatMap(({ commit }) => AttentionCommit.safeParse(commit).data ?? []);
    const about = commits[0]?.events[0]?.data.about;
    for (const commit of commits) {
      proofs.push(...commit.causes.flatMap(({ proof }) => proof ?? []));
      for (const event of commit.events) {
        words++;
        if (event.data.about.runId !== runId) say(commit.number, `it is about ${event.data.about.runId ?? 'no run'}`);
        if (!isDeepStrictEqual(event.data.about, about)) say(commit.number, 'it is about something else than before');
        for (const problem of unproven(commit, event, actors)) say(commit.number, problem);
      }
    }
  }
  return { findings, proofs, words };
}

/** Longer than a word that is taken waits for its commit. */
const COMMIT_MS_MAX = 60_000;

const SIGNED_FOR = {
  ATTENTION_TAKEN: subjects.query('logging', 'attention-take'),
  ATTENTION_SETTLED: subjects.query('logging', 'attention-settle'),
} as const;

function unproven(
  commit: AttentionCommit,
  { type, data }: RecordedAttentionEvent,
  actors: KnownActors | undefined,
): string[] {
  const [cause, other] = commit.causes;
  const proof = cause?.proof;
  if (cause === undefined || proof === undefined || other !== undefined) {
    return [`${type} by ${data.by.id}: nothing in this commit proves it`];
  }
  const reason = type === 'ATTENTION_SETTLED' ? data.reason : undefined;
  const faults = [
    ...(proof.subject === SIGNED_FOR[type] ? [] : [`it was signed for ${proof.subject}`]),
    ...(checkKeptProof(proof) === 'bad' ? ['its signature does not fit what was signed and the key'] : []),
    ...saidOtherwise(commit, cause, { proof, reason }),
    ...(isInTime(proof, commit) ? [] : [`it was signed at ${proof.at}, and the commit is of ${commit.at}`]),
  ];
  const spoke = actors === undefined ? undefined : whoSpoke(actors, { ...proof, at: commit.at });
  if (spoke !== undefined && 'problem' in spoke) faults.push(spoke.problem);
  else if (spoke !== undefined && (spoke.actor.id !== data.by.id || spoke.actor.kind !== data.by.kind)) {
    faults.push(`${spoke.actor.id} signed it, and it is recorded in the name of ${data.by.id}`);
  }
  return faults.map((fault) => `the proof of ${cause.id}: ${fault}`);
}

function saidOtherwise(
  { attentionId }: AttentionCommit,
  { id }: Cause,
  { proof: { body }, reason }: { readonly proof: KeptProof; readonly reason: string | undefined },
): string[] {
  if (body === undefined) return ['what was signed is not there, although it is short'];
  const recorded = { id, attentionId, ...(reason !== undefined && { reason }) };
  const field = ['id', 'attentionId', 'reason'].find(
    (name) => body[name] !== (recorded as Readonly<Record<string, unknown>>)[name],
  );
  return field === undefined ? [] : [`its ${field} is not what is recorded`];
}

function isInTime({ at }: KeptProof, commit: AttentionCommit): boolean {
  const ageMs = Date.parse(commit.at) - Date.parse(at);
  return ageMs >= -PROOF_MS_MAX - SLACK_MS && ageMs <= PROOF_MS_MAX + COMMIT_MS_MAX;
}
