// A run that is wound backwards and forwards: where somebody stands in it, and what a key makes of that. Pure.

/** One moment of a run: a commit, as it is shown. */
export interface TapeMoment {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Of its last event. */
  readonly sequence: number;
  /** Something failed, or was refused or cancelled. */
  readonly isTrouble: boolean;
}

/** All moments of a run, the first one first; at least one. */
export type Tape = readonly TapeMoment[];

export interface Winding {
  /** The moment that is shown, from 0. */
  readonly at: number;
  readonly isPlaying: boolean;
  /** Times as fast as it happened. */
  readonly speed: number;
  /** Digits of the event that somebody is about to jump to. */
  readonly typed: string;
  /** Somebody has seen enough. */
  readonly isOver: boolean;
}

/** However slow the run was, nobody watches a standing picture for longer than this. */
export const PAUSE_MS_MAX = 10_000;

const FAST = 10;
const SPEED_MIN = 1 / 64;
const SPEED_MAX = 4_096;
const DIGITS_MAX = 9;

/** Where a winding begins: at the event `at`, else at the first; with a speed it plays. */
export function beginWinding(
  tape: Tape,
  { at, speed }: { readonly at?: number | undefined; readonly speed?: number | undefined },
): Winding {
  const begun = { at: 0, isPlaying: speed !== undefined, speed: speed ?? 1, typed: '', isOver: false };
  return at === undefined ? begun : { ...begun, at: momentOf(tape, at) };
}

/** What a key does, by its name or as it was typed; a key that means nothing changes nothing. */
export function pressed(winding: Winding, tape: Tape, key: string): Winding {
  const { at, isPlaying, speed, typed } = winding;
  const to = (moment: number): Winding => ({
    ...winding,
    at: Math.min(Math.max(0, moment), tape.length - 1),
    isPlaying: false,
    typed: '',
  });
  if (/^\d$/u.test(key)) return { ...winding, isPlaying: false, typed: `${typed}${key}`.slice(0, DIGITS_MAX) };
  switch (key) {
    case 'right':
      return to(at + 1);
    case 'left':
      return to(at - 1);
    case 'down':
    case 'pagedown':
      return to(at + FAST);
    case 'up':
    case 'pageup':
      return to(at - FAST);
    case 'home':
      return to(0);
    case 'end':
      return to(tape.length - 1);
    case 'f':
      return to(troubleFrom(tape, at, 1));
    case 'F':
      return to(troubleFrom(tape, at, -1));
    case 'return':
      return typed === '' ? winding : to(momentOf(tape, Number(typed)));
    case 'backspace':
      return { ...winding, typed: typed.slice(0, -1) };
    case 'space':
      // At its end it begins again.
      return { ...winding, at: !isPlaying && at === tape.length - 1 ? 0 : at, isPlaying: !isPlaying, typed: '' };
    case '+':
      return { ...winding, speed: Math.min(speed * 2, SPEED_MAX) };
    case '-':
      return { ...winding, speed: Math.max(speed / 2, SPEED_MIN) };
    case 'escape':
      return typed === '' ? { ...winding, isOver: true } : { ...winding, typed: '' };
    case 'q':
    case 'ctrl-c':
    case 'ctrl-d':
      return { ...winding, isOver: true };
    default:
      return winding;
  }
}

/** One moment further; it stands still at the end. */
export function played(winding: Winding, tape: Tape): Winding {
  const at = Math.min(winding.at + 1, tape.length - 1);
  return { ...winding, at, isPlaying: at < tape.length - 1 };
}

/** How long the moment that is shown stands before the next one, in milliseconds, while it plays. */
export function standsMs({ at, speed }: Winding, tape: Tape): number {
  const [here, next] = [tape[at], tape[at + 1]];
  if (here === undefined || next === undefined) return 0;
  return Math.min(Math.max(0, next.at - here.at) / speed, PAUSE_MS_MAX);
}

/** The moment that an event belongs to; of one that there is not, the last. */
function momentOf(tape: Tape, sequence: number): number {
  const found = tape.findIndex((moment) => moment.sequence >= sequence);
  return found === -1 ? tape.length - 1 : found;
}

/** The nearest trouble in a direction; where there is none it stays. */
function troubleFrom(tape: Tape, at: number, step: 1 | -1): number {
  for (let place = at + step; tape[place] !== undefined; place += step) if (tape[place]?.isTrouble) return place;
  return at;
}
