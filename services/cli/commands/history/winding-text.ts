import { viewOf } from '#libs/constellation';
import { clipToWidth, durationText, momentText, paintFor, type Terminal } from '../../terminal/index.js';
import type { ReplayMoment } from '../../sources/index.js';
import { drawingOf, timelineOf } from '../../text/index.js';
import type { Tape, TapeMoment, Winding } from './winding.js';

const KEYS = '←→ one  ↑↓ ten  space play  +- speed  f F failures  7⏎ event 7  q quit';
const BAR_CHARS = 14;
/** Lines of what happened that are shown at least, and lines beside them and the drawing. */
const TOLD_MIN = 4;
const FRAME_ROWS = 6;
const TROUBLE: ReadonlySet<string> = new Set([
  'TASK_FAILED',
  'RUN_FAILED',
  'RUN_CANCELLED',
  'TASK_CANCELLED',
  'EDIT_REJECTED',
  'EDIT_ABANDONED',
]);

export function tapeOf(moments: readonly ReplayMoment[]): Tape {
  return moments.map(({ commit, events }): TapeMoment => ({
    at: Date.parse(commit.at),
    sequence: events.at(-1)?.sequence ?? 0,
    isTrouble: events.some(({ type }) => TROUBLE.has(type)),
  }));
}

/** The picture where somebody stands: at most `rows` lines. What happened stands below, the newest last. */
export function windingText(
  winding: Winding,
  moments: readonly ReplayMoment[],
  screen: Pick<Terminal, 'isTerminal' | 'color' | 'columns'> & { readonly rows: number },
): string[] {
  const moment = moments[winding.at];
  if (moment === undefined) return [];
  const { columns, rows } = screen;
  const paint = paintFor(screen);
  const tape = tapeOf(moments);
  const here = Date.parse(moment.commit.at);
  const drawing = drawingOf(viewOf(moment.run), screen, Math.max(1, rows - FRAME_ROWS - TOLD_MIN), here);
  const told = toldUpTo(moments, winding.at, Math.max(1, rows - FRAME_ROWS - drawing.length));
  const now = moment.events.length;
  return [
    clipToWidth(placeText(winding, tape, moments), columns),
    '',
    ...drawing,
    '',
    ...told.map((line, index) => {
      const text = clipToWidth(line, columns);
      return index >= told.length - now ? paint('bold', text) : paint('dim', text);
    }),
    '',
    paint('dim', clipToWidth(winding.typed === '' ? KEYS : `event ${winding.typed}▏ ⏎ jumps there`, columns)),
  ].slice(0, rows);
}

/** `▶ ×4 [━━━━━───] event 12 of 45  2026-11-23 14:01:02Z  +3.2 s`. */
function placeText({ at, isPlaying, speed }: Winding, tape: Tape, moments: readonly ReplayMoment[]): string {
  const [here, first, last] = [tape[at], tape[0], tape.at(-1)];
  if (here === undefined || first === undefined || last === undefined) return '';
  const done = tape.length === 1 ? BAR_CHARS : Math.round((at / (tape.length - 1)) * BAR_CHARS);
  const bar = `${'━'.repeat(done)}${'─'.repeat(BAR_CHARS - done)}`;
  const from = moments[at]?.events[0]?.sequence ?? here.sequence;
  const events = from === here.sequence ? `event ${from}` : `events ${from}-${here.sequence}`;
  const how = `${isPlaying ? '▶' : '⏸'} ×${speed >= 1 ? speed : `1/${1 / speed}`}`;
  const since = durationText(here.at - first.at);
  return `${how}  ${bar}  ${events} of ${last.sequence}  ${momentText(here.at)}  +${since}`;
}

/** The last lines of what happened up to a moment. */
function toldUpTo(moments: readonly ReplayMoment[], at: number, count: number): string[] {
  let told: string[] = [];
  for (let place = at; place >= 0 && told.length < count; place--) {
    const moment = moments[place];
    if (moment !== undefined) told = [...timelineOf(moment.commit, moment.events), ...told];
  }
  return told.slice(-count);
}
