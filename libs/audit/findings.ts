import { z } from 'zod';
import { verifyChain } from '#libs/event-log';
import { parseWith, sentenceOf, type RunId } from '#proto';
import type { ExportRecord } from './export-file.js';

/** One thing that is not as it was written. */
export interface Finding {
  readonly runId: RunId;
  readonly stream: ExportRecord['stream'];
  /** Number of the commit in its aggregate; null when it is about no single one. */
  readonly number: number | null;
  /** The attempt, for commits of ATTEMPTS; the entry, for those of ATTENTION. */
  readonly attempt?: string;
  readonly message: string;
}

/** `run 0abc, RUNS commit 3: its hash is not the hash of its content`. */
export function findingText({ runId, stream, number, attempt, message }: Finding): string {
  const where = [stream, attempt, number === null ? undefined : `commit ${number}`].filter(
    (word) => word !== undefined,
  );
  return `run ${runId}, ${where.join(' ')}: ${message}`;
}

const Chained = z.looseObject({
  number: z.int(),
  prevHash: z.string(),
  hash: z.string(),
  events: z.array(z.looseObject({ sequence: z.int() })).min(1),
});
type Chained = z.infer<typeof Chained>;

type Say = (number: number | null, message: string) => void;

/** The commits of an aggregate that its schema takes, each with where it stood; what is wrong with the chain or with one of them is said. */
export function verified<C, R extends Pick<ExportRecord, 'commit'>>(
  schema: z.ZodType<C>,
  records: readonly R[],
  say: Say,
): { readonly record: R; readonly value: C }[] {
  const chain = chained(records, (_, message) => say(null, message));
  for (const { number, message } of verifyChain(chain.map(({ commit }) => commit))) say(number, message);
  return chain.flatMap(({ record, commit }) => {
    const parsed = parseWith(schema, record.commit);
    if (parsed.ok) return [{ record, value: parsed.value }];
    say(commit.number, parsed.issues.map(sentenceOf).join('; '));
    return [];
  });
}

/** The commits that have what a chain needs, untouched (hashes are over the JSON as stored); the others are reported. */
export function chained<R extends Pick<ExportRecord, 'commit'>>(
  records: readonly R[],
  report: (record: R, message: string) => void,
): { readonly record: R; readonly commit: Chained }[] {
  return records.flatMap((record) => {
    if (Chained.safeParse(record.commit).success) return [{ record, commit: record.commit as Chained }];
    report(record, 'this is not a commit: number, prevHash, hash and events are needed');
    return [];
  });
}
