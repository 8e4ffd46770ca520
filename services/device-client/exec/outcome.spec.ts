import { describe, expect, it } from '@jest/globals';
import type { ToolAnswer } from '#libs/mcp';
import type { ExecCliResult, Json } from '#proto';
import { LIMIT_META } from './command-limits.js';
import { DEVICE_STOPPED, DISCONNECTED, outcomeOf } from './outcome.js';

const timing = { startedAt: '2026-11-20T00:00:00.000Z', durationMs: 5 };
const quiet = new AbortController().signal;
const exec = (more: Partial<ExecCliResult>): Json => ({ ...EXEC, ...(more as { [key: string]: Json }) });
const EXEC = {
  stdout: '',
  stderr: '',
  exit_code: 0,
  command: 'x',
  execution_time: 1.5,
  timestamp: 't',
  status: 'SUCCESS',
};
const limited = (value: Json): ToolAnswer => ({
  kind: 'answered',
  isError: false,
  value,
  meta: { [LIMIT_META]: 'at a limit' },
});
const answered = (value: Json, isError = false): ToolAnswer => ({ kind: 'answered', isError, value });

describe('the outcome of a command', () => {
  it.each<[string, string, ToolAnswer, AbortSignal, object]>([
    ['a success', 'EXEC_CLI', answered(exec({})), quiet, { state: 'COMPLETED', error: null }],
    [
      'a timeout',
      'EXEC_CLI',
      answered(exec({ status: 'TIMEOUT', exit_code: 124 })),
      quiet,
      { state: 'TIMED_OUT', error: { code: 'TIMEOUT', message: 'killed after 1.5 s', outcome: 'timed_out' } },
    ],
    [
      'an exit code',
      'EXEC_CLI',
      answered(exec({ status: 'ERROR', exit_code: 2, stderr: 'a\nb\x1b[31m!\n\n' })),
      quiet,
      { state: 'FAILED', error: { code: 'EXIT_CODE', message: 'exit code 2: b [31m!', outcome: 'failed' } },
    ],
    [
      'a limit at which it was ended',
      'EXEC_CLI',
      limited(exec({ status: 'ERROR', exit_code: 137 })),
      quiet,
      { state: 'FAILED', error: { code: 'LIMIT_REACHED', message: 'at a limit', outcome: 'failed' } },
    ],
    [
      'a limit of which another tool speaks, and which is none',
      'other',
      limited('x'),
      quiet,
      { state: 'COMPLETED', error: null },
    ],
    [
      'an exit code without words',
      'EXEC_CLI',
      answered(exec({ status: 'ERROR', exit_code: 137 })),
      quiet,
      { state: 'FAILED', error: { code: 'EXIT_CODE', message: 'exit code 137', outcome: 'failed' } },
    ],
    [
      'an exit code in the answer of another tool, which is its own business',
      'other',
      answered({ exit_code: 2 }),
      quiet,
      { state: 'COMPLETED', error: null },
    ],
    [
      'an error of a tool',
      'other',
      answered('no such file', true),
      quiet,
      { state: 'FAILED', error: { code: 'TOOL_ERROR', message: 'no such file', outcome: 'failed' } },
    ],
    [
      'a tool that does not answer',
      'other',
      { kind: 'timed_out' },
      quiet,
      { state: 'TIMED_OUT', error: { code: 'TOOL_TIMEOUT', outcome: 'timed_out' } },
    ],
    [
      'a tool that is not there',
      'other',
      { kind: 'unavailable', reason: 'down' },
      quiet,
      { state: 'FAILED', error: { code: 'TOOL_UNAVAILABLE', message: 'down', outcome: 'failed' } },
    ],
    [
      'a tool server that died meanwhile',
      'other',
      { kind: 'lost', reason: 'died' },
      quiet,
      { state: 'OUTCOME_UNKNOWN', error: { code: 'TOOL_SERVER_LOST', message: 'died', outcome: 'unknown' } },
    ],
    [
      'a stopped attempt',
      'EXEC_CLI',
      { kind: 'cancelled', value: 'so far' },
      AbortSignal.abort('ATTEMPT_STOPPED'),
      { state: 'CANCELLED', result: 'so far', error: { code: 'ATTEMPT_STOPPED', outcome: 'cancelled' } },
    ],
    [
      'a stopped device',
      'EXEC_CLI',
      { kind: 'cancelled', value: null },
      AbortSignal.abort(DEVICE_STOPPED),
      { state: 'FAILED', error: { code: 'DEVICE_STOPPED', outcome: 'failed' } },
    ],
    [
      'a device without a server',
      'EXEC_CLI',
      { kind: 'cancelled', value: 'so far' },
      AbortSignal.abort(DISCONNECTED),
      { state: 'CANCELLED', result: 'so far', error: { code: 'DISCONNECTED', outcome: 'cancelled' } },
    ],
  ])('tells %s', (_, tool, answer, stop, expected) => {
    expect(outcomeOf(tool, answer, stop, timing)).toMatchObject({ ...timing, ...expected });
  });

  it('keeps what the tool answered in every case', () => {
    const value = exec({ status: 'ERROR', exit_code: 1, stdout: 'kept' });
    expect(outcomeOf('EXEC_CLI', answered(value), quiet, timing).result).toEqual(value);
    expect(outcomeOf('other', answered('kept', true), quiet, timing).result).toBe('kept');
  });
});
