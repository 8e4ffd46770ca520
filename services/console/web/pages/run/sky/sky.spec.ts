import { describe, expect, it } from '@jest/globals';
import { foldRun } from '#libs/constellation';
import { generateEditedHistory, runCommitsOf } from '#libs/testing';
import { skyOf } from '../../../model/index.js';
import { lineShapes, starShapes } from './shapes.js';
import { areaOf, areaSeen, starAt, starsIn, stepTo, type SkyPoint } from './star-window.js';

const SIZE = { width: 200, height: 80 };
/** A row of stars, 250 apart. */
const PLACES = new Map(Array.from({ length: 40 }, (_, at): [string, SkyPoint] => [`t${at}`, { x: at * 250, y: 0 }]));

describe('the window on a large constellation', () => {
  it('has the stars that reach into what is seen, at any zoom', () => {
    const seen = (zoom: number) => [
      ...starsIn(PLACES, SIZE, areaSeen({ x: 0, y: 0, zoom }, { width: 500, height: 400 })),
    ];
    expect(seen(1)).toEqual(['t0', 't1']);
    expect(seen(0.5)).toEqual(['t0', 't1', 't2', 't3']);
    expect([...starsIn(PLACES, SIZE, areaSeen({ x: -210, y: 0, zoom: 1 }, { width: 100, height: 100 }))]).toEqual([
      't1',
    ]);
  });

  it('finds what lies under the pointer, and nothing between', () => {
    expect(['t3', undefined]).toEqual([
      starAt(PLACES, SIZE, { x: 760, y: 40 }),
      starAt(PLACES, SIZE, { x: 960, y: 40 }),
    ]);
  });

  it('reaches around all of it', () => {
    expect(areaOf(PLACES, SIZE)).toEqual({ x: 0, y: 0, width: 39 * 250 + 200, height: 80 });
    expect(areaOf(new Map(), SIZE)).toBeUndefined();
  });

  it('comes to what is wanted a few stars at a time, and then rests', () => {
    const wanted = new Set(['t0', 't1', 't2', 't3', 't4']);
    let shown: ReadonlySet<string> = new Set(['t30', 't31', 't32', 't5']);
    const sizes: number[] = [];
    for (;;) {
      const next = stepTo(shown, { wanted, kept: new Set([...wanted, 't5']), most: 2 });
      if (next === shown) break;
      sizes.push([...next].filter((id) => !shown.has(id)).length, [...shown].filter((id) => !next.has(id)).length);
      shown = next;
    }
    expect([...shown].sort()).toEqual([...wanted, 't5']);
    expect(Math.max(...sizes)).toBe(2);
  });
});

const COMMITS = runCommitsOf(generateEditedHistory({ seed: 3, tasks: 60 }));
const skyAfter = (count: number, before?: ReturnType<typeof skyOf>) => {
  const run = foldRun(COMMITS.slice(0, count));
  if (run === undefined) throw new Error('the history is empty');
  return skyOf(run, new Map(), before);
};

describe('what is drawn of a run', () => {
  it('keeps the stars and lines that did not change, and only those', () => {
    for (let count = 2; count <= COMMITS.length; count++) {
      const before = skyAfter(count - 1);
      const [fresh, kept] = [skyAfter(count), skyAfter(count, before)];
      expect(kept).toEqual(fresh);
      const old = new Map<string, object>([...before.stars, ...before.lines].map((one) => [one.id, one]));
      for (const one of [...kept.stars, ...kept.lines]) {
        const known = old.get(one.id);
        expect(known === one).toBe(known !== undefined && JSON.stringify(known) === JSON.stringify(one));
      }
    }
  });

  it('is as shapes a box for each star and a curve for each line, each status with its own class', () => {
    const { stars, lines } = skyAfter(COMMITS.length);
    const places = new Map(stars.map(({ id }, at): [string, SkyPoint] => [id, { x: (at % 9) * 900, y: at * 100 }]));
    const boxes = starShapes(stars, places, SIZE);
    const curves = lineShapes(lines, { places, direction: 'LR', size: SIZE });
    const count = (shapes: typeof boxes, letter: string) =>
      shapes.reduce((sum, { path }) => sum + path.split(letter).length - 1, 0);
    expect(count(boxes, 'M')).toBe(stars.length);
    expect(count(curves, 'C')).toBe(lines.length);
    for (const { status } of stars) {
      expect(boxes.some(({ className }) => className.includes(`status-${status.toLowerCase()}`))).toBe(true);
    }
    expect(new Set(boxes.map(({ key }) => key)).size).toBe(boxes.length);
  });

  it('leaves out what has no place yet', () => {
    const { stars, lines } = skyAfter(COMMITS.length);
    expect(starShapes(stars, new Map(), SIZE)).toEqual([]);
    expect(lineShapes(lines, { places: new Map(), direction: 'TB', size: SIZE })).toEqual([]);
  });
});
