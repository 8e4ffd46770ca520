import { expect, it } from '@jest/globals';
import { Process } from './process.js';
import { Scheduler, START_MS } from './scheduler.js';

it('lets things happen in order of time, then of arrival, and moves the clock with them', async () => {
  const scheduler = new Scheduler();
  const happened: string[] = [];
  const at = (ms: number, name: string) =>
    scheduler.after(ms, () => void happened.push(`${name} ${scheduler.elapsed}`));
  at(5, 'late');
  at(1, 'first');
  at(1, 'second');
  scheduler.after(2, () => at(1, 'nested'));
  expect(await scheduler.run(100)).toBe(true);
  expect(happened).toEqual(['first 1', 'second 1', 'nested 3', 'late 5']);
  expect(scheduler.now()).toBe(START_MS + 5);
});

it('lets everything that waits for an event go on before the next event', async () => {
  const scheduler = new Scheduler();
  const happened: string[] = [];
  const wait = async () => {
    await new Promise<void>((resolve) => scheduler.after(1, resolve));
    for (let step = 0; step < 50; step++) await Promise.resolve();
    happened.push('went on');
  };
  void wait();
  scheduler.after(1, () => void happened.push('next'));
  await scheduler.run(100);
  expect(happened).toEqual(['went on', 'next']);
});

it('stops when more happens than is allowed', async () => {
  const scheduler = new Scheduler();
  const again = () => scheduler.after(0, again);
  again();
  expect(await scheduler.run(1_000)).toBe(false);
});

it('keeps for a frozen process what comes, in order, and nothing for a dead one', async () => {
  const scheduler = new Scheduler();
  const [frozen, dead] = [new Process(scheduler), new Process(scheduler)];
  const happened: string[] = [];
  frozen.freeze();
  dead.kill();
  for (const name of ['a', 'b']) {
    scheduler.after(1, () => frozen.post(() => void happened.push(`${name} ${scheduler.elapsed}`)));
    scheduler.after(1, () => dead.post(() => void happened.push('never')));
  }
  scheduler.after(10, () => frozen.thaw());
  await scheduler.run(100);
  expect(happened).toEqual(['a 10', 'b 10']);
});

it('does what was asked of a server although nobody hears the answer', async () => {
  const scheduler = new Scheduler();
  const process = new Process(scheduler);
  const call = { there: 1, back: 1, timeoutMs: 50 };
  let done = 0;
  const work = () => ++done;
  const calls = [
    process.call({ ...call, work }),
    process.call({ ...call, work, mishap: { kind: 'answer-lost' } }),
    process.call({ ...call, work, mishap: { kind: 'request-lost' } }),
  ];
  const settled = Promise.allSettled(calls);
  await scheduler.run(100);
  expect((await settled).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
  expect(done).toBe(2);
});
