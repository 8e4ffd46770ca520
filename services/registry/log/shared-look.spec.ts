import { describe, expect, it } from '@jest/globals';
import { SharedLook } from './shared-look.js';

describe('a shared look', () => {
  it('is one for all who ask at the same time, and a new one for who asks later', async () => {
    let looks = 0;
    const shared = new SharedLook(() => Promise.resolve(++looks));
    expect(await Promise.all([shared.ask(), shared.ask(), shared.ask()])).toEqual([1, 1, 1]);
    expect(await shared.ask()).toBe(2);
  });

  it('that is under way is too old for who asks now', async () => {
    const answers: ((value: string) => void)[] = [];
    const shared = new SharedLook(() => new Promise<string>((resolve) => void answers.push(resolve)));
    const first = shared.ask();
    await settled();
    const later = [shared.ask(), shared.ask()];
    await settled();
    expect(answers).toHaveLength(1);
    answers[0]?.('old');
    expect(await first).toBe('old');
    await settled();
    expect(answers).toHaveLength(2);
    answers[1]?.('new');
    expect(await Promise.all(later)).toEqual(['new', 'new']);
  });

  it('that failed fails for those who asked for it, and for nobody else', async () => {
    let looks = 0;
    const shared = new SharedLook(() =>
      ++looks === 1 ? Promise.reject(new Error('no server')) : Promise.resolve(looks),
    );
    await expect(shared.ask()).rejects.toThrow('no server');
    expect(await shared.ask()).toBe(2);
  });
});

const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
