/** Equality of JSON values; the order of fields does not matter, and an absent field is the same as an undefined one. */
export function sameJson(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  if (Array.isArray(left) !== Array.isArray(right)) return false;
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length && left.every((item, index) => sameJson(item, right[index]));
  }
  const [one, other] = [left as Readonly<Record<string, unknown>>, right as Readonly<Record<string, unknown>>];
  for (const key of Object.keys(one)) {
    if (one[key] !== undefined && !(Object.hasOwn(other, key) && sameJson(one[key], other[key]))) return false;
  }
  return Object.keys(other).every(
    (key) => other[key] === undefined || (Object.hasOwn(one, key) && one[key] !== undefined),
  );
}

/** JSON with the fields of every object in order: equal values have equal texts. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, field: unknown) =>
    typeof field === 'object' && field !== null && !Array.isArray(field)
      ? Object.fromEntries(Object.entries(field).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : field,
  );
}
