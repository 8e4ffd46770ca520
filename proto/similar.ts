/** How many slips of the pen a name may be away: about one in three letters. */
const LETTERS_PER_SLIP = 3;
/** Longer ones are no slip of the pen. */
const CHARS_MAX = 64;

/** The name that somebody may have meant who wrote another one; undefined when none comes near. */
export function meantName(written: string, names: Iterable<string>): string | undefined {
  if (written.length > CHARS_MAX) return undefined;
  const near = [...names].flatMap((name) => {
    const slips = slipsBetween(bare(written), bare(name));
    const isNear = slips <= Math.floor(Math.max(written.length, name.length) / LETTERS_PER_SLIP);
    return isNear || isPart(bare(written), bare(name)) ? [{ name, slips }] : [];
  });
  return near.toSorted((one, other) => one.slips - other.slips)[0]?.name;
}

/** `task_id`, `task-id` and `taskId` are one name. */
function bare(name: string): string {
  return name.toLowerCase().replaceAll(/[\s_-]/gu, '');
}

/** `deviceId` for `device`, `timeout` for `timeoutMs`. */
function isPart(one: string, other: string): boolean {
  const [short, long] = one.length < other.length ? [one, other] : [other, one];
  return short.length >= LETTERS_PER_SLIP && long.startsWith(short);
}

/** Letters that are missing, too many, wrong or in the wrong order (optimal string alignment). */
function slipsBetween(one: string, other: string): number {
  let [before, last]: [number[], number[]] = [[], [...Array(other.length + 1).keys()]];
  for (let row = 1; row <= one.length; row += 1) {
    const next = [row];
    for (let column = 1; column <= other.length; column += 1) {
      const isSame = one[row - 1] === other[column - 1];
      const isSwapped = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      const ways = [(last[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1, (last[column - 1] ?? 0) + (isSame ? 0 : 1)];
      next.push(Math.min(...ways, ...(isSwapped ? [(before[column - 2] ?? 0) + 1] : [])));
    }
    [before, last] = [last, next];
  }
  return last[other.length] ?? 0;
}
