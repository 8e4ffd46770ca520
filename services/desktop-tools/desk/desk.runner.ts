import { randomBytes } from 'node:crypto';
import {
  listedEntry,
  floorOf,
  isTerminalWindow,
  listingOf,
  type Act,
  type ListedThing,
  type Listing,
  type SaidThing,
} from '#libs/screen';
import type { AttemptKey, DesktopSettings, SeenOn } from '#proto';
import type { DesktopWindow } from '../display/index.js';
import { DesktopFault } from '../faults/index.js';
import type { DesktopConnection, Reach } from './connection.runner.js';
import type { ListedControl } from './controls.js';
import type { SeenFocus } from './focus.runner.js';

export interface ListedWindow extends ListedThing {
  readonly window: DesktopWindow;
}

/** What was seen of a window when its controls were listed. */
export interface SeenWindow {
  readonly window: DesktopWindow;
  readonly hasTerminal: boolean;
  /** It is a dialog for files, and this the directory of the run, with no link in it. */
  readonly runDirectory?: string | undefined;
}

export type ControlListing = Listing<ListedControl> & SeenWindow;

/**
 * What is known of a desktop between two calls: the windows and controls that were listed last, and the window that was chosen. A
 * connection that is another one knows nothing of the one before.
 */
export class DeskState {
  readonly settings: DesktopSettings;
  readonly #connection: DesktopConnection;
  /** No listing of another process has a name of this one. */
  readonly #prefix = randomBytes(4).toString('hex');
  #listings = 0;
  #reach: Reach | undefined;
  /** Whose call was the last one. */
  #caller = '';
  windows: Listing<ListedWindow> | undefined;
  chosen: DesktopWindow | undefined;
  controls: ControlListing | undefined;
  /** The name of the listing of a page that counts. */
  page: string | undefined;
  /** What had the keyboard when a window was read last. */
  focus: SeenFocus | undefined;

  constructor(settings: DesktopSettings, connection: DesktopConnection) {
    this.settings = settings;
    this.#connection = connection;
  }

  async reach(): Promise<Reach> {
    const reach = await this.#connection.reach();
    if (reach !== this.#reach) {
      this.#reach = reach;
      this.#forget();
    }
    return reach;
  }

  /** Before each call: what another attempt has listed and chosen is nothing to this one. Which of them has the screen says the device client. */
  calledBy(attempt: AttemptKey | undefined): void {
    const caller = attempt === undefined ? '' : JSON.stringify([attempt.runId, attempt.taskId, attempt.attempt]);
    if (caller !== this.#caller) this.#forget();
    this.#caller = caller;
  }

  #forget(): void {
    this.windows = undefined;
    this.chosen = undefined;
    this.controls = undefined;
    this.page = undefined;
    this.focus = undefined;
  }

  isListed({ application }: Pick<DesktopWindow, 'application'>): boolean {
    return Object.hasOwn(this.settings.applications, application);
  }

  /** A listing under a name of its own. */
  newListing<T extends Omit<ListedThing, 'id'>>(things: readonly T[]): Listing<T & Pick<ListedThing, 'id'>> {
    return listingOf(`${this.#prefix}.${++this.#listings}`, things);
  }

  /** The window of a listing that is meant; throws when it is not that one. */
  windowOf(said: SaidThing): DesktopWindow {
    const { windows } = this;
    if (windows === undefined) {
      throw new DesktopFault('NO_WINDOW', 'no windows were listed; call get_desktop_app_target_info first');
    }
    return found(windows, said).window;
  }

  /** The control that is meant, in the listing that it is of; throws when it is not that one. */
  controlOf(said: SaidThing): ListedControl {
    return found(this.listed(), said);
  }

  /** The newest listing of controls. */
  listed(): ControlListing {
    if (this.controls !== undefined) return this.controls;
    throw new DesktopFault('NO_WINDOW', 'no controls were listed; call get_app_window_controls_target_info first');
  }

  /** The window that is worked in: the chosen one, or one of the same process that has come before it. */
  async workedIn(): Promise<DesktopWindow> {
    const { windows } = await this.reach();
    const { chosen } = this;
    if (chosen === undefined)
      throw new DesktopFault('NO_WINDOW', 'no window is chosen; call select_application_window first');
    const list = await windows.list();
    const front = list.find(({ isActive }) => isActive);
    const window = front?.process === chosen.process ? front : list.find(({ handle }) => handle === chosen.handle);
    if (window === undefined) throw new DesktopFault('WINDOW_CHANGED', `the window ${quoted(chosen.title)} is gone`);
    return window;
  }

  /** Throws unless what an agent saw is what is there. */
  compare(
    on: SeenOn | undefined,
    { window, name, runDirectory }: Pick<ControlListing, 'window' | 'name' | 'runDirectory'>,
  ): void {
    if (on === undefined) return;
    if (on.snapshot !== name) {
      throw new DesktopFault('WINDOW_CHANGED', `the listing ${quoted(on.snapshot)} is not the newest; list again`);
    }
    if (on.application !== window.application || on.window !== window.title) {
      const what = `${quoted(window.title)} of ${quoted(window.application)}`;
      throw new DesktopFault(
        'MISMATCH',
        `the window is ${what}, not ${quoted(on.window)} of ${quoted(on.application)}`,
      );
    }
    if (on.runDirectory !== undefined && on.runDirectory !== runDirectory) {
      const is = runDirectory === undefined ? 'no dialog for files of a run with a directory' : quoted(runDirectory);
      throw new DesktopFault('MISMATCH', `what was listed is ${is}, not ${quoted(on.runDirectory)}`);
    }
  }

  /** Throws for what nobody does in this window. */
  admit(act: Act, { window, hasTerminal }: SeenWindow, isPassword: boolean): void {
    const facts = { application: window.application, classes: window.classes, hasTerminal };
    const code = floorOf({ act, window: facts, isListed: this.isListed(window), isPassword });
    if (code !== undefined) throw new DesktopFault(code, WHY[code](window, act));
  }

  /** Throws unless this secret may be put into password fields of this window. */
  admitSecret(name: string, { application }: DesktopWindow): void {
    if (this.settings.applications[application]?.secrets?.includes(name) === true) return;
    throw new DesktopFault('PASSWORD', `this device lets ${quoted(application)} have no secret ${quoted(name)}`);
  }

  isTerminal(window: DesktopWindow, hasTerminal: boolean): boolean {
    return isTerminalWindow({ application: window.application, classes: window.classes, hasTerminal });
  }

  close(): void {
    this.#connection.close();
  }
}

const WHY = {
  TERMINAL: ({ title }: DesktopWindow) =>
    `no text, no keys and no middle button go into the terminal ${quoted(title)}; commands are run with EXEC_CLI, where they are judged`,
  APPLICATION: ({ application }: DesktopWindow) =>
    `${application === '' ? 'a program that cannot be named' : quoted(application)} is not among the applications of this device; it may be looked at`,
  PASSWORD: (_: DesktopWindow, act: Act) =>
    act === 'secret'
      ? 'a secret goes into a password field only'
      : 'nothing is typed into a password field but a secret of this device, by its name',
} as const;

function found<T extends ListedThing>(listing: Listing<T>, said: SaidThing): T {
  const entry = listedEntry(listing, said);
  if ('entry' in entry) return entry.entry;
  throw new DesktopFault(entry.code, entry.why);
}

const quoted = (text: string): string => JSON.stringify(text);
