import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  commonRect,
  displacementOf,
  listedEntry,
  floorOf,
  rectHeight,
  isEmptyRect,
  isInRect,
  leavesWindow,
  listingOf,
  middleOf,
  movedBy,
  parseKeys,
  pointAt,
  rectOf,
  screenName,
  strokesOfText,
  rectWidth,
  type Act,
  type Rect,
  type WindowFacts,
} from './index.js';

/** Any character, halves of characters included. (The unit `binary` of fast-check takes two seconds to be made.) */
const anyCharacter = fc.nat(0x10_ff_ff).map((code) => String.fromCodePoint(code));

const side = fc.integer({ min: -5_000, max: 5_000 });
const rects: fc.Arbitrary<Rect> = fc
  .tuple(side, side, fc.integer({ min: 1, max: 4_000 }), fc.integer({ min: 1, max: 4_000 }))
  .map(([x, y, width, height]) => rectOf(x, y, width, height));

describe('a place on the screen', () => {
  it('that is clicked lies in what is seen of the control, and in the window', () => {
    fc.assert(
      fc.property(rects, rects, (control, window) => {
        const point = middleOf(control, window);
        if (isEmptyRect(commonRect(control, window))) return expect(point).toBeUndefined();
        expect(point !== undefined && isInRect(control, point) && isInRect(window, point)).toBe(true);
      }),
    );
  });

  it('that is given in fractions lies in the window, and no other fraction gives one', () => {
    fc.assert(
      fc.property(rects, fc.double(), fc.double(), (window, x, y) => {
        const point = pointAt(window, [x, y]);
        const isFraction = x >= 0 && x <= 1 && y >= 0 && y <= 1;
        expect(point === undefined ? false : isInRect(window, point)).toBe(isFraction);
      }),
    );
  });

  it('of a displaced pane is put right, and one of another size is left where it is', () => {
    fc.assert(
      fc.property(rects, side, side, (frame, dx, dy) => {
        const pane = movedBy(frame, [dx, dy]);
        expect(movedBy(pane, displacementOf(frame, pane))).toEqual(frame);
        const smaller = rectOf(pane[0], pane[1], rectWidth(pane), rectHeight(pane) + 1);
        expect(displacementOf(frame, smaller)).toEqual([0, 0]);
      }),
    );
  });
});

describe('the notation of keys', () => {
  it('types every sign of a text as it is, but for braces', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, maxLength: 20 }), (text) => {
        const written = text.replaceAll(/[{}]/gu, (brace) => `{${brace}}`).replaceAll('\r\n', '\n');
        expect(JSON.stringify(parseKeys(written))).toBe(JSON.stringify({ strokes: strokesOfText(text) }));
      }),
    );
  });

  it('never throws, and never holds a key that it does not let go', () => {
    const words = fc.array(
      fc.oneof(
        fc.constantFrom(
          '{',
          '}',
          '{VK_CONTROL}',
          '{VK_SHIFT down}',
          '{VK_SHIFT up}',
          '{TAB 2}',
          '{F4}',
          '{X}',
          'c',
          '%',
          '{ENTER 0}',
        ),
        fc.string({ maxLength: 3 }),
      ),
    );
    fc.assert(
      fc.property(words, (parts) => {
        const parsed = parseKeys(parts.join(''));
        if ('why' in parsed) expect(parsed.why).not.toBe('');
        else expect(parsed.strokes.every(({ held }) => new Set(held).size === held.length)).toBe(true);
      }),
    );
  });

  it.each([
    ['{VK_CONTROL}c', [{ held: ['Control'], key: { sign: 'c' } }]],
    ['{VK_CONTROL}{VK_SHIFT}s', [{ held: ['Control', 'Shift'], key: { sign: 's' } }]],
    [
      '{TAB 2}',
      [
        { held: [], key: { named: 'Tab' } },
        { held: [], key: { named: 'Tab' } },
      ],
    ],
    ['{VK_DOWN}', [{ held: [], key: { named: 'Down' } }]],
    ['{VK_SHIFT}', [{ held: [], key: { named: 'Shift_L' } }]],
    [
      '{VK_CONTROL}ab',
      [
        { held: ['Control'], key: { sign: 'a' } },
        { held: [], key: { sign: 'b' } },
      ],
    ],
    [
      '{VK_SHIFT down}{LEFT}{VK_SHIFT up}x',
      [
        { held: ['Shift'], key: { named: 'Left' } },
        { held: [], key: { sign: 'x' } },
      ],
    ],
    ['^+%()', Array.from('^+%()', (sign) => ({ held: [], key: { sign } }))],
  ])('%s', (text, strokes) => {
    expect(parseKeys(text)).toEqual({ strokes });
  });

  it.each(['{NO}', '{TAB 0}', '{TAB 101}', 'a{b', '{VK_CONTROL 2}', 'x'.repeat(20_001)])('%.12s is refused', (text) => {
    expect(parseKeys(text)).toHaveProperty('why');
  });

  it.each([
    ['{VK_LWIN}r', true],
    ['{VK_LWIN}', true],
    ['{VK_CONTROL}{VK_MENU}t', true],
    ['{VK_MENU}{F2}', true],
    ['{VK_MENU} ', true],
    ['{VK_MENU}{F4}', false],
    ['{VK_MENU}f', false],
    ['{VK_CONTROL}s', false],
  ])('%s leaves the window: %s', (text, leaves) => {
    const parsed = parseKeys(text);
    expect('strokes' in parsed && parsed.strokes.some(leavesWindow)).toBe(leaves);
  });
});

describe('an id', () => {
  const rect = rectOf(0, 0, 10, 10);
  const names = fc.array(
    fc.record({ name: fc.string(), type: fc.constantFrom('Edit', 'Button'), rect: fc.constant(rect) }),
  );

  it('means what it was given to, in its listing only, and only if it is called by its name', () => {
    fc.assert(
      fc.property(names, fc.string(), fc.string(), (things, name, of) => {
        const listing = listingOf('now', things);
        for (const entry of listing.entries) {
          expect(listedEntry(listing, { ...entry, listing: 'now' })).toEqual({ entry });
          const found = listedEntry(listing, { id: entry.id, name });
          expect('entry' in found).toBe(name === entry.name);
          expect(listedEntry(listing, { id: entry.id, listing: `not ${of}` })).toMatchObject({
            code: 'WINDOW_CHANGED',
          });
        }
        expect(listedEntry(listing, { id: `${things.length + 1}` })).toMatchObject({ code: 'NOT_FOUND' });
        expect(listedEntry(listing, { id: '0' })).toMatchObject({ code: 'NOT_FOUND' });
      }),
    );
  });
});

describe('what stands on a screen', () => {
  it('is one line without anything hidden, however long it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, maxLength: 3_000 }), (text) => {
        const name = screenName(text);
        expect(Array.from(name).length).toBeLessThanOrEqual(160);
        expect(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/u.test(name)).toBe(false);
        expect(name).toBe(name.trim());
      }),
    );
  });
});

const ACTS: readonly Act[] = ['click', 'middle-click', 'scroll', 'text', 'keys', 'secret'];
const windows: fc.Arbitrary<WindowFacts> = fc.record({
  application: fc.constantFrom('mousepad', 'xterm', 'Kitty', '', 'chromium'),
  classes: fc.array(fc.constantFrom('XTerm', 'Mousepad', 'konsole'), { maxLength: 2 }),
  hasTerminal: fc.boolean(),
});

describe('the floors', () => {
  it('let no text, no key and no middle button into a terminal, be it listed or not', () => {
    fc.assert(
      fc.property(
        windows,
        fc.boolean(),
        fc.boolean(),
        fc.constantFrom(...ACTS),
        (window, isListed, isPassword, act) => {
          const code = floorOf({ act, window, isListed, isPassword });
          const isTerminal =
            window.hasTerminal ||
            ['xterm', 'Kitty'].includes(window.application) ||
            window.classes.some((name) => name !== 'Mousepad');
          const putsText = act !== 'click' && act !== 'scroll';
          if (putsText && isTerminal) expect(code).toBe('TERMINAL');
          else if (!isListed) expect(code).toBe('APPLICATION');
          else if (act === 'secret') expect(code).toBe(isPassword ? undefined : 'PASSWORD');
          else expect(code).toBe(putsText && isPassword ? 'PASSWORD' : undefined);
        },
      ),
    );
  });
});
