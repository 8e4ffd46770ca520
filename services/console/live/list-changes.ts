/** The rows of a list as JSON, by their ids, in their order. */
export type ListRows = ReadonlyMap<string, string>;

/** What has to be told to who has seen the list as it was: all of it, or what is new, other or gone. */
export type ListChange =
  | { readonly kind: 'rows' }
  | { readonly kind: 'row'; readonly row: string }
  | { readonly kind: 'gone'; readonly id: string };

/** `before`: undefined for who has seen nothing. All of it is told again when that is about as long as what changed. */
export function listChanges(before: ListRows | undefined, now: ListRows): ListChange[] {
  if (before === undefined) return [{ kind: 'rows' }];
  const gone = [...before.keys()].filter((id) => !now.has(id));
  const other = [...now].filter(([id, row]) => before.get(id) !== row);
  const isMost = gone.length + other.length > Math.max(ROWS_ALONE, now.size / 2);
  if (isMost) return [{ kind: 'rows' }];
  return [
    ...gone.map((id): ListChange => ({ kind: 'gone', id })),
    ...other.map(([, row]): ListChange => ({ kind: 'row', row })),
  ];
}

/** So many changes are told one by one, however short the list is. */
const ROWS_ALONE = 8;
