// Draws a constellation with box characters, to be read from left to right. Lines that only cross are drawn one over the
// other; a tee is always a junction: on the row of a label its line branches, on a track below a label lines join.
//
//   ✔ a ─┬─┬▶ ● b       row of a label: the line of its task goes right, into its channels
//        │┌┘            row below: the track that leads into that label
//   ✔ c ─│┘             the line of c crosses a channel of a
//        └─▶ ○ d
import { type Link, type Slot, layersOf, layoutOf } from './dag-layout.js';
import { Canvas } from './canvas.js';
import { clipToWidth, type Paint, paintStatus, plain } from '../terminal/index.js';

export interface DrawnTask {
  readonly id: string;
  readonly status: string;
  readonly device: string | null;
  /** It could be skipped or started, and an edit that is open or owed keeps it. */
  readonly held?: boolean;
  /** How long it has run, `1:05`; left out of a drawing that has no room for it. */
  readonly clock?: string;
}
export interface DrawnLine {
  readonly from: string;
  readonly to: string;
}
export interface DrawingOptions {
  readonly columns: number;
  readonly rows: number;
  readonly paint?: Paint;
}

/** More tasks than this fit on no screen. */
const DRAWN_MAX = 300;
const LABEL_CHARS_MAX = 32;
const LISTED_MAX = 12;
const GLYPHS: Readonly<Record<string, string>> = {
  PENDING: '○',
  RUNNING: '●',
  COMPLETED: '✔',
  FAILED: '✘',
  SKIPPED: '↷',
  CANCELLED: '⊘',
};
const HELD_GLYPH = '◌';
const glyphOf = (status: string): string => GLYPHS[status] ?? '?';

/** The layers from left to right; when that does not fit, one line per layer with its counts. */
export function drawDag(tasks: readonly DrawnTask[], lines: readonly DrawnLine[], options: DrawingOptions): string[] {
  const ids = tasks.map(({ id }) => id);
  const listed = (): string[] => listOf(layersOf(ids, lines), byIdOf(tasks), options.paint ?? plain);
  if (tasks.length > DRAWN_MAX) return listed();
  const layout = layoutOf(ids, lines);
  return drawn(layout, tasks, options) ?? drawn(layout, tasks.map(withoutClock), options) ?? listed();
}

const byIdOf = (tasks: readonly DrawnTask[]): Map<string, DrawnTask> => new Map(tasks.map((task) => [task.id, task]));

function withoutClock({ id, status, device, held }: DrawnTask): DrawnTask {
  return { id, status, device, ...(held === undefined ? {} : { held }) };
}

/** Undefined where there is no room for it. */
function drawn(
  layout: ReturnType<typeof layoutOf>,
  tasks: readonly DrawnTask[],
  { paint = plain, columns, rows }: DrawingOptions,
): string[] | undefined {
  const byId = byIdOf(tasks);
  const canvas = new Canvas();
  let x = 0;
  for (const [index, layer] of layout.layers.entries()) {
    const labels = layer.map((slot) => (slot.passing ? undefined : labelOf(byId.get(slot.source))));
    const width = Math.max(0, ...labels.map((label) => (label === undefined ? 0 : label.length)));
    if (x + width > columns || layer.length > rows) return undefined;
    const links = layout.gutters[index] ?? [];
    drawLayer(canvas, layer, labels, { x, width, byId, paint, links, next: layout.layers[index + 1] ?? [] });
    x += width + gutterWidth(links);
  }
  const drawing = canvas.toLines();
  return drawing.length > rows ? undefined : drawing;
}

interface LayerPlace {
  readonly x: number;
  readonly width: number;
  readonly byId: ReadonlyMap<string, DrawnTask>;
  readonly paint: Paint;
  readonly links: readonly Link[];
  readonly next: readonly Slot[];
}

function drawLayer(
  canvas: Canvas,
  layer: readonly Slot[],
  labels: readonly (string | undefined)[],
  place: LayerPlace,
): void {
  const { x, width, byId, paint, links, next } = place;
  for (const [row, slot] of layer.entries()) {
    const label = labels[row];
    const goesOn = links.some(({ from }) => from === row);
    const used = label === undefined ? 0 : label.length + 1;
    if (label !== undefined)
      canvas.text(x, 2 * row, label, paintStatus(paint, byId.get(slot.source)?.status ?? '', label));
    if (goesOn) canvas.horizontal(2 * row, x + used, x + width + 1);
  }
  drawGutter(canvas, x + width, links, next);
}

const MARGIN = 2;
const ARROW = 3;

/** Space and a piece of line, the channels, then merge column, arrow and space. */
function gutterWidth(links: readonly Link[]): number {
  return links.length === 0 ? 0 : MARGIN + new Set(channelsOf(links).values()).size + ARROW;
}

function drawGutter(canvas: Canvas, x: number, links: readonly Link[], next: readonly Slot[]): void {
  if (links.length === 0) return;
  const channels = channelsOf(links);
  const merge = x + MARGIN + new Set(channels.values()).size;
  for (const link of links) {
    const [sourceY, targetY] = [2 * link.from, 2 * link.to];
    const channel = channels.get(link);
    if (channel === undefined) {
      canvas.horizontal(sourceY, x + 1, merge);
    } else {
      // A label whose own row is free is reached on it; otherwise on the row below, and up in the merge column.
      const track = links.some(({ from }) => from === link.to) ? targetY + 1 : targetY;
      const channelX = x + MARGIN + channel;
      canvas.horizontal(sourceY, x + 1, channelX);
      canvas.vertical(channelX, sourceY, track);
      canvas.horizontal(track, channelX, merge);
      canvas.vertical(merge, track, targetY);
    }
    if (next[link.to]?.passing === true) canvas.horizontal(targetY, merge, merge + ARROW);
    else canvas.arrow(merge, targetY);
  }
}

/**
 * A column for each line that changes rows. Lines of one source share it where no other source leads to their targets,
 * and lines into one target where their sources lead nowhere else; in any other case sharing would show lines that are
 * not there. Who goes down is ordered from below, who goes up from above: fewest crossings.
 */
function channelsOf(links: readonly Link[]): Map<Link, number> {
  const turning = links.filter(({ from, to }) => from !== to);
  const keyOf = ({ from, to }: Link): string => {
    if (links.every((other) => other.to !== to || other.from === from)) return `${from}>`;
    if (links.every((other) => other.from !== from || other.to === to)) return `>${to}`;
    return `${from}>${to}`;
  };
  const up = turning.filter(({ from, to }) => to < from).sort((a, b) => a.from - b.from || b.to - a.to);
  const down = turning.filter(({ from, to }) => to > from).sort((a, b) => b.from - a.from || a.to - b.to);
  const columns = new Map<string, number>();
  const channels = new Map<Link, number>();
  for (const link of [...up, ...down]) {
    const key = keyOf(link);
    const column = columns.get(key) ?? columns.size;
    columns.set(key, column);
    channels.set(link, column);
  }
  return channels;
}

function labelOf(task: DrawnTask | undefined): string {
  if (task === undefined) return '?';
  const glyph = task.held === true ? HELD_GLYPH : glyphOf(task.status);
  const name = clipToWidth(`${glyph} ${task.id}${task.device === null ? '' : ` @${task.device}`}`, LABEL_CHARS_MAX);
  return task.clock === undefined ? name : `${name} ${task.clock}`;
}

function listOf(layers: readonly (readonly string[])[], byId: ReadonlyMap<string, DrawnTask>, paint: Paint): string[] {
  return layers.map((layer, index) => {
    const tasks = layer.flatMap((id) => byId.get(id) ?? []);
    const counts = Object.keys(GLYPHS).flatMap((status) => {
      const count = tasks.filter((task) => task.status === status).length;
      return count === 0 ? [] : [paintStatus(paint, status, `${glyphOf(status)} ${count}`)];
    });
    const active = tasks.filter(({ status }) => status === 'RUNNING' || status === 'FAILED');
    const named = active.slice(0, LISTED_MAX).map((task) => paintStatus(paint, task.status, labelOf(task)));
    const more = active.length > LISTED_MAX ? [`and ${active.length - LISTED_MAX} more`] : [];
    return [`layer ${index + 1}:`, counts.join('  '), ...(named.length > 0 ? ['|', ...named, ...more] : [])].join(' ');
  });
}
