/** What a process that is made for a test tells of its calls to the outside, and waits for. */
export interface CallHooks {
  readonly instance: string;
  readonly before: (call: string) => Promise<void>;
  readonly after: (call: string) => Promise<void>;
}

export interface Dying {
  readonly options: CallHooks;
  /** Resolves with the call at which it died. */
  readonly died: Promise<string>;
}

/** A process that dies at its n-th call to the outside, before or after the call took effect, for tests. */
export function dying(n: number, when: 'before' | 'after'): Dying {
  const { promise: died, resolve } = Promise.withResolvers<string>();
  const never = new Promise<void>(() => {});
  let begun = 0;
  let done = 0;
  let dead = false;
  const die = (call: string): Promise<void> => {
    dead = true;
    resolve(call);
    return never;
  };
  const options: CallHooks = {
    instance: 'dying',
    before: async (call) => {
      begun += 1;
      if (dead || (when === 'before' && begun === n)) await die(call);
    },
    after: async (call) => {
      done += 1;
      if (dead || (when === 'after' && done === n)) await die(call);
    },
  };
  return { options, died };
}
