import { describe, expect, it } from '@jest/globals';
import type { ToolCalled } from '#libs/attempt';
import type { Json } from '#proto';
import { seenPictureOf, shownPlace, type SeenRect } from './seen-picture.js';

const REF = { sha256: 'a'.repeat(64), bytes: 10 };
const taken = (value: Json, mediaType = 'image/png'): ToolCalled['ended'] => ({
  kind: 'finished',
  state: 'COMPLETED',
  result: { value, files: [{ name: 'window.png', mediaType, artifact: REF }] },
  message: null,
});
const WINDOW: SeenRect = [100, 50, 900, 650];
const BUTTON: SeenRect = [140, 90, 220, 110];
const size = { width: 800, height: 600 };

describe('a control in the picture of its window', () => {
  it.each<[string, Json, SeenRect | undefined, SeenRect | undefined]>([
    [
      'lies where the tool says that it took it',
      { pictures: [{ of: 'window', rect: [100, 50, 900, 650], ...size }] },
      undefined,
      [40, 40, 120, 60],
    ],
    [
      'lies where the window is, when the tool says nothing',
      { pictures: [{ of: 'window', ...size }] },
      WINDOW,
      [40, 40, 120, 60],
    ],
    [
      'lies twice as far in a picture of twice the points',
      { pictures: [{ width: 1_600, height: 1_200 }] },
      WINDOW,
      [80, 80, 240, 120],
    ],
    [
      'lies nowhere when nobody knows where the window is',
      { pictures: [{ of: 'window', ...size }] },
      undefined,
      undefined,
    ],
    ['lies nowhere in a picture of nothing', { pictures: [{ of: 'window', width: 0, height: 0 }] }, WINDOW, undefined],
    ['lies nowhere in an answer without pictures', 'done', WINDOW, undefined],
  ])('%s', (_, answer, frame, box) => {
    const shown = shownPlace(seenPictureOf(taken(answer), frame), BUTTON);
    expect(shown).toEqual(box === undefined ? undefined : { picture: REF, box });
  });

  it('is not shown by one that is beside it, or by a file that is none', () => {
    const answer = { pictures: [{ of: 'window', ...size }] };
    expect(shownPlace(seenPictureOf(taken(answer), WINDOW), [900, 50, 950, 80])).toBeUndefined();
    expect(seenPictureOf(taken(answer, 'text/html'), WINDOW)).toBeUndefined();
  });
});
