import type { Point } from '#libs/screen';
import { pause } from '../faults/index.js';
import type { XScreen } from './x-display.adapter.js';

export const BUTTONS = { left: 1, middle: 2, right: 3, x: 8 } as const;
export type MouseButton = keyof typeof BUTTONS;

const WHEEL = { up: 4, down: 5 } as const;
/** Programs look where the pointer is before they take a button: a press that comes with the movement is lost on some. */
const REST_MS = 20;
/** Steps of a drag: a program that follows the pointer has to see it on its way. */
const STEP_MS = 16;

/** The mouse of a screen. */
export class XMouse {
  readonly #screen: XScreen;

  constructor(screen: XScreen) {
    this.#screen = screen;
  }

  async click(point: Point, button: MouseButton, times = 1): Promise<void> {
    this.#screen.moveTo(point);
    await this.#screen.settled();
    await pause(REST_MS);
    for (let n = 0; n < times; n++) {
      this.#screen.input('ButtonPress', BUTTONS[button]);
      this.#screen.input('ButtonRelease', BUTTONS[button]);
    }
    await this.#screen.settled();
  }

  async drag(from: Point, to: Point, button: MouseButton, durationMs: number): Promise<void> {
    this.#screen.moveTo(from);
    await this.#screen.settled();
    await pause(REST_MS);
    this.#screen.input('ButtonPress', BUTTONS[button]);
    try {
      const steps = Math.max(2, Math.round(durationMs / STEP_MS));
      for (let step = 1; step <= steps; step++) {
        const along = (side: 0 | 1): number => Math.round(from[side] + ((to[side] - from[side]) * step) / steps);
        this.#screen.moveTo([along(0), along(1)]);
        await this.#screen.settled();
        await pause(STEP_MS);
      }
    } finally {
      // Whatever happens, nobody is left with a button that is held.
      this.#screen.input('ButtonRelease', BUTTONS[button]);
    }
    await this.#screen.settled();
  }

  /** Turns the wheel over a point: positive is up. */
  async scroll(point: Point, notches: number): Promise<void> {
    this.#screen.moveTo(point);
    await this.#screen.settled();
    const button = notches > 0 ? WHEEL.up : WHEEL.down;
    for (let n = 0; n < Math.abs(notches); n++) {
      this.#screen.input('ButtonPress', button);
      this.#screen.input('ButtonRelease', button);
    }
    await this.#screen.settled();
  }
}
