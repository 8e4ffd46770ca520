import type { LineView, TaskStatus } from '#proto';
import { lineState, type Star } from '../../../model/index.js';
import type { SkyPoint, StarPoints } from './star-window.js';

interface Size {
  readonly width: number;
  readonly height: number;
}

/** Many stars or lines that look the same, as one drawing. */
export interface SkyShape {
  readonly className: string;
  readonly path: string;
}

const ARROW = 7;
const INSET = 9;

/** What is in a box of this status besides its colour, which is never the only sign. */
const MARKS: Readonly<Record<TaskStatus, (size: Size) => string>> = {
  PENDING: () => '',
  RUNNING: ({ width, height }) =>
    `m${INSET} ${INSET}h${width - 2 * INSET}v${height - 2 * INSET}h${2 * INSET - width}zm${-INSET} ${-INSET}`,
  COMPLETED: () => '',
  FAILED: ({ width, height }) => `l${width} ${height}m${-width} 0l${width} ${-height}m${-width} 0`,
  CANCELLED: ({ width, height }) => `m0 ${height / 2}h${width}m${-width} ${-height / 2}`,
  SKIPPED: ({ width, height }) => `m0 ${height}l${width} ${-height}m${-width} 0`,
};

/** Stars as boxes: one shape for each status. */
export function starShapes(stars: readonly Star[], places: StarPoints, size: Size): SkyShape[] {
  const paths = new Paths();
  for (const { id, status, asks, edited } of stars) {
    const at = places.get(id);
    if (at === undefined) continue;
    const classes = ['far-star', `status-${status.toLowerCase()}`];
    if (asks) classes.push('asks');
    if (edited !== null) classes.push('edited');
    const box = `M${Math.round(at.x)} ${Math.round(at.y)}h${size.width}v${size.height}h${-size.width}z`;
    paths.add(classes.join(' '), `${box}${MARKS[status](size)}`);
  }
  return paths.shapes();
}

/** Lines with their heads: one shape for each state. */
export function lineShapes(
  lines: readonly LineView[],
  { places, direction, size }: { readonly places: StarPoints; readonly direction: 'LR' | 'TB'; readonly size: Size },
): SkyShape[] {
  const paths = new Paths();
  for (const line of lines) {
    const [from, to] = [places.get(line.from), places.get(line.to)];
    if (from === undefined || to === undefined) continue;
    paths.add(`far-line line-${lineState(line)}`, curve(from, to, { direction, size }));
  }
  return paths.shapes();
}

function curve(from: SkyPoint, to: SkyPoint, { direction, size }: { direction: 'LR' | 'TB'; size: Size }): string {
  const { width, height } = size;
  if (direction === 'LR') {
    const [x1, y1, x2, y2] = [from.x + width, from.y + height / 2, to.x, to.y + height / 2].map(Math.round) as Four;
    const bend = Math.max(24, Math.abs(x2 - x1) / 2);
    return `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}m${-ARROW} ${-ARROW}l${ARROW} ${ARROW}l${-ARROW} ${ARROW}`;
  }
  const [x1, y1, x2, y2] = [from.x + width / 2, from.y + height, to.x + width / 2, to.y].map(Math.round) as Four;
  const bend = Math.max(24, Math.abs(y2 - y1) / 2);
  return `M${x1} ${y1}C${x1} ${y1 + bend} ${x2} ${y2 - bend} ${x2} ${y2}m${-ARROW} ${-ARROW}l${ARROW} ${ARROW}l${ARROW} ${-ARROW}`;
}
type Four = [number, number, number, number];

/** Paths by what they look like. */
class Paths {
  readonly #parts = new Map<string, string[]>();

  add(className: string, path: string): void {
    const known = this.#parts.get(className);
    if (known === undefined) this.#parts.set(className, [path]);
    else known.push(path);
  }

  shapes(): SkyShape[] {
    return [...this.#parts].map(([className, parts]) => ({ className, path: parts.join('') }));
  }
}
