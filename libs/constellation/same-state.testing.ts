/**
 * Whether two states are the same, what they share passed over: much cheaper than comparing their texts. False only means that nobody
 * knows yet, as with fields that one of them has as undefined.
 */
export function isSameState(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
  if (Object.getPrototypeOf(one) !== Object.getPrototypeOf(other)) return false;
  if (Symbol.iterator in one && Symbol.iterator in other) {
    const [items, others] = [[...(one as Iterable<unknown>)], [...(other as Iterable<unknown>)]];
    return items.length === others.length && items.every((item, index) => isSameState(item, others[index]));
  }
  const fields = Object.entries(one);
  const found = other as Readonly<Record<string, unknown>>;
  return (
    fields.length === Object.keys(other).length &&
    fields.every(([key, value]) => Object.hasOwn(other, key) && isSameState(value, found[key]))
  );
}
