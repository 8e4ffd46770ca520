import { setImmediate as tick } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { DirtyKeys } from './dirty-keys.runner.js';

let stop: AbortController;
let running: Promise<void>;
let calls: string[];

beforeEach(() => {
  stop = new AbortController();
  calls = [];
});
afterEach(async () => {
  stop.abort();
  await running;
});

function start(process: (key: string) => Promise<void>, failed: (key: string, failures: number) => void): DirtyKeys {
  const keys = new DirtyKeys({ process, failed: (_, key, failures) => failed(key, failures) });
  running = keys.run(stop.signal);
  return keys;
}
const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await tick();
};
const noFailure = (key: string): void => expect(`${key} failed`).toBe('never');

describe('DirtyKeys', () => {
  it('looks once at a key that was marked many times, and again when it was marked during the look', async () => {
    const gates: (() => void)[] = [];
    const { promise: done, resolve } = Promise.withResolvers<void>();
    const keys = start((key) => {
      calls.push(key);
      if (calls.length === 2) resolve();
      const gate = Promise.withResolvers<void>();
      gates.push(gate.resolve);
      return gate.promise;
    }, noFailure);
    keys.mark('a');
    keys.mark('a');
    await tick();
    expect(calls).toEqual(['a']);
    keys.mark('a');
    keys.mark('a');
    await tick();
    expect(calls).toEqual(['a']); // never two at the same time
    gates[0]?.();
    await done;
    gates[1]?.();
    await tick();
    expect(calls).toEqual(['a', 'a']);
  });

  it('repeats a failing key without holding up the others', async () => {
    const { promise: healed, resolve } = Promise.withResolvers<void>();
    const failures: number[] = [];
    let broken = true;
    const keys = start(
      async (key) => {
        calls.push(key);
        if (key === 'bad' && broken) throw new Error('not now');
        if (key === 'bad') resolve();
      },
      (_key, count) => {
        failures.push(count);
        broken = count < 2;
      },
    );
    keys.mark('bad');
    keys.mark('good');
    await healed;
    expect(calls).toEqual(['bad', 'good', 'bad', 'bad']);
    expect(failures).toEqual([1, 2]);
  });

  it('tells who waits for a key when a look that began afterwards has worked', async () => {
    const gates: PromiseWithResolvers<void>[] = [];
    const { promise: failed, resolve } = Promise.withResolvers<void>();
    const keys = start(
      () => {
        const gate = Promise.withResolvers<void>();
        gates.push(gate);
        return gate.promise;
      },
      () => resolve(),
    );
    let told = 0;
    keys.mark('a');
    await tick();
    const done = keys.done('a').then(() => told++);
    gates[0]?.resolve(); // this look began too early to count
    await tick();
    expect([gates.length, told]).toEqual([2, 0]);
    gates[1]?.reject(new Error('not now'));
    await failed;
    expect(told).toBe(0);
    keys.mark('a');
    await tick();
    gates[2]?.resolve();
    await done;
    expect(told).toBe(1);
    await until(() => gates.length === 4); // the look that repeats the failed one
    gates[3]?.resolve();
  });

  it('ends with the signal, after what is in work', async () => {
    const gate = Promise.withResolvers<void>();
    const keys = start(() => gate.promise, noFailure);
    keys.mark('a');
    keys.mark('b');
    await tick();
    stop.abort();
    let ended = false;
    void running.then(() => (ended = true));
    await tick();
    expect(ended).toBe(false);
    gate.resolve();
    await running;
    expect(keys.isClean()).toBe(true);
  });
});
