import { emitKeypressEvents } from 'node:readline';
import type { ReplayMoment } from '../../sources/index.js';
import { EXIT, type CliContext, type ExitCode } from '../../terminal/index.js';
import { beginWinding, played, pressed, standsMs, type Winding } from './winding.js';
import { tapeOf, windingText } from './winding-text.js';

/** The other screen without a cursor, and long lines cut instead of broken; what was there before comes back at the end. */
const BEGIN = '\u001B[?1049h\u001B[?25l\u001B[?7l';
const END = '\u001B[?7h\u001B[?25h\u001B[?1049l';
const HOME = '\u001B[H';
const REST_OF_LINE = '\u001B[K';
const REST_OF_SCREEN = '\u001B[J';

/** Node's words for a key. */
interface Key {
  readonly name?: string;
  readonly sequence?: string;
  readonly ctrl?: boolean;
}

interface Wound {
  readonly code: ExitCode;
  /** The event where it was left. */
  readonly sequence: number;
}

/** Whether somebody sits there who can wind: with a screen and with keys. */
export const canWind = ({ terminal, json }: Pick<CliContext, 'terminal' | 'json'>): boolean =>
  terminal.isTerminal && process.stdin.isTTY && !json;

/** Shows a run on the whole screen, wound by keys until somebody leaves it. The terminal is as before then, whatever ends it. */
export async function wind(
  { terminal, signal }: CliContext,
  moments: readonly ReplayMoment[],
  begin: { readonly at?: number | undefined; readonly speed?: number | undefined },
): Promise<Wound> {
  const { stdin, stdout } = process;
  const tape = tapeOf(moments);
  const { promise: left, resolve: leave } = Promise.withResolvers<void>();
  let winding = beginWinding(tape, begin);
  let timer: NodeJS.Timeout | undefined;
  const draw = (): void => {
    const { columns, rows } = stdout;
    const lines = windingText(winding, moments, { ...terminal, columns, rows });
    stdout.write(`${HOME}${lines.map((line) => `${line}${REST_OF_LINE}`).join('\r\n')}${REST_OF_SCREEN}`);
  };
  const turn = (next: Winding): void => {
    winding = next;
    clearTimeout(timer);
    if (winding.isOver) return leave();
    draw();
    if (winding.isPlaying) timer = setTimeout(() => turn(played(winding, tape)), standsMs(winding, tape));
  };
  const onKey = (_: string | undefined, key: Key): void => turn(pressed(winding, tape, nameOf(key)));
  const onAbort = (): void => leave();
  emitKeypressEvents(stdin);
  stdin.setRawMode(true);
  stdin.on('keypress', onKey).on('end', onAbort);
  stdout.on('resize', draw);
  signal.addEventListener('abort', onAbort, { once: true });
  stdout.write(BEGIN);
  try {
    turn(winding);
    await left;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
    stdout.off('resize', draw);
    stdin.off('keypress', onKey).off('end', onAbort);
    stdin.setRawMode(false);
    stdin.pause();
    stdout.write(END);
  }
  return { code: signal.aborted ? EXIT.failure : EXIT.ok, sequence: tape[winding.at]?.sequence ?? 0 };
}

/** `left`, `ctrl-c`, and a character as it was typed. */
function nameOf({ name, sequence = '', ctrl = false }: Key): string {
  if (ctrl) return `ctrl-${name ?? ''}`;
  if (name === 'enter') return 'return';
  return /^[!-~]$/u.test(sequence) ? sequence : (name ?? '');
}
