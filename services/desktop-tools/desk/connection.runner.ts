import type { DesktopSettings } from '#proto';
import { AccessBus, AccessTexts, AccessTree } from '../access/index.js';
import { XKeyboard, XMouse, XScreen, XWindows } from '../display/index.js';
import { DesktopFault } from '../faults/index.js';

/** Everything that a desktop is reached by. */
export interface Reach {
  readonly screen: XScreen;
  readonly windows: XWindows;
  readonly mouse: XMouse;
  readonly keyboard: XKeyboard;
  readonly tree: AccessTree;
  readonly texts: AccessTexts;
}

/** Connects when something is asked for, and anew when display or bus were gone: each connection is a new world. */
export class DesktopConnection {
  readonly #settings: Pick<DesktopSettings, 'display' | 'bus'>;
  #screen: XScreen | undefined;
  #bus: AccessBus | undefined;
  #reach: Reach | undefined;

  constructor(settings: Pick<DesktopSettings, 'display' | 'bus'>) {
    this.#settings = settings;
  }

  /** The same object for as long as both connections live. */
  async reach(): Promise<Reach> {
    if (this.#reach !== undefined && this.#screen?.isOver === false && this.#bus?.isOver === false) return this.#reach;
    this.close();
    const { display, bus: address } = this.#settings;
    const screen = await XScreen.open(display);
    this.#screen = screen;
    const other = await screen.take();
    if (other !== undefined) {
      this.close();
      const who = other.process === undefined ? 'another device client' : `the process ${other.process}`;
      throw new DesktopFault('SCREEN_BUSY', `${who} works on the display ${display}, until it ends`);
    }
    const bus = await AccessBus.open(address).catch((error: unknown) => {
      this.close();
      throw error;
    });
    this.#bus = bus;
    this.#reach = {
      screen,
      windows: new XWindows(screen),
      mouse: new XMouse(screen),
      keyboard: new XKeyboard(screen),
      tree: new AccessTree(bus),
      texts: new AccessTexts(bus),
    };
    return this.#reach;
  }

  close(): void {
    this.#screen?.close();
    this.#bus?.close();
    this.#reach = undefined;
  }
}
