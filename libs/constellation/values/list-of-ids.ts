const LISTED_MAX = 10;

/** Ids for people: all of a few, of many the first. */
export function listOfIds(ids: readonly string[]): string {
  if (ids.length === 0) return 'none';
  const more = ids.length > LISTED_MAX ? ` and ${ids.length - LISTED_MAX} more` : '';
  return ids.slice(0, LISTED_MAX).join(', ') + more;
}
