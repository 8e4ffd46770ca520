/** Some messages of a stream, in order, and whether there are more behind them. */
export interface Pile<M> {
  readonly messages: readonly M[];
  readonly more: boolean;
}

export interface Merged<A, B> {
  readonly inOrder: readonly (readonly [from: 'one', message: A] | readonly [from: 'other', message: B])[];
  /** There is more behind them. */
  readonly more: boolean;
}

/**
 * Two piles as one, by the time at which each message was stored. Where a pile ends and has more behind it, nobody can say what comes next:
 * there it ends. What was stored in the same millisecond comes from the first pile first.
 */
export function mergedPiles<A extends { readonly time: Date }, B extends { readonly time: Date }>(
  one: Pile<A>,
  other: Pile<B>,
): Merged<A, B> {
  const inOrder: (readonly ['one', A] | readonly ['other', B])[] = [];
  let [first, second] = [0, 0];
  for (;;) {
    const [a, b] = [one.messages[first], other.messages[second]];
    if ((a === undefined && one.more) || (b === undefined && other.more)) break;
    if (a === undefined && b === undefined) break;
    if (b === undefined || (a !== undefined && a.time <= b.time)) {
      if (a !== undefined) inOrder.push(['one', a]);
      first += 1;
    } else {
      inOrder.push(['other', b]);
      second += 1;
    }
  }
  const isAll = first === one.messages.length && second === other.messages.length;
  return { inOrder, more: !isAll || one.more || other.more };
}
