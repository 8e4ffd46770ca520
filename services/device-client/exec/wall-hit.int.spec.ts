import { describe, expect, it } from '@jest/globals';
import type { CommandOutcome } from '#proto';
import { wallHit } from './wall-hit.adapter.js';

const outcome = (exitCode: number, stderr: string): CommandOutcome => ({
  state: exitCode === 0 ? 'COMPLETED' : 'FAILED',
  result: {
    stdout: '',
    stderr,
    exit_code: exitCode,
    command: 'x',
    execution_time: 1,
    timestamp: 't',
    status: exitCode === 0 ? 'SUCCESS' : 'ERROR',
  },
  error: null,
  startedAt: null,
  durationMs: null,
});
const held = { wall: { kind: 'read', views: [] }, hasFilter: true, cwd: '/var/tmp' } as const;

describe('what is known of a command and its wall', () => {
  it.each<[string, CommandOutcome, string | undefined]>([
    ['that went well', outcome(0, 'Read-only file system'), undefined],
    ['that failed by itself', outcome(1, 'grep: x: No such file or directory'), undefined],
    [
      'that was refused, which it might have been outside',
      outcome(1, 'cat: /etc/shadow: Permission denied'),
      undefined,
    ],
    ['that was killed by the filter', outcome(159, ''), 'asked the kernel'],
    [
      'that could not write there',
      outcome(1, "touch: cannot touch '/var/tmp/a': Read-only file system\n"),
      '/var/tmp/a',
    ],
    ['that could not write here', outcome(2, 'sh: 1: cannot create a: Read-only file system'), '/var/tmp'],
    [
      'that could not write to what is not there',
      outcome(1, 'touch: /proc/orrery/x: Read-only file system'),
      '/proc/orrery/x',
    ],
  ])('one %s', async (_, ended, sentence) => {
    const how = await wallHit(ended, held);
    if (sentence === undefined) expect(how).toBeUndefined();
    else expect(how).toContain(sentence);
  });

  it('is nothing of the filter where there is none', async () =>
    expect(await wallHit(outcome(159, ''), { ...held, hasFilter: false })).toBeUndefined());
});
