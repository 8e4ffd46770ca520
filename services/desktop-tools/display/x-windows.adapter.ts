import { readlink } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Geometry, Property } from 'x11';
import { commonRect, isEmptyRect, rectOf, screenName, type Point, type Rect } from '#libs/screen';
import { DesktopFault, pause } from '../faults/index.js';
import type { XScreen } from './x-display.adapter.js';

/** A window as somebody sees it. */
export interface DesktopWindow {
  readonly handle: number;
  /** One line, as it is told. */
  readonly title: string;
  /** As the window says it: to find it elsewhere. */
  readonly rawTitle: string;
  readonly process: number;
  /** The last part of the path of its program; empty when that cannot be known. */
  readonly application: string;
  readonly classes: readonly string[];
  readonly rect: Rect;
  readonly isActive: boolean;
  readonly isMinimized: boolean;
  readonly isMaximized: boolean;
}

const WINDOWS_MAX = 200;
const ACTIVATE_MS = 3_000;
const LOOK_MS = 20;
/** Who asks for a window to be activated: not a program of its own account, but somebody who uses the screen. */
const FROM_PAGER = 2;
/** Windows in windows at one point: frames, clients and what they are made of. */
const DEPTH_MAX = 32;

/** The windows of a screen that its window manager manages, and which process is where. */
export class XWindows {
  readonly #screen: XScreen;

  constructor(screen: XScreen) {
    this.#screen = screen;
  }

  /** Those that can be used, the one in front first. */
  async list(): Promise<DesktopWindow[]> {
    const handles = await this.#numbers(this.#screen.root, '_NET_CLIENT_LIST_STACKING');
    const active = await this.active();
    const found = await Promise.all(
      handles.slice(-WINDOWS_MAX).map((handle) => this.#described(handle, active).catch(goneOnly)),
    );
    return found.filter((window) => window !== undefined).toReversed();
  }

  /** The window that has the keyboard; 0: none. */
  async active(): Promise<number> {
    return (await this.#numbers(this.#screen.root, '_NET_ACTIVE_WINDOW'))[0] ?? 0;
  }

  /** Brings a window to the front, and waits until it is there. */
  async activate(handle: number): Promise<void> {
    const { client, root } = this.#screen;
    const type = await this.#screen.atom('_NET_ACTIVE_WINDOW');
    const end = performance.now() + ACTIVATE_MS;
    client.SendClientMessage(root, handle, type, 32, [FROM_PAGER, 0, 0, 0, 0]);
    while ((await this.active()) !== handle) {
      if (performance.now() > end) throw new DesktopFault('WINDOW_CHANGED', 'the window did not come to the front');
      await pause(LOOK_MS);
    }
  }

  /** The process whose window is uppermost at a point. */
  async processAt([x, y]: Point): Promise<number | undefined> {
    let [from, at] = [this.#screen.root, this.#screen.root];
    for (let depth = 0; depth < DEPTH_MAX; depth++) {
      const into = at;
      const { child } = await this.#screen.ask<{ child: number }>((client, answered) =>
        client.TranslateCoordinates(this.#screen.root, into, x, y, answered),
      );
      if (child === 0) break;
      [from, at] = [at, child];
    }
    return at === from ? undefined : this.#screen.processOf(at);
  }

  /** The process that gets what is typed. */
  async processOfFocus(): Promise<number | undefined> {
    const { focus } = await this.#screen.ask<{ focus: number }>((client, answered) => client.GetInputFocus(answered));
    // 0 and 1 are no windows: nothing, or wherever the pointer is.
    return focus > 1 ? this.#screen.processOf(focus) : undefined;
  }

  async #described(handle: number, active: number): Promise<DesktopWindow | undefined> {
    const [name, oldName, classes, states, kinds, geometry, corner, process] = await Promise.all([
      this.#screen.property(handle, '_NET_WM_NAME'),
      this.#screen.property(handle, 'WM_NAME'),
      this.#screen.property(handle, 'WM_CLASS'),
      this.#names(handle, '_NET_WM_STATE'),
      this.#names(handle, '_NET_WM_WINDOW_TYPE'),
      this.#screen.ask<Geometry>((client, answered) => client.GetGeometry(handle, answered)),
      this.#screen.ask<{ destX: number; destY: number }>((client, answered) =>
        client.TranslateCoordinates(handle, this.#screen.root, 0, 0, answered),
      ),
      this.#screen.processOf(handle),
    ]);
    if (process === undefined || kinds.some((kind) => NO_WINDOWS.has(kind))) return undefined;
    const rect = rectOf(corner.destX, corner.destY, geometry.width, geometry.height);
    const rawTitle = textOf(name) ?? oldName?.data.toString('latin1') ?? '';
    return {
      handle,
      rawTitle,
      title: screenName(rawTitle),
      process,
      application: await programOf(process),
      classes: (classes?.data.toString('latin1') ?? '').split('\0').filter((part) => part !== ''),
      rect,
      isActive: handle === active,
      isMinimized: states.includes('_NET_WM_STATE_HIDDEN') || isEmptyRect(commonRect(rect, this.#screen.rect)),
      isMaximized: states.includes('_NET_WM_STATE_MAXIMIZED_VERT') && states.includes('_NET_WM_STATE_MAXIMIZED_HORZ'),
    };
  }

  async #numbers(window: number, name: string): Promise<number[]> {
    const found = await this.#screen.property(window, name);
    if (found?.format !== 32) return [];
    return Array.from({ length: Math.floor(found.data.length / 4) }, (_, n) => found.data.readUInt32LE(n * 4));
  }

  /** Which of the names that matter are in a list of atoms. */
  async #names(window: number, property: string): Promise<string[]> {
    const atoms = new Set(await this.#numbers(window, property));
    const known = await Promise.all(KNOWN.map(async (name) => [name, await this.#screen.atom(name)] as const));
    return known.filter(([, atom]) => atoms.has(atom)).map(([name]) => name);
  }
}

/** Panels and backgrounds: there is nothing to do in them. */
const NO_WINDOWS: ReadonlySet<string> = new Set(['_NET_WM_WINDOW_TYPE_DESKTOP', '_NET_WM_WINDOW_TYPE_DOCK']);
const KNOWN = [
  ...NO_WINDOWS,
  '_NET_WM_STATE_HIDDEN',
  '_NET_WM_STATE_MAXIMIZED_VERT',
  '_NET_WM_STATE_MAXIMIZED_HORZ',
] as const;

const textOf = (property: Property | undefined): string | undefined => property?.data.toString('utf8');

/** A window that is gone while it is described was not there. */
function goneOnly(error: unknown): undefined {
  if (error instanceof DesktopFault && error.code === 'WINDOW_CHANGED') return undefined;
  throw error;
}

/** The name of the program that a process runs; empty when the kernel does not tell. */
async function programOf(process: number): Promise<string> {
  const path = await readlink(`/proc/${process}/exe`).catch(() => '');
  return basename(path.replace(/ \(deleted\)$/u, ''));
}
