import type { z } from 'zod';
import { parseWith, sentenceOf } from '#proto';
import { verifyChain } from './sealing.js';
import type { ChainedCommit } from './chain.js';
import { CorruptLogError } from './errors.js';
import type { Stored } from './event-log.js';

export interface StoredBytes {
  readonly sequence: number;
  readonly data: Uint8Array;
}

export interface ParseOptions {
  /** Whether the first of these commits is the first of its aggregate. */
  readonly fromStart: boolean;
}

/** Stored bytes -> commits. The chain is checked over the JSON as stored, then each commit against its schema; throws CorruptLogError. */
export function parseCommits<C>(
  subject: string,
  schema: z.ZodType<C>,
  stored: readonly StoredBytes[],
  options: ParseOptions,
): Stored<C>[] {
  const raw = stored.map(({ data }) => parseJson(subject, data));
  const commits = raw.map((json, index): Stored<C> => {
    const parsed = parseWith(schema, json);
    if (parsed.ok) return { commit: parsed.value, sequence: stored[index]?.sequence ?? 0 };
    const message = parsed.issues.map(sentenceOf).join('; ');
    throw new CorruptLogError(subject, [{ kind: 'schema', number: numberOf(json), message }]);
  });
  // The schema has shown that each has the fields of a chained commit; hashes are over all fields, so `raw` it is.
  const violations = verifyChain(raw as ChainedCommit[], options);
  if (violations.length > 0) throw new CorruptLogError(subject, violations);
  return commits;
}

const decoder = new TextDecoder('utf-8', { fatal: true });

function parseJson(subject: string, data: Uint8Array): unknown {
  try {
    return JSON.parse(decoder.decode(data));
  } catch {
    throw new CorruptLogError(subject, [{ kind: 'schema', number: 0, message: 'it is not JSON in UTF-8' }]);
  }
}

function numberOf(json: unknown): number {
  return typeof json === 'object' && json !== null && 'number' in json && typeof json.number === 'number'
    ? json.number
    : 0;
}
