import canonicalize from 'canonicalize';
import { GENESIS_HASH } from '#proto';

/** What the chain needs of a commit. Other fields, known or not, are covered by the hash all the same. */
export interface ChainedCommit {
  readonly number: number;
  readonly prevHash: string;
  readonly hash: string;
  readonly events: readonly { readonly sequence: number }[];
}

export interface Violation {
  readonly kind: 'schema' | 'number' | 'prev-hash' | 'hash' | 'event-sequence';
  /** Number of the commit, as it should be by its place. */
  readonly number: number;
  readonly message: string;
}

const encodings = new WeakMap<object, Uint8Array>();
const encoder = new TextEncoder();

/** SHA-256 of a text in UTF-8, in hexadecimal: the one thing here that differs between a server and a browser. */
export type Digest = (text: string) => string;

export interface VerifyOptions {
  /** False when the commits do not begin with the first of their aggregate: then the first one is taken as it is. Default true. */
  readonly fromStart?: boolean;
}

/** Everything that is done with hashes of commits. */
export interface Chain {
  /**
   * Completes a commit with its place in the chain. The canonical text made for the hash becomes the stored text, with the
   * hash as its last field, so a commit is serialised once; `encodeCommit` finds it again.
   */
  readonly sealCommit: <D extends object>(draft: D, prevHash: string) => D & { prevHash: string; hash: string };
  /** SHA-256 over the RFC 8785 canonical JSON of a commit without `hash`; give it the JSON as parsed, before any schema touched it. */
  readonly hashCommit: (commit: object) => string;
  /** Checks numbers, hashes, links and event sequences of consecutive commits of one aggregate, given as parsed from storage. */
  readonly verifyChain: (commits: readonly ChainedCommit[], options?: VerifyOptions) => Violation[];
}

/** The chain as this digest makes it: the same code seals on a server and verifies in a browser. */
export function chainOver(digest: Digest): Chain {
  const hashCommit = (commit: object): string => {
    const unhashed: Record<string, unknown> = { ...commit };
    delete unhashed['hash'];
    return digest(canonicalText(unhashed));
  };
  return {
    hashCommit,
    sealCommit: (draft, prevHash) => {
      const unhashed = { ...draft, prevHash };
      const text = canonicalText(unhashed);
      const hash = digest(text);
      const sealed = { ...unhashed, hash };
      encodings.set(sealed, encoder.encode(`${text.slice(0, -1)},"hash":"${hash}"}`));
      return sealed;
    },
    verifyChain: (commits, options) => violationsIn(commits, hashCommit, options),
  };
}

/** The bytes that are stored for a commit. */
export function encodeCommit(commit: object): Uint8Array {
  return encodings.get(commit) ?? encoder.encode(JSON.stringify(commit));
}

function violationsIn(
  commits: readonly ChainedCommit[],
  hashOf: Chain['hashCommit'],
  { fromStart = true }: VerifyOptions = {},
): Violation[] {
  const violations: Violation[] = [];
  const first = commits[0];
  if (first === undefined) return violations;
  let number = fromStart ? 1 : first.number;
  let prevHash = fromStart ? GENESIS_HASH : first.prevHash;
  let sequence = fromStart ? 1 : (first.events[0]?.sequence ?? 1);
  for (const commit of commits) {
    const report = (kind: Violation['kind'], message: string) => void violations.push({ kind, number, message });
    if (commit.number !== number) report('number', `it has the number ${commit.number}`);
    if (commit.prevHash !== prevHash) report('prev-hash', 'prevHash is not the hash of the commit before it');
    if (!hasItsHash(commit, hashOf)) report('hash', 'its hash is not the hash of its content');
    for (const event of commit.events) {
      if (event.sequence !== sequence) report('event-sequence', `event ${sequence} has the sequence ${event.sequence}`);
      sequence = event.sequence + 1;
    }
    number = commit.number + 1;
    prevHash = commit.hash;
  }
  return violations;
}

function hasItsHash(commit: ChainedCommit, hashOf: Chain['hashCommit']): boolean {
  try {
    return hashOf(commit) === commit.hash;
  } catch {
    return false; // a lone surrogate has no canonical form: we never wrote that
  }
}

function canonicalText(value: object): string {
  const text = canonicalize(value);
  if (text === undefined) throw new TypeError('A commit must be a JSON object.');
  return text;
}
