import { describe, expect, it } from '@jest/globals';
import type { CommandCall } from '#proto';
import { isForScreen, ScreenDoor, type ScreenStanding } from './screen-door.js';

const FREE = { taken: false, handedBackAt: null };
const TAKEN = { taken: true, handedBackAt: null };
const AGAIN = { taken: false, handedBackAt: '2026-11-28T10:00:00.000Z' };
const LATER = { taken: false, handedBackAt: '2026-11-28T11:00:00.000Z' };

const on = { agent: 'AppAgent', application: 'mousepad', window: 'notes', snapshot: 'c1.1' };
const CLICK: CommandCall = { tool: 'click_input', arguments: { id: '1', name: 'Save' }, on };
const LIST: CommandCall = { tool: 'get_app_window_controls_target_info', arguments: {}, on: { ...on, snapshot: '' } };
const MARKED: CommandCall = { tool: 'capture_window_screenshot', arguments: { annotated: true }, on };

/** What a door says to commands that come one after the other. */
function passages(...came: readonly (readonly [CommandCall, ScreenStanding, taskId?: string])[]): string[] {
  const door = new ScreenDoor();
  return came.map(([command, standing, taskId = 'a']) =>
    door.judge({ command, attempt: { runId: 'r', taskId, attempt: 1 } }, standing),
  );
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
    expect(passages([LIST, AGAIN, 'a'], [CLICK, AGAIN, 'b'])).toEqual(['pass', 'look-again']));

  it('lets a command pass that names nothing of a listing', () => {
    const keys: CommandCall = { tool: 'keyboard_input', arguments: { keys: '{F5}' } };
    expect(passages([keys, AGAIN])).toEqual(['pass']);
  });

  it('is for commands of a screen', () => {
    expect([CLICK, LIST].map((command) => isForScreen({ command }))).toEqual([true, true]);
    expect(isForScreen({ command: { tool: 'EXEC_CLI', arguments: {} } })).toBe(false);
  });
});
