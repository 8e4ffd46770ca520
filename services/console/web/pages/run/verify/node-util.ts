// What the audit uses of `node:util`, for a browser.

/** Whether two values of JSON are the same; a field that is undefined is not one that is missing. */
export function isDeepStrictEqual(left: unknown, right: unknown): boolean {
  if (Object.is(left, right)) return true;
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  if (Array.isArray(left) !== Array.isArray(right)) return false;
  const [ours, theirs] = [Object.keys(left), new Set(Object.keys(right))];
  return (
    ours.length === theirs.size &&
    ours.every((key) => theirs.has(key) && isDeepStrictEqual(Reflect.get(left, key), Reflect.get(right, key)))
  );
}
