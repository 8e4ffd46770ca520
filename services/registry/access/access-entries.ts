import {
  AccessRecord,
  ActorCommit,
  parseJson,
  parseWith,
  sentenceOf,
  subjects,
  type AccessEntry,
  type Actor,
  type Cause,
  type RecordedActorEvent,
} from '#proto';

/** A message as it lies in its stream; `time` is by the clock of the bus. */
export interface StoredAccess {
  readonly seq: number;
  readonly subject: string;
  readonly data: Uint8Array;
  readonly time: Date;
}

/** Whose a key is or was. */
export type OwnerOf = (key: string) => Actor | undefined;

const KEY_SUBJECTS = subjects.accessByKey('');
const CONSOLE = 'console';
const NOBODY = '_';

/** What a message of ACCESS says. Who wrote it says its subject alone; one that says more than its writer may is shown for what it is. */
export function entryOfRecord(message: StoredAccess, ownerOf: OwnerOf): AccessEntry {
  const { seq: sequence, subject, data, time } = message;
  const place = { at: time.toISOString(), stream: 'ACCESS', sequence } as const;
  const parsed = parseWith(AccessRecord, parseJson(data));
  const writer = writerOf(subject, ownerOf);
  if (!parsed.ok) return unreadable(place, writer, parsed.issues.map(sentenceOf).join('; '));
  const { id: _, actor: said, ...about } = parsed.value;
  const { key } = writer;
  if (key !== undefined && said !== undefined) return unreadable(place, writer, 'a key speaks for itself only');
  if (key !== undefined) {
    const { actor } = writer;
    return { ...place, ...about, actor, proof: 'key', key, ...(actor === null ? { note: 'nobody has this key' } : {}) };
  }
  if (subject !== subjects.accessAt(CONSOLE, said?.id ?? NOBODY)) {
    return unreadable(place, writer, 'its subject names somebody else');
  }
  return { ...place, ...about, actor: said ?? null, proof: said === undefined ? 'none' : 'vouched' };
}

type Writer = Pick<AccessEntry, 'key'> & { readonly actor: Actor | null };

function writerOf(subject: string, ownerOf: OwnerOf): Writer {
  if (!subject.startsWith(KEY_SUBJECTS)) return { actor: null };
  const key = subject.slice(KEY_SUBJECTS.length);
  return { key, actor: ownerOf(key) ?? null };
}

function unreadable(
  place: Pick<AccessEntry, 'at' | 'stream' | 'sequence'>,
  { key, actor }: Writer,
  why: string,
): AccessEntry {
  const proof = key === undefined ? 'none' : 'key';
  return { ...place, what: 'UNREADABLE', actor, proof, ...(key === undefined ? {} : { key }), note: why };
}

/** What a message of ACTORS says about roles, keys, tokens and logins; that a token was used is told by ACCESS. */
export function entriesOfActors({ seq: sequence, data, time }: StoredAccess): AccessEntry[] {
  const place = { at: time.toISOString(), stream: 'ACTORS', sequence } as const;
  const parsed = parseWith(ActorCommit, parseJson(data));
  if (!parsed.ok) return [unreadable(place, { actor: null }, parsed.issues.map(sentenceOf).join('; '))];
  const { actorId: subject, events, causes } = parsed.value;
  return events.flatMap((event): AccessEntry[] => {
    if (event.type === 'TOKEN_USED') return [];
    return [{ ...place, what: event.type, actor: event.data.by, proof: proofOf(causes), subject, ...changeOf(event) }];
  });
}

function proofOf(causes: readonly Cause[]): AccessEntry['proof'] {
  const proof = causes.find((cause) => cause.proof !== undefined)?.proof;
  if (proof === undefined) return 'none';
  return proof.vouched === undefined ? 'key' : 'vouched';
}

function changeOf({ type, data }: RecordedActorEvent): Partial<AccessEntry> {
  switch (type) {
    case 'ACTOR_ADDED':
      return { given: data.roles };
    case 'ROLES_CHANGED':
      return { given: data.given, taken: data.taken };
    case 'KEY_ADDED':
    case 'KEY_REVOKED':
      return { key: data.key };
    case 'LOGIN_BOUND':
    case 'LOGIN_UNBOUND':
      return { login: { issuer: data.issuer, subject: data.subject } };
    case 'TOKEN_ISSUED':
    case 'TOKEN_REVOKED':
      return { note: `token ${data.tokenId}` };
    default:
      return {};
  }
}
