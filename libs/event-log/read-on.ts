import { CorruptLogError } from './errors.js';
import type { EventLog, Stored } from './event-log.js';

/** The last commit that is known of an aggregate; a sequence of 0 says that none is. */
interface Known {
  readonly sequence: number;
  readonly hash: string;
}

/** What was read of an aggregate whose commits were read before. */
export interface ReadOn<C> {
  /** These are all commits of the aggregate, and what was known before is not to be relied on. */
  readonly anew: boolean;
  readonly stored: readonly Stored<C>[];
}

/**
 * Reads on from the last commit that is known. The known one is read once more, so that its place in the stream and its
 * content are seen to be the same and what follows is seen to be linked to it. Where the log does not go on from it, because it
 * was restored, purged or changed, everything is read anew. Throws what `load` throws; damage is never said of a part only.
 */
export async function readOn<K, C extends { readonly hash: string }>(
  log: Pick<EventLog<K, C>, 'load'>,
  key: K,
  known: Known,
): Promise<ReadOn<C>> {
  const tail = known.sequence === 0 ? null : await tailOf(log, key, known);
  return tail === null ? { anew: true, stored: await log.load(key) } : { anew: false, stored: tail };
}

/** What follows the known commit; null when it is not there any more, or what is there does not follow from it. */
async function tailOf<K, C extends { readonly hash: string }>(
  log: Pick<EventLog<K, C>, 'load'>,
  key: K,
  known: Known,
): Promise<Stored<C>[] | null> {
  try {
    const [first, ...tail] = await log.load(key, known.sequence - 1);
    return first?.sequence === known.sequence && first.commit.hash === known.hash ? tail : null;
  } catch (error) {
    if (error instanceof CorruptLogError) return null;
    throw error;
  }
}
