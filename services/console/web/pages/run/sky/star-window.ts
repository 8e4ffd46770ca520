/** A part of the plane on which stars stand. */
export interface Area {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface SkyPoint {
  readonly x: number;
  readonly y: number;
}

export type StarPoints = ReadonlyMap<string, SkyPoint>;

/** Where a browser looks: the place of the plane's origin in it, and how large it is shown. */
export interface Look {
  readonly x: number;
  readonly y: number;
  readonly zoom: number;
}

interface Size {
  readonly width: number;
  readonly height: number;
}

/** What is seen of the plane, and so much of it around. */
export function areaSeen({ x, y, zoom }: Look, { width, height }: Size, around = 0): Area {
  return {
    x: -x / zoom - around,
    y: -y / zoom - around,
    width: width / zoom + 2 * around,
    height: height / zoom + 2 * around,
  };
}

/** The stars that reach into an area. */
export function starsIn(places: StarPoints, star: Size, { x, y, width, height }: Area): Set<string> {
  const found = new Set<string>();
  for (const [id, at] of places) {
    if (at.x + star.width > x && at.x < x + width && at.y + star.height > y && at.y < y + height) found.add(id);
  }
  return found;
}

/** The star that lies there. */
export function starAt(places: StarPoints, star: Size, { x, y }: SkyPoint): string | undefined {
  return [...starsIn(places, star, { x, y, width: 0, height: 0 })][0];
}

/** All of them; undefined where there is none. */
export function areaOf(places: StarPoints, star: Size): Area | undefined {
  const all = [...places.values()];
  if (all.length === 0) return undefined;
  const [left, top] = [Math.min(...all.map(({ x }) => x)), Math.min(...all.map(({ y }) => y))];
  const right = Math.max(...all.map(({ x }) => x + star.width));
  const bottom = Math.max(...all.map(({ y }) => y + star.height));
  return { x: left, y: top, width: right - left, height: bottom - top };
}

interface Wanted {
  /** To be shown. */
  readonly wanted: ReadonlySet<string>;
  /** May stay where they are shown already. */
  readonly kept: ReadonlySet<string>;
  /** So many come, and so many go, at a time. */
  readonly most: number;
}

/** One step from what is shown to what is wanted, small enough for one frame; the same set when there is nothing left to do. */
export function stepTo(shown: ReadonlySet<string>, { wanted, kept, most }: Wanted): ReadonlySet<string> {
  const go = [...shown].filter((id) => !kept.has(id) && !wanted.has(id)).slice(0, most);
  const come = [...wanted].filter((id) => !shown.has(id)).slice(0, most);
  if (go.length === 0 && come.length === 0) return shown;
  const next = new Set(shown);
  for (const id of go) next.delete(id);
  for (const id of come) next.add(id);
  return next;
}
