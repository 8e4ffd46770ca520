import { describe, expect, it } from '@jest/globals';
import { ExecCliResult, type CommandOutcome, type Json } from '#proto';
import { aliasedCall, execOutcome } from './exec-alias.js';

describe('EXEC_CLI of a foreign device', () => {
  it('is called by the names of that tool, with whole seconds', () => {
    const given = { command: 'df -h', timeout: 9.5, working_directory: '/srv' };
    expect(aliasedCall({ tool: 'EXEC_CLI', arguments: given })).toEqual({
      ok: true,
      command: { tool: 'execute_command', arguments: { command: 'df -h', timeout: 10, cwd: '/srv' } },
    });
  });

  it.each(['stdin', 'env', 'cwd'])('is refused with %s, which that tool does not have', (name) => {
    const refused = aliasedCall({ tool: 'EXEC_CLI', arguments: { command: 'cat', [name]: 'x' } });
    expect(refused).toMatchObject({ ok: false, message: expect.stringContaining(`arguments.${name}:`) });
  });
});

describe('its result', () => {
  const outcome = (result: Json, state: CommandOutcome['state'] = 'COMPLETED'): CommandOutcome => ({
    state,
    result,
    error: null,
    startedAt: null,
    durationMs: null,
  });
  const at = {
    command: { tool: 'EXEC_CLI', arguments: { command: 'false' } },
    sentAtMs: Date.parse('2026-11-20T12:00:00.000Z'),
    nowMs: Date.parse('2026-11-20T12:00:01.500Z'),
  };

  it('is one of EXEC_CLI where an exit code says that something ran', () => {
    const { result, ...rest } = execOutcome(
      outcome({ success: false, exit_code: 1, stdout: '', stderr: 'no' }, 'FAILED'),
      at,
    );
    expect(ExecCliResult.parse(result)).toEqual({
      stdout: '',
      stderr: 'no',
      exit_code: 1,
      command: 'false',
      execution_time: 1.5,
      timestamp: '2026-11-20T12:00:00.000Z',
      status: 'ERROR',
    });
    expect(rest.state).toBe('FAILED');
  });

  it.each<[string, Json]>([
    ['a refusal', { success: false, error: 'Command blocked by security policy.' }],
    ['no object', 'text'],
    ['no whole exit code', { exit_code: 0.5, stdout: '', stderr: '' }],
    ['outputs of another kind', { exit_code: 0, stdout: 1, stderr: '' }],
    ['nothing', null],
  ])('stays what it was when it has %s', (_, result) => {
    expect(execOutcome(outcome(result), at)).toEqual(outcome(result));
  });
});
