export interface BatchLimits {
  readonly itemsMax: number;
  readonly bytesMax: number;
}

/**
 * Groups a sequence by what is there at the moment: a slow source gives batches of one without delay, a fast one gives
 * full batches. Reads ahead by one batch at most, so a slow consumer holds the source back. `rest`: what is waited for behind
 * a batch that had room for more.
 */
export async function* batches<T extends { readonly data: Uint8Array }>(
  source: AsyncIterable<T>,
  { itemsMax, bytesMax }: BatchLimits,
  rest?: () => Promise<void>,
): AsyncGenerator<T[], void, undefined> {
  const iterator = source[Symbol.asyncIterator]();
  let next = iterator.next();
  // A failure is thrown where it is awaited; until then it must not count as unhandled.
  const readAhead = () => {
    next = iterator.next();
    next.catch(() => undefined);
  };
  try {
    for (;;) {
      const first = await next;
      if (first.done === true) return;
      const batch = [first.value];
      let bytes = first.value.data.length;
      readAhead();
      while (batch.length < itemsMax && bytes < bytesMax) {
        // What came before a failure is given first; the failure itself is met when the next batch begins.
        const following = await Promise.race([next, nothingNow()]).catch(() => undefined);
        if (following === undefined || following.done === true) break;
        batch.push(following.value);
        bytes += following.value.data.length;
        readAhead();
      }
      yield batch;
      if (batch.length < itemsMax && bytes < bytesMax) await rest?.();
    }
  } finally {
    void iterator.return?.().catch(() => undefined);
  }
}

/** Resolves once everything that is ready by now had its turn. */
function nothingNow(): Promise<undefined> {
  return new Promise((resolve) => setImmediate(() => resolve(undefined)));
}
