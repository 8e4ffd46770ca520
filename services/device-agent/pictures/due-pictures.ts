import { picturesOf, type Book } from '#libs/attempt';
import type { KeptPictures } from '#libs/command-policy';
import type { ArtifactRef } from '#proto';

const DAY_MS = 24 * 60 * 60 * 1_000;

/** An attempt of a run that has ended, and what its device's policy says of its pictures. */
export interface RecordedPictures {
  readonly book: Pick<Book, 'commands' | 'dropped'>;
  readonly kept: KeptPictures;
}

export interface DuePictures {
  /** Of each attempt, in their order: what is to be dropped and is not recorded as that. */
  readonly due: readonly (readonly ArtifactRef[])[];
  /** Milliseconds until there is more; null: never. */
  readonly nextMs: number | null;
}

/** What is dropped now of the pictures of a run. One that any of its attempts keeps is kept for all of them. */
export function duePictures(attempts: readonly RecordedPictures[], sinceEndMs: number): DuePictures {
  const left = attempts.map(({ kept }) => (kept.days === undefined ? null : kept.days * DAY_MS - sinceEndMs));
  const stays = new Set<string>();
  const pictures = attempts.map(({ book, kept: { keep } }, index) => {
    const { ofActs, others } = picturesOf(book);
    const kept = isOver(left[index]) || keep === 'none' ? [] : keep === 'acts' ? ofActs : [...ofActs, ...others];
    for (const { sha256 } of kept) stays.add(sha256);
    return [...ofActs, ...others];
  });
  const due = pictures.map((all, index) => {
    const dropped = new Set(attempts[index]?.book.dropped.map(({ sha256 }) => sha256));
    return all.filter(({ sha256 }) => !stays.has(sha256) && !dropped.has(sha256));
  });
  const later = left.filter((ms) => ms !== null && ms > 0);
  return { due, nextMs: later.length === 0 ? null : Math.min(...(later as number[])) };
}

const isOver = (leftMs: number | null | undefined): boolean => typeof leftMs === 'number' && leftMs <= 0;

/** The rule in the words of the file that says it. */
export const ruleText = ({ keep, days }: KeptPictures): string =>
  `pictures: { keep: ${keep}${days === undefined ? '' : `, days: ${days}`} }`;
