import { describe, expect, it } from '@jest/globals';
import { Supervised, type Running } from './supervised.runner.js';

interface Fake extends Running {
  readonly port: number;
  die(): void;
  readonly stops: number;
}

let pids = 0;
function fake(port: number): Fake {
  const { promise: exited, resolve } = Promise.withResolvers<void>();
  let stops = 0;
  const stop = (): Promise<void> => {
    stops += 1;
    resolve();
    return Promise.resolve();
  };
  return {
    pid: (pids += 1),
    port,
    exited,
    stop,
    die: resolve,
    get stops() {
      return stops;
    },
  };
}

/** Starts what `make` makes, and can wait for the n-th start. */
async function supervise(
  make: (before: Fake | undefined, signal: AbortSignal) => Promise<Fake>,
  onStart?: (running: Fake) => Promise<void>,
) {
  const said: string[] = [];
  const waiting: { text: string; resolve: () => void }[] = [];
  const report = (text: string): void => {
    said.push(text);
    waiting.filter((one) => text.includes(one.text)).forEach(({ resolve }) => resolve());
  };
  const heard = (text: string): Promise<void> =>
    new Promise((resolve) => (said.some((one) => one.includes(text)) ? resolve() : waiting.push({ text, resolve })));
  const supervised = await Supervised.start<Fake>(
    { name: 'it', start: make, now: () => 0, report, ...(onStart && { onStart }) },
    new AbortController().signal,
  );
  return { supervised, said, heard };
}

describe('Supervised', () => {
  it('starts again what ends by itself, and tells the next one where the last one was', async () => {
    const befores: (number | undefined)[] = [];
    const { supervised, heard, said } = await supervise((before) => {
      befores.push(before?.port);
      return Promise.resolve(fake(before?.port ?? 5000));
    });
    const first = supervised.current;
    first.die();
    await heard('back');
    expect(befores).toEqual([undefined, 5000]);
    expect(supervised.current).not.toBe(first);
    expect(said).toEqual(['it ended; starting it again', 'it is back after 0.0 s']);
    await supervised.stop();
  });

  it('starts anew what somebody wants so, at once, and says when it is ready or why it is not', async () => {
    const first = fake(7);
    let starts = 0;
    const { supervised, said } = await supervise(async () => {
      starts += 1;
      if (starts === 3) throw new Error('no disk');
      return starts === 1 ? first : fake(7);
    });
    await supervised.restart();
    expect([first.stops, starts, supervised.isReady]).toEqual([1, 2, true]);
    expect(said).toEqual(['it is started anew', 'it is back after 0.0 s']);
    await expect(supervised.restart()).rejects.toThrow('no disk');
    await supervised.stop();
  });

  it('does not start again what was stopped', async () => {
    let starts = 0;
    const { supervised, said } = await supervise(() => {
      starts += 1;
      return Promise.resolve(fake(0));
    });
    await supervised.stop();
    expect({ starts, said, stops: supervised.current.stops }).toEqual({ starts: 1, said: [], stops: 1 });
  });

  it('fails when the first start does', async () => {
    await expect(supervise(() => Promise.reject(new Error('no port')))).rejects.toThrow('no port');
  });

  it('runs on, once, when what is told of a later start cannot be written down', async () => {
    let starts = 0;
    const start = (): Promise<Fake> => Promise.resolve(fake((starts += 1)));
    const noRoom = (): Promise<void> => (starts > 1 ? Promise.reject(new Error('no space left')) : Promise.resolve());
    const { supervised, heard, said } = await supervise(start, noRoom);
    supervised.current.die();
    await heard('back');
    expect({ starts, stops: supervised.current.stops }).toEqual({ starts: 2, stops: 0 });
    expect(said).toContain('it runs, but: no space left');
    await supervised.stop();
  });

  it('leaves nothing behind when the first start cannot be written down', async () => {
    const only = fake(0);
    const noRoom = (): Promise<void> => Promise.reject(new Error('no space left'));
    await expect(supervise(() => Promise.resolve(only), noRoom)).rejects.toThrow('no space left');
    expect(only.stops).toBe(1);
  });

  it('keeps trying when a later start fails', async () => {
    let starts = 0;
    const { supervised, heard, said } = await supervise(() => {
      starts += 1;
      return starts === 2 ? Promise.reject(new Error('not yet')) : Promise.resolve(fake(0));
    });
    supervised.current.die();
    await heard('back');
    expect(said[1]).toBe('it did not start: not yet');
    await supervised.stop();
  });

  it('can be stopped while it is starting again, and leaves nothing behind', async () => {
    const late = Promise.withResolvers<Fake>();
    const starting = Promise.withResolvers<void>();
    let starts = 0;
    const { supervised } = await supervise(() => {
      starts += 1;
      if (starts === 1) return Promise.resolve(fake(0));
      starting.resolve();
      return late.promise;
    });
    supervised.current.die();
    await starting.promise;
    const stopped = supervised.stop();
    const second = fake(0);
    late.resolve(second); // did not notice in time that nobody wants it any more
    await stopped;
    expect(second.stops).toBe(1);
  });
});
