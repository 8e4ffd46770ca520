import { describe, expect, it } from '@jest/globals';
import { RecordedAttemptEvent, type AttemptFinished, type CommandOutcome, type CommandState } from '#proto';
import type { ExactOrder } from './attempt.js';
import { eventsOf, lateEventsOf, type Ending } from './ending.js';
import { execCli, RUN_ID, STARTED_AT, startOf } from './given.testing.js';

const order = (tool = 'EXEC_CLI'): ExactOrder => ({
  key: { runId: RUN_ID, taskId: 'a', attempt: 1 },
  start: startOf('a', 1, { tool, arguments: {} }),
  commit: '01HZZZZZZZZZZZZZZZZZZZZ001',
});
const outcome = (state: CommandState, change: Partial<CommandOutcome> = {}): CommandOutcome => ({
  state,
  result: null,
  error: null,
  startedAt: STARTED_AT,
  durationMs: 5,
  ...change,
});
const ended = (
  state: CommandState,
  result: unknown = execCli('out'),
  change: Partial<CommandOutcome> = {},
): Ending => ({
  kind: 'outcome',
  outcome: outcome(state, change),
  result: result === null ? null : { value: result as never },
});
const endOf = (ending: Ending, tool?: string) => {
  const last = eventsOf(order(tool), ending).at(-1);
  if (last?.type !== 'ATTEMPT_FINISHED') throw new Error('no end');
  return RecordedAttemptEvent.parse({ id: 'end', sequence: 1, schemaVersion: 1, ...last }).data as AttemptFinished;
};

describe('the end of an attempt', () => {
  it('completes with the result', () => {
    expect(endOf(ended('COMPLETED'))).toEqual({ status: 'completed', result: { value: execCli('out') } });
    expect(endOf(ended('COMPLETED', null))).toEqual({ status: 'completed', result: { value: null } });
  });

  it.each([
    ['FAILED', 'failed', 'COMMAND_FAILED'],
    ['TIMED_OUT', 'timed_out', 'TIMEOUT'],
    ['CANCELLED', 'cancelled', 'CANCELLED'],
    ['OUTCOME_UNKNOWN', 'unknown', 'OUTCOME_UNKNOWN'],
  ] as const)('%s fails as %s and keeps the output', (state, failure, code) => {
    const end = endOf(ended(state));
    expect(end).toMatchObject({
      status: 'failed',
      error: { code, outcome: failure, output: { value: execCli('out') } },
    });
  });

  it("takes the device's words, but not its classification and not an output of any size inside them", () => {
    const error = { code: 'DISK_FULL', message: 'no space', outcome: 'unknown' as const, output: { value: 'huge' } };
    const end = endOf(ended('FAILED', null, { error }));
    expect(end).toEqual({ status: 'failed', error: { code: 'DISK_FULL', message: 'no space', outcome: 'failed' } });
  });

  it('cuts a message without end and repairs what no canonical JSON could carry', () => {
    const error = { code: 'X1', message: `\ud800${'m'.repeat(10_000)}`, outcome: 'failed' as const };
    const end = endOf(ended('FAILED', null, { error }));
    expect(end.status === 'failed' && end.error.message).toHaveLength(4_000);
    expect(end.status === 'failed' && end.error.message.isWellFormed()).toBe(true);
  });

  it('fails a command that a foreign client calls a success though its exit code is not 0', () => {
    const end = endOf(ended('COMPLETED', execCli('out', 7)));
    expect(end).toMatchObject({ status: 'failed', error: { code: 'EXIT_CODE', outcome: 'failed' } });
    expect(end).toMatchObject({ error: { output: { value: { exit_code: 7 } } } });
    expect(endOf(ended('COMPLETED', { exit_code: 7 }), 'plug-in')).toMatchObject({ status: 'completed' });
  });

  it('names the refusal, which executed nothing: no command is reported finished', () => {
    const refused = (code: string): Ending => ({ kind: 'refused', code, message: 'no' });
    expect(eventsOf(order(), refused('UNKNOWN_TOOL'))).toHaveLength(1);
    expect(endOf(refused('UNKNOWN_TOOL'))).toMatchObject({ error: { code: 'UNKNOWN_TOOL', outcome: 'failed' } });
    expect(endOf(refused('EXPIRED'))).toMatchObject({ error: { code: 'EXPIRED', outcome: 'timed_out' } });
    expect(eventsOf(order(), refused('OUTCOME_UNKNOWN'))).toMatchObject([
      { type: 'COMMAND_FINISHED', data: { state: 'OUTCOME_UNKNOWN' } },
      { data: { error: { code: 'OUTCOME_UNKNOWN', outcome: 'unknown' } } },
    ]);
    expect(endOf(refused('not a code'))).toMatchObject({ error: { code: 'REFUSED', outcome: 'failed' } });
  });

  it('reports a command lost with its device only when it may have been sent', () => {
    expect(eventsOf(order(), { kind: 'lost', sent: false })).toHaveLength(1);
    const events = eventsOf(order(), { kind: 'lost', sent: true });
    expect(events[0]).toMatchObject({ type: 'COMMAND_FINISHED', data: { state: 'OUTCOME_UNKNOWN' } });
    expect(events[1]).toMatchObject({ data: { error: { code: 'DEVICE_LOST', outcome: 'device_lost' } } });
  });

  it('was cancelled for sure when it was stopped before it was sent', () => {
    expect(endOf({ kind: 'stopped' })).toMatchObject({ error: { outcome: 'cancelled' } });
    expect(eventsOf(order(), { kind: 'stopped' })).toHaveLength(1);
  });

  it('records the command as it was ordered, with its id', () => {
    const [finished] = eventsOf(order(), ended('COMPLETED'));
    expect(finished).toMatchObject({ data: { commandId: `${RUN_ID}.a.1.0.0`, command: { tool: 'EXEC_CLI' } } });
  });
});

describe('what comes after the end', () => {
  it('is a finished command without a second end', () => {
    expect(lateEventsOf(order(), ended('COMPLETED')).map(({ type }) => type)).toEqual(['COMMAND_FINISHED']);
  });

  it('is nothing when it says nothing new', () => {
    expect(lateEventsOf(order(), ended('OUTCOME_UNKNOWN', null))).toEqual([]);
    expect(lateEventsOf(order(), { kind: 'lost', sent: true })).toEqual([]);
  });
});
