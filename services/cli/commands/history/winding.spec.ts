import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { commitsOf, momentsOf } from '../../sources/run-history.js';
import { sampleRecords, SAMPLE_RUN } from '../../testing/sample-run.js';
import { beginWinding, PAUSE_MS_MAX, played, pressed, standsMs, type Tape, type Winding } from './winding.js';
import { tapeOf, windingText } from './winding-text.js';

/** 30 moments of two events each, a second from one to the next; something fails in the 8th and in the 20th. */
const TAPE: Tape = Array.from({ length: 30 }, (_, index) => ({
  at: index * 1_000,
  sequence: 2 * (index + 1),
  isTrouble: index === 7 || index === 19,
}));
const after = (...keys: readonly string[]): Winding =>
  keys.reduce((winding, key) => pressed(winding, TAPE, key), beginWinding(TAPE, {}));

describe('a run that is wound', () => {
  it.each<[string, string[], number]>([
    ['one forward and back', ['right', 'right', 'left'], 1],
    ['ten forward and back', ['down', 'pagedown', 'up'], 10],
    ['to the end and no further', ['end', 'right', 'down'], 29],
    ['to the beginning and no further', ['right', 'home', 'left', 'up'], 0],
    ['to each failure, and stays at the last', ['f', 'f', 'f'], 19],
    ['back to a failure', ['end', 'F', 'F'], 7],
    ['to an event by its number', ['1', '7', 'return'], 8],
    ['to the last where there is no such event', ['9', '9', '9', 'return'], 29],
    ['to what was typed after a slip', ['4', '9', 'backspace', 'return'], 1],
    ['nowhere when a jump is taken back', ['right', '9', 'escape', 'return'], 1],
    ['nowhere by keys that mean nothing', ['right', 'x', 'tab', ''], 1],
  ])('goes %s', (_, keys, at) => expect(after(...keys)).toMatchObject({ at, isOver: false }));

  it.each(['q', 'escape', 'ctrl-c', 'ctrl-d'])('is left with %s', (key) => expect(after(key).isOver).toBe(true));

  it('plays as fast as is said, and stands no longer than somebody watches', () => {
    const fast = after('space', '+', '+');
    expect([fast.isPlaying, standsMs(fast, TAPE)]).toEqual([true, 250]);
    expect(standsMs(after('-', '-', '-', '-', '-', '-'), TAPE)).toBe(PAUSE_MS_MAX);
    expect(played(fast, TAPE).at).toBe(1);
    expect(pressed(fast, TAPE, 'right')).toMatchObject({ at: 1, isPlaying: false });
  });

  it('stands still at its end, and plays from its beginning from there', () => {
    const last = played({ ...after('end', 'left'), isPlaying: true }, TAPE);
    expect(last).toMatchObject({ at: 29, isPlaying: false });
    expect(pressed(last, TAPE, 'space')).toMatchObject({ at: 0, isPlaying: true });
  });

  it('begins at an event, and plays when a speed is given', () => {
    expect(beginWinding(TAPE, { at: 5 })).toMatchObject({ at: 2, isPlaying: false });
    expect(beginWinding(TAPE, { speed: 8 })).toMatchObject({ at: 0, isPlaying: true, speed: 8 });
  });

  it('never leaves the tape, whatever is pressed', () => {
    const key = fc.constantFrom(
      'right',
      'left',
      'down',
      'up',
      'home',
      'end',
      'f',
      'F',
      'space',
      '+',
      '-',
      '0',
      '9',
      'return',
    );
    fc.assert(
      fc.property(fc.array(key, { maxLength: 60 }), (keys) => {
        const { at, speed } = after(...keys);
        expect(TAPE[at]).toBeDefined();
        expect(speed > 0 && Number.isFinite(speed)).toBe(true);
      }),
      { seed: 20_261_123, numRuns: 200 },
    );
  });
});

describe('what is shown of it', () => {
  const moments = [...momentsOf(SAMPLE_RUN, commitsOf(SAMPLE_RUN, sampleRecords()))];
  const shown = (keys: readonly string[], columns = 80, rows = 24): string[] => {
    const tape = tapeOf(moments);
    const winding = keys.reduce((now, key) => pressed(now, tape, key), beginWinding(tape, {}));
    return windingText(winding, moments, { isTerminal: true, color: false, columns, rows });
  };

  it('is where it stands, the constellation then, and what has happened by then', () => {
    expect(shown([])[0]).toMatch(/^⏸ ×1 {2}─{14} {2}events? 1.* of \d+ {2}2026-11-20 12:00:00Z {2}\+0\.0 s$/u);
    expect(shown(['end']).join('\n')).toContain('RUN_COMPLETED succeeded');
    expect(shown([]).join('\n')).not.toContain('RUN_COMPLETED succeeded');
  });

  it('fits any screen', () => {
    for (const [columns, rows] of [
      [80, 24],
      [200, 50],
      [40, 10],
    ] as const) {
      for (const keys of [[], ['end'], ['1']]) {
        const lines = shown(keys, columns, rows);
        expect(lines.length).toBeLessThanOrEqual(rows);
        for (const line of lines) expect(Array.from(line).length).toBeLessThanOrEqual(columns);
      }
    }
  });
});
