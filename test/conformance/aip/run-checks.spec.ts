import { describe, expect, it } from '@jest/globals';
import { CheckFailed, demand, demandEqual, type Check } from './check.js';
import type { Lab } from './lab.js';
import { sumsOf, tableOf } from './report.js';
import { runChecks, type RunOptions } from './run-checks.js';

const account = (id: string) => ({ id, token: 't' });
const OPTIONS: RunOptions = {
  target: { url: 'ws://127.0.0.1:1/ws', answerMs: 100, taskMs: 100 },
  devices: [account('d1'), account('d2')],
  constellations: [],
  executes: false,
};
const check = (id: string, more: Partial<Check> = {}): Check => ({
  id,
  what: `what ${id} demands`,
  source: 'here',
  profile: 'core',
  run: () => Promise.resolve(),
  ...more,
});

describe('runChecks', () => {
  it('tells in the order of the checks what passed, failed and why', async () => {
    const results = await runChecks(
      [
        check('good'),
        check('bad', { run: () => Promise.reject(new CheckFailed('the server was silent')) }),
        check('broken', { run: () => Promise.reject(new TypeError('a mistake of the check')) }),
      ],
      OPTIONS,
    );
    expect(results.map(({ id, outcome, reason }) => [id, outcome, reason])).toEqual([
      ['good', 'passed', undefined],
      ['bad', 'failed', 'the server was silent'],
      ['broken', 'failed', 'TypeError: a mistake of the check'],
    ]);
    expect(sumsOf(results)).toBe('1 passed, 2 failed, 0 skipped');
    expect(tableOf(results)).toContain('the server was silent');
  });

  it('skips with its reason what needs more than it was given', async () => {
    const [result] = await runChecks([check('c', { needs: ['constellation'] })], OPTIONS);
    expect(result).toMatchObject({ outcome: 'skipped', reason: expect.stringContaining('--constellation-token-file') });
  });

  it('gives no device to two checks at once, and goes on when one is free again', async () => {
    let most = 0;
    const busy = new Set<string>();
    const run = async ({ devices }: Lab): Promise<void> => {
      for (const { id } of devices) {
        demand(!busy.has(id), `${id} is used by another check`);
        busy.add(id);
      }
      most = Math.max(most, busy.size);
      await new Promise((resolve) => setImmediate(resolve));
      for (const { id } of devices) busy.delete(id);
    };
    const checks = Array.from({ length: 10 }, (_, index) =>
      check(`c${index}`, { run, ...(index % 3 === 0 && { needs: ['two-devices'] }) }),
    );
    const results = await runChecks(checks, OPTIONS);
    expect(results.map(({ outcome }) => outcome)).toEqual(checks.map(() => 'passed'));
    expect(most).toBe(2);
  });
});

describe('demandEqual', () => {
  it('says what should be and what is', () =>
    expect(() => demandEqual(['error'], [], 'the answer')).toThrow('the answer should be [] and is ["error"]'));
});
