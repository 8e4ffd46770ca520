import { describe, expect, it } from '@jest/globals';
import { commandIdOf, isForScreen, type CommandCall, type CommandOutcome, type CommandState } from '#proto';
import { ScreenDoor, type ScreenStanding } from './screen-door.js';

const FREE = { taken: false, handedBackAt: null };
const TAKEN = { taken: true, handedBackAt: null };
const AGAIN = { taken: false, handedBackAt: '2026-11-28T10:00:00.000Z' };
const LATER = { taken: false, handedBackAt: '2026-11-28T11:00:00.000Z' };

const on = { agent: 'AppAgent', application: 'mousepad', window: 'notes', snapshot: 'c1.1' };
const CLICK: CommandCall = { tool: 'click_input', arguments: { id: '1', name: 'Save' }, on };
const LIST: CommandCall = { tool: 'get_app_window_controls_target_info', arguments: {}, on: { ...on, snapshot: '' } };
const MARKED: CommandCall = { tool: 'capture_window_screenshot', arguments: { annotated: true }, on };

const DONE: CommandState = 'COMPLETED';
const ended = (state: CommandState, code?: string): CommandOutcome => ({
  state,
  result: null,
  error: code === undefined ? null : { code, message: '', outcome: 'failed' },
  startedAt: null,
  durationMs: null,
});
type Came = readonly [
  CommandCall,
  ScreenStanding,
  more?: { readonly taskId?: string; readonly ends?: CommandState | null },
];

/** What a door says to commands that come one after the other, each when the one before has ended so; null: it has not. */
function passages(...came: readonly Came[]): string[] {
  const door = new ScreenDoor();
  return came.map(([command, standing, { taskId = 'a', ends = DONE } = {}], index) => {
    const attempt = { runId: 'r', taskId, attempt: 1 };
    const commandId = commandIdOf(attempt, 1, index);
    const passage = door.judge({ commandId, command, attempt }, standing);
    if (passage === 'pass' && ends !== null) door.ended(commandId, ended(ends));
    return passage;
  });
}

describe('the door of a screen', () => {
  it('keeps out what looks and what acts while a person has it', () =>
    expect(passages([CLICK, TAKEN], [LIST, TAKEN], [MARKED, TAKEN])).toEqual(['wait', 'wait', 'wait']));

  it('stops nobody where no person ever was', () =>
    expect(passages([CLICK, FREE], [LIST, FREE])).toEqual(['pass', 'pass']));

  it('has an attempt list anew before it acts, after each time', () =>
    expect(
      passages(
        [LIST, FREE],
        [CLICK, AGAIN],
        [MARKED, AGAIN],
        [LIST, AGAIN],
        [CLICK, AGAIN],
        [CLICK, LATER],
        [LIST, LATER],
        [CLICK, LATER],
      ),
    ).toEqual(['pass', 'look-again', 'look-again', 'pass', 'pass', 'look-again', 'pass', 'pass']));

  it('does not take the look of one attempt for that of another', () =>
    expect(passages([LIST, AGAIN], [CLICK, AGAIN, { taskId: 'b' }])).toEqual(['pass', 'look-again']));

  it.each<[CommandState | null]>([['FAILED'], ['TIMED_OUT'], ['OUTCOME_UNKNOWN'], [null]])(
    'takes no listing for a look that has ended %s, and a good one afterwards for one',
    (ends) =>
      expect(passages([LIST, AGAIN, { ends }], [CLICK, AGAIN], [LIST, AGAIN], [CLICK, AGAIN])).toEqual([
        'pass',
        'look-again',
        'pass',
        'pass',
      ]),
  );

  it.each(['constructor', 'toString', '__proto__'])('takes no tool called %s for a listing', (tool) =>
    expect(passages([{ ...CLICK, tool }, AGAIN], [CLICK, AGAIN])).toEqual(['look-again', 'look-again']),
  );

  it('takes no listing for a look since, that was let through before a person came again', () => {
    const door = new ScreenDoor();
    const [attempt, of] = [{ runId: 'r', taskId: 'a', attempt: 1 }, (index: number) => `r.a.1.1.${index}`];
    expect(door.judge({ commandId: of(0), command: LIST, attempt }, AGAIN)).toBe('pass');
    expect(door.judge({ commandId: of(1), command: CLICK, attempt }, TAKEN)).toBe('wait');
    door.ended(of(0), ended('COMPLETED'));
    expect(door.judge({ commandId: of(1), command: CLICK, attempt }, LATER)).toBe('look-again');
  });

  it('has a device that may know a command say what became of it, and begins nothing that a person has come before', () => {
    const door = new ScreenDoor();
    const attempt = { runId: 'r', taskId: 'a', attempt: 1 };
    const commandId = commandIdOf(attempt, 1);
    const request = { kind: 'run', commandId, attempt, deviceId: 'd', sessionId: 's', journalId: 'j' } as const;
    const whole = { ...request, command: CLICK, priority: 0, notAfter: LATER.handedBackAt };
    const asked = (): string => door.onlyIfBegun(whole, Date.parse(AGAIN.handedBackAt)).notAfter;
    expect(asked()).toBe(AGAIN.handedBackAt);
    expect(door.ended(commandId, ended('COMPLETED'))).toEqual(ended('COMPLETED'));
    asked();
    expect(door.ended(commandId, ended('FAILED', 'EXPIRED'))).toMatchObject({ error: { code: 'WINDOW_CHANGED' } });
    // What was too late by itself is told so.
    expect(door.ended(commandId, ended('FAILED', 'EXPIRED'))).toMatchObject({ error: { code: 'EXPIRED' } });
  });

  it('lets a command pass that names nothing of a listing', () => {
    const keys: CommandCall = { tool: 'keyboard_input', arguments: { keys: '{F5}' } };
    expect(passages([keys, AGAIN])).toEqual(['pass']);
  });

  it('is for commands of a screen', () => {
    expect([CLICK, LIST].map(isForScreen)).toEqual([true, true]);
    expect(isForScreen({ tool: 'EXEC_CLI' })).toBe(false);
    const tap: CommandCall = { tool: 'click_control', arguments: {} };
    expect([isForScreen(tap), isForScreen({ ...tap, on })]).toEqual([false, true]);
  });
});
