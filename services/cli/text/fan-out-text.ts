import { fanOutText } from '#libs/constellation';
import type { RunView, TaskView } from '#proto';
import { cleanLine, clipToWidth, type Paint, paintStatus } from '../terminal/index.js';

/** Tasks as they were planned: those of single devices stand at the task that has them. */
export function plannedIn(tasks: readonly TaskView[]): TaskView[] {
  return tasks.filter(({ part }) => part === undefined);
}

/** The same, each followed by its devices. */
export function groupedIn(tasks: readonly TaskView[]): TaskView[] {
  const devices = Map.groupBy(tasks, ({ part }) => part?.of);
  return plannedIn(tasks).flatMap((task) => [task, ...(devices.get(task.id) ?? [])]);
}

/** Where a task on several devices stands; undefined of every other one. */
export function fanOutOf({ fanOut }: Pick<TaskView, 'fanOut'>): string | undefined {
  return fanOut === undefined ? undefined : fanOutText(fanOut);
}

const GLYPHS: Readonly<Record<string, string>> = { FAILED: '✘', RUNNING: '●', PENDING: '○', CANCELLED: '⊘' };
const ORDER = Object.keys(GLYPHS);
const INDENT = '    ';
const GAP = '   ';

interface Room {
  readonly columns: number;
  /** Lines for the devices of one task. */
  readonly rows: number;
  readonly paint: Paint;
}

/**
 * A line for each task on several devices. While it works it is open: below it stand its devices that failed, run or wait, as far as
 * there is room.
 */
export function fanOutLines({ tasks }: Pick<RunView, 'tasks'>, room: Room): string[] {
  return tasks.flatMap((task) => {
    const text = fanOutOf(task);
    if (text === undefined) return [];
    const head = clipToWidth(`${cleanLine(task.id)}  ${text}`, room.columns - 1);
    if (task.status !== 'RUNNING') return [head];
    const devices = tasks.filter(({ part, status }) => part?.of === task.id && status in GLYPHS);
    return [head, ...deviceLines(devices, room)];
  });
}

type Clocked = TaskView & { readonly clock?: string };

function deviceLines(devices: readonly Clocked[], { columns, rows, paint }: Room): string[] {
  const ordered = devices.toSorted((one, other) => ORDER.indexOf(one.status) - ORDER.indexOf(other.status));
  const lines: string[] = [];
  let [line, width, shown] = ['', 0, 0];
  for (const device of ordered) {
    const label = labelOf(device);
    if (width > 0 && INDENT.length + width + GAP.length + label.length >= columns) {
      lines.push(line);
      [line, width] = ['', 0];
      if (lines.length >= rows) break;
    }
    line += `${width === 0 ? INDENT : GAP}${paintStatus(paint, device.status, label)}`;
    width += label.length + (width === 0 ? 0 : GAP.length);
    shown += 1;
  }
  if (width > 0) lines.push(line);
  return shown === ordered.length ? lines : [...lines, `${INDENT}and ${ordered.length - shown} more`];
}

function labelOf({ id, device, status, error, clock }: Clocked): string {
  const why = error === null || status !== 'FAILED' ? '' : ` ${error.code}`;
  return cleanLine(`${GLYPHS[status] ?? '?'} ${device ?? id}${why}${status === 'RUNNING' && clock ? ` ${clock}` : ''}`);
}
