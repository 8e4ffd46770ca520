/** What nobody does in which window, whatever was allowed elsewhere. The list of applications is the device's own. */

/** Programs in whose windows typed text becomes commands: there is another way for commands, on which they are judged. */
const TERMINALS: ReadonlySet<string> = new Set(
  `alacritty blackbox cool-retro-term deepin-terminal eterm foot footclient ghostty gnome-terminal gnome-terminal-server guake
   hyper kgx kitty konsole lilyterm lxterm lxterminal mate-terminal mlterm ptyxis qterminal rio roxterm rxvt rxvt-unicode sakura
   st st-256color tabby terminal terminator terminology termit tilda tilix tmux urxvt urxvtd uxterm wezterm wezterm-gui x-terminal-emulator
   xfce4-terminal xterm xterm.bin yakuake zutty`.split(/\s+/u),
);

/** A window as far as it matters for what may be done in it. */
export interface WindowFacts {
  /** The last part of the path of its program; empty when nobody knows. */
  readonly application: string;
  /** What it says that it is (WM_CLASS). */
  readonly classes: readonly string[];
  /** One of its controls is a terminal. */
  readonly hasTerminal: boolean;
}

export const isTerminalWindow = ({ application, classes, hasTerminal }: WindowFacts): boolean =>
  hasTerminal || [application, ...classes].some((name) => TERMINALS.has(name.toLowerCase()));

/** Ways to act, by what they can put into a window. */
export type Act = 'click' | 'middle-click' | 'scroll' | 'text' | 'keys' | 'secret';

export interface ActFacts {
  readonly act: Act;
  readonly window: WindowFacts;
  /** The program is one of the device's list. */
  readonly isListed: boolean;
  /** What would get the text or the keys is a password field. */
  readonly isPassword: boolean;
}

export type FloorCode = 'APPLICATION' | 'TERMINAL' | 'PASSWORD';

/** Acts that can put text into a window; the middle button inserts what was selected last. */
const PUTS_TEXT: ReadonlySet<Act> = new Set(['middle-click', 'text', 'keys', 'secret']);

/** Why this is not done; undefined when nothing here is against it. */
export function floorOf({ act, window, isListed, isPassword }: ActFacts): FloorCode | undefined {
  if (PUTS_TEXT.has(act) && isTerminalWindow(window)) return 'TERMINAL';
  if (!isListed) return 'APPLICATION';
  // A secret goes into a password field and nowhere else; into one goes nothing else.
  if (act === 'secret') return isPassword ? undefined : 'PASSWORD';
  return isPassword && PUTS_TEXT.has(act) ? 'PASSWORD' : undefined;
}
