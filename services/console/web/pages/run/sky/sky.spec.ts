import { describe, expect, it } from '@jest/globals';
import { conversationOf, foldRun, Grown, sameJson } from '#libs/constellation';
import { generateEditedHistory, runCommitsOf, watchedRun } from '#libs/testing';
import { RunRecord, Skies } from '../../../model/index.js';
import { lineShapes, starShapes } from './shapes.js';
import { SkyCells } from './sky-cells.js';
import { StarWalk } from './star-walk.js';
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

const backwards = <T>(all: readonly T[]): T[] => all.reduce<T[]>((back, one) => [one, ...back], []);

const COMMITS = runCommitsOf(generateEditedHistory({ seed: 3, tasks: 60 }));
const runAfter = (count: number) => {
  const run = foldRun(COMMITS.slice(0, count));
  if (run === undefined) throw new Error('the history is empty');
  return run;
};
const skyAfter = (count: number, skies = new Skies()) => skies.of(runAfter(count), new Map());

describe('what is drawn of a run', () => {
  it('keeps the stars and lines that did not change, and only those', () => {
    const skies = new Skies();
    let before = skyAfter(1, skies);
    for (let count = 2; count <= COMMITS.length; count++) {
      const [fresh, kept] = [skyAfter(count), skyAfter(count, skies)];
      expect(kept).toEqual(fresh);
      for (const field of ['stars', 'lines'] as const) {
        for (const [at, one] of kept[field].entries()) {
          const known = before[field][at];
          expect(known === one).toBe(known !== undefined && sameJson(known, one));
        }
      }
      before = kept;
    }
  });

  it('is the same when somebody goes back in time, and marks what was edited last', () => {
    const skies = new Skies();
    for (const count of [COMMITS.length, 3, COMMITS.length, 1]) expect(skyAfter(count, skies)).toEqual(skyAfter(count));
    const [some] = skyAfter(COMMITS.length).stars;
    const edited = new Map([[some?.id ?? '', 'changed' as const]]);
    expect(skies.of(runAfter(COMMITS.length), edited).stars[0]).toEqual({ ...some, edited: 'changed' });
    expect(skyAfter(COMMITS.length, skies).stars[0]).toEqual(some);
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
    expect(new Set(boxes.map(({ className }) => className)).size).toBe(boxes.length);
  });

  it('leaves out what has no place yet', () => {
    const { stars, lines } = skyAfter(COMMITS.length);
    expect(starShapes(stars, new Map(), SIZE)).toEqual([]);
    expect(lineShapes(lines, { places: new Map(), direction: 'TB', size: SIZE })).toEqual([]);
    expect(new SkyCells(() => undefined).of(stars)).toEqual([]);
  });
});

describe('a part of the plane', () => {
  const STARS = Array.from({ length: 200 }, (_, at) => ({ id: `t${at}`, status: 'PENDING' }));
  const cells = () => new SkyCells<(typeof STARS)[number]>(({ id }) => PLACES.get(id) ?? { x: 0, y: 5_000 });

  it('is the same object while nothing in it changes, and has all of its stars when something does', () => {
    const all = cells();
    const before = all.of(STARS);
    expect(before.length).toBeGreaterThan(9);
    expect(before.flatMap(({ items }) => items).length).toBe(STARS.length);
    expect(all.of([...STARS])).toEqual(before);
    const changed = STARS.map((star) => (star.id === 't17' ? { ...star, status: 'RUNNING' } : star));
    const after = all.of(changed);
    const others = after.filter((cell) => !before.includes(cell));
    expect(others.map(({ items }) => items.map(({ id }) => id))).toEqual([
      before.find(({ items }) => items.some(({ id }) => id === 't17'))?.items.map(({ id }) => id),
    ]);
    expect(after).toEqual(cells().of(changed));
  });

  it('is made anew where stars are added, removed or put into another order', () => {
    const all = cells();
    for (const stars of [STARS, STARS.slice(0, 150), STARS, backwards(STARS), [...STARS, { id: 'new', status: '' }]])
      expect(all.of(stars)).toEqual(cells().of(stars));
  });
});

describe('an event in a run of 1,000 tasks', () => {
  const WATCHED = watchedRun('counted', 1_000);

  it('has only made and drawn what it changed, and looked only at what is new', () => {
    const skies = new Skies();
    const talk = new Grown(conversationOf);
    let record = RunRecord.EMPTY.with(WATCHED.slice(0, 500));
    const show = () => {
      if (record.last === undefined) throw new Error('the history is empty');
      talk.of(record.commits);
      return skies.of(record.last, new Map());
    };
    const { stars, lines, topology } = show();
    const at = new Map(stars.map(({ id }, index): [string, SkyPoint] => [id, pointOf(index)]));
    const cells = {
      stars: new SkyCells<(typeof stars)[number]>(({ id }) => at.get(id)),
      lines: new SkyCells<(typeof lines)[number]>(({ from }) => at.get(from)),
    };
    let shown: readonly object[] = [...cells.stars.of(stars), ...cells.lines.of(lines)];
    const [partsOfAll, made, looked] = [shown.length, skies.made, talk.looked];
    const changed: number[] = [];
    for (const commit of WATCHED.slice(500, 600)) {
      record = record.with([commit]);
      const sky = show();
      const now: readonly object[] = [...cells.stars.of(sky.stars), ...cells.lines.of(sky.lines)];
      changed.push(now.filter((cell) => !shown.includes(cell)).length);
      shown = now;
      expect(sky.topology).toBe(topology);
    }
    expect(partsOfAll).toBeGreaterThan(100);
    // The one that ended, those that it let begin and its lines; each is made as a view, and a star as it is drawn.
    expect(Math.max(...changed)).toBeLessThanOrEqual(8);
    expect(skies.made - made).toBeLessThanOrEqual(100 * 12);
    expect(talk.looked - looked).toBe(100);
  });
});

/** As pipelines stand: 25 steps beside each other. */
const pointOf = (index: number): SkyPoint => ({ x: (index % 25) * 252, y: Math.floor(index / 25) * 96 });

describe('a walk from star to star', () => {
  const STARS = Array.from({ length: 100 }, (_, at): [string, SkyPoint] => [`t${at}`, pointOf(at)]);
  const turned = STARS.map(([id, { x, y }]): [string, SkyPoint] => [id, { x: y, y: x }]);
  const walked = (walk: StarWalk, key: string, from: string | undefined): string[] => {
    const seen: string[] = [];
    for (let id = from; id !== undefined && !seen.includes(id); id = walk.to(id, key)) seen.push(id);
    return seen;
  };

  it.each([
    ['LR', STARS, 'ArrowDown', 'ArrowUp', 'ArrowRight', 'ArrowLeft'],
    ['TB', turned, 'ArrowRight', 'ArrowLeft', 'ArrowDown', 'ArrowUp'],
  ] as const)(
    'comes to every one by one key, and back by another, %s',
    (direction, stars, next, before, forth, back) => {
      const walk = new StarWalk(new Map(backwards(stars)), direction);
      const all = walked(walk, next, walk.first);
      expect(all).toHaveLength(STARS.length);
      expect(walked(walk, before, all.at(-1))).toEqual(backwards(all));
      expect(all.slice(0, 5)).toEqual(['t0', 't25', 't50', 't75', 't1']);
      expect(walked(walk, forth, 't25')).toEqual(Array.from({ length: 25 }, (_, step) => `t${25 + step}`));
      expect(walk.to('t49', back)).toBe('t48');
      expect([walk.to('t30', 'Home'), walk.to('t30', 'End'), walk.to('t30', 'x'), walk.to('nobody', next)]).toEqual([
        't0',
        't99',
        undefined,
        undefined,
      ]);
    },
  );

  it('goes to the nearest where ranks differ, and nowhere where there is nothing', () => {
    const places = new Map<string, SkyPoint>([
      ['low', { x: 0, y: 500 }],
      ['a', { x: 300, y: 0 }],
      ['b', { x: 300, y: 400 }],
    ]);
    const walk = new StarWalk(places, 'LR');
    expect(walk.to('low', 'ArrowRight')).toBe('b');
    expect([walk.to('b', 'ArrowRight'), walk.to('low', 'ArrowUp'), new StarWalk(new Map(), 'LR').first]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});
