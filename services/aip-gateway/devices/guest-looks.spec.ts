import { describe, expect, it } from '@jest/globals';
import { commandIdOf, type CommandCall, type CommandOutcome, type Json, type RunCommandRequest } from '#proto';
import { GuestLooks, type GuestPassage } from './guest-looks.js';

const SAVE = { id: '7', type: 'Button', name: 'Save', rect: [0, 0, 9, 9] };
const BODY = { id: '8', type: 'Edit', name: '10:31', rect: [0, 10, 9, 90] };
const on = { agent: 'AppAgent', application: 'WINWORD.EXE', window: 'letter' };
const { rect: _, ...saveSeen } = SAVE;
const LIST: CommandCall = {
  tool: 'get_app_window_controls_target_info',
  arguments: { field_list: [] },
  on: { ...on, snapshot: '' },
};
const WINDOWS: CommandCall = { ...LIST, tool: 'get_desktop_app_target_info' };
const clickOf = (snapshot: string, control = saveSeen): CommandCall => ({
  tool: 'click_input',
  arguments: {},
  on: { ...on, snapshot, control },
});
const drag = (snapshot: string): CommandCall => ({
  tool: 'drag_on_coordinates',
  arguments: {},
  on: { ...on, snapshot },
});

/** A client that answers, and what comes to it; each command stands at its own place of step 1. */
function guest() {
  const looks = new GuestLooks();
  let index = -1;
  const requestOf = (command: CommandCall, approved: boolean, taskId: string): RunCommandRequest => {
    const attempt = { runId: 'r', taskId, attempt: 1 };
    index += 1;
    return {
      kind: 'run',
      commandId: commandIdOf(attempt, 1, index),
      attempt,
      deviceId: 'win-1',
      sessionId: 's',
      journalId: null,
      command,
      ...(approved && { judged: { class: 'write', decision: 'approve', rule: 'r', approvalId: 'a' } }),
      priority: 0,
      notAfter: '2099-01-01T00:00:00.000Z',
    };
  };
  const outcome = (result: Json, state: CommandOutcome['state'] = 'COMPLETED'): CommandOutcome => ({
    state,
    result,
    error: null,
    startedAt: null,
    durationMs: null,
  });
  return {
    /** It does this, and answers so; the name of the listing that this is. */
    does: (command: CommandCall, result: Json = 'done', state: CommandOutcome['state'] = 'COMPLETED', taskId = 'a') => {
      const { commandId } = requestOf(command, false, taskId);
      looks.ended({ commandId, command }, outcome(result, state), 0);
      return `1.${index}`;
    },
    asked: (command: CommandCall) => word(looks.judge(requestOf(command, false, 'a'), 0)),
    /** A person has approved it; when it has to be looked at first, this is seen. */
    approved: (command: CommandCall, seen: Json, { state = 'COMPLETED', laterMs = 0 }: Partial<Then> = {}) => {
      const request = requestOf(command, true, 'a');
      const first = looks.judge(request, 0);
      if (first.kind !== 'look') return [word(first)];
      expect(looks.ended(first, outcome(seen, state), 0)).toBe(true);
      return [first.command.tool, word(looks.judge(request, laterMs))];
    },
  };
}

interface Then {
  readonly state: CommandOutcome['state'];
  readonly laterMs: number;
}

const word = (passage: GuestPassage): string =>
  passage.kind === 'answer' ? (passage.outcome.error?.code ?? '') : passage.kind;

describe('what a foreign client is sent', () => {
  it('is about what it has listed last, under that name and type', () => {
    const { does, asked } = guest();
    const snapshot = does(LIST, [SAVE]);
    expect(asked(clickOf(snapshot))).toBe('pass');
    expect(asked(clickOf(snapshot, { ...saveSeen, name: 'Delete' }))).toBe('MISMATCH');
    expect(asked(clickOf(snapshot, { ...saveSeen, type: 'Edit' }))).toBe('MISMATCH');
    expect(asked(clickOf(snapshot, { ...saveSeen, id: '9' }))).toBe('NOT_FOUND');
  });

  it.each<[string, (made: ReturnType<typeof guest>) => unknown]>([
    ['a newer listing', ({ does }) => does(LIST, [SAVE])],
    ['a listing of another attempt', ({ does }) => does(LIST, [SAVE], 'COMPLETED', 'b')],
    ['a listing that failed', ({ does }) => does(LIST, null, 'FAILED')],
    [
      'another window that was chosen',
      ({ does }) => does({ tool: 'select_application_window', arguments: {} }, { root_name: 'x' }),
    ],
  ])('is nothing of a listing after %s', (_name, comes) => {
    const made = guest();
    const snapshot = made.does(LIST, [SAVE]);
    comes(made);
    expect(made.asked(clickOf(snapshot))).toBe('WINDOW_CHANGED');
  });

  it('is nothing that was never listed, and all that names no listing', () => {
    const { asked } = guest();
    expect(asked(clickOf('1.0'))).toBe('WINDOW_CHANGED');
    expect(asked({ tool: 'execute_command', arguments: {} })).toBe('pass');
    expect(asked(LIST)).toBe('pass');
  });

  it('keeps windows and their controls apart', () => {
    const { does, asked } = guest();
    const windows = does(WINDOWS, [{ id: '1', name: 'letter', type: 'Window' }]);
    does(LIST, [SAVE]);
    const select = {
      ...clickOf(windows, { id: '1', name: 'letter', type: 'Window' }),
      tool: 'select_application_window',
    };
    expect(asked(select)).toBe('pass');
  });
});

describe('an act that a person has approved', () => {
  it.each<[string, Json, string, Partial<Then>]>([
    ['as it was', [SAVE, { ...BODY, name: '10:32' }], 'pass', {}],
    ['with another name', [{ ...SAVE, name: 'Delete' }, BODY], 'WINDOW_CHANGED', {}],
    ['of another type', [{ ...SAVE, type: 'Edit' }, BODY], 'WINDOW_CHANGED', {}],
    ['somewhere else', [{ ...SAVE, rect: [50, 50, 59, 59] }, BODY], 'WINDOW_CHANGED', {}],
    ['under another id', [{ ...SAVE, id: '1' }, BODY], 'WINDOW_CHANGED', {}],
    ['gone', null, 'WINDOW_CHANGED', {}],
    ['not to be seen', null, 'WINDOW_CHANGED', { state: 'FAILED' }],
  ])('is sent only when its control is %s', (_name, seen, ends, more) => {
    const { does, approved } = guest();
    const snapshot = does(LIST, [SAVE, BODY]);
    expect(approved(clickOf(snapshot), seen, more)).toEqual([LIST.tool, ends]);
  });

  it('at a bare place is sent only when all that is listed is as it was, clocks aside', () => {
    const { does, approved } = guest();
    const snapshot = does(LIST, [SAVE, BODY]);
    expect(approved(drag(snapshot), [SAVE, { ...BODY, name: '10:32' }])).toEqual([LIST.tool, 'pass']);
    expect(approved(drag(snapshot), [SAVE])).toEqual([LIST.tool, 'WINDOW_CHANGED']);
    // What the client has in hand is another screen than any agent has seen.
    expect(approved(clickOf(snapshot), [SAVE])).toEqual(['WINDOW_CHANGED']);
  });

  it('is looked for again when it comes long after that look', () => {
    const { does, approved } = guest();
    const snapshot = does(LIST, [SAVE]);
    expect(approved(clickOf(snapshot), [SAVE], { laterMs: 60_000 })).toEqual([LIST.tool, 'look']);
  });
});
