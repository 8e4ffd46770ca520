import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { ClientMessage, CommandOutcome, type CommandResultsMessage } from '#proto';
import { commandOutcomeOf } from './outcome.js';

describe('outcomeOf', () => {
  it('reads recorded failures of a foreign client, the one that calls itself a success included', () => {
    const file = join(import.meta.dirname, '../../../proto/fixtures/aip/ufo-failures.json');
    const lines = JSON.parse(readFileSync(file, 'utf8')) as { frame: unknown }[];
    const results = lines.map(({ frame }) => ClientMessage.parse(frame) as CommandResultsMessage);
    const outcomes = results.map((frame) => commandOutcomeOf(frame.action_results?.[0]));
    expect(outcomes).toMatchObject([
      {
        state: 'FAILED',
        result: { success: false, exit_code: 1 },
        error: { code: 'TOOL_ERROR', message: 'the command ended with exit code 1' },
      },
      { state: 'FAILED', result: null, error: { message: "Input validation error: 'command' is a required property" } },
      { state: 'OUTCOME_UNKNOWN', error: { code: 'NO_RESULT', outcome: 'unknown' } },
    ]);
    for (const outcome of outcomes) expect(CommandOutcome.safeParse(outcome).success).toBe(true);
  });

  it('keeps the result of a success, whatever it is', () => {
    for (const result of [null, 0, 'text', [false], { success: true }, { success: 'false' }]) {
      expect(commandOutcomeOf({ status: 'success', result })).toMatchObject({
        state: 'COMPLETED',
        result,
        error: null,
      });
    }
    expect(commandOutcomeOf({ status: 'success' })).toMatchObject({ state: 'COMPLETED', result: null });
  });

  it.each([
    ['an error of the tool', { status: 'failure', error: 'no such file' }, 'no such file'],
    ['a failure without a word', { status: 'failure' }, 'the tool failed'],
    ['a skipped action', { status: 'skipped', error: 'skipped' }, 'skipped'],
    ['a refused command', { status: 'success', result: { success: false, error: 'Blocked.' } }, 'Blocked.'],
    ['no success and no reason', { status: 'success', result: { success: false } }, 'the tool reports no success'],
  ] as const)('calls %s FAILED', (_, result, message) =>
    expect(commandOutcomeOf(result)).toMatchObject({ state: 'FAILED', error: { message, outcome: 'failed' } }),
  );
});
