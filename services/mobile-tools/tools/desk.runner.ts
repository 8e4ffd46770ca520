import { marked as drawMarks, pngOf, readPng } from '#libs/picture';
import type { Phone, PhonePicture } from '../phone/index.js';
import { PhoneFault } from '../faults/index.js';
import {
  centreOf,
  isEditable,
  type PhoneControl,
  type PhoneScreen,
  type ScreenListing,
  type SeenScreen,
} from '../screen/index.js';

/** Which control is meant, and what its agent saw when it chose it. */
export interface Meant {
  readonly id: string;
  readonly name: string;
  readonly seen: SeenScreen | undefined;
}

type Point = readonly [x: number, y: number];

/** After a tap a keyboard comes up: the field that has the focus is looked for more than once. */
const FOCUS_LOOKS = 3;
const MARK = [165, 240, 181] as const;
const FIELD_CHARS_MAX = 5_000;

/** Looks, compares what is there with what was seen, and only then acts. */
export class PhoneDesk {
  readonly #phone: Phone;
  readonly #listing: ScreenListing;

  constructor(phone: Phone, listing: ScreenListing) {
    this.#phone = phone;
    this.#listing = listing;
  }

  async list(signal: AbortSignal): Promise<{ readonly screen: PhoneScreen; readonly listing: string }> {
    // One that cannot be made leaves none behind.
    this.#listing.end();
    const screen = await this.#phone.screen(signal);
    this.#listing.replace(screen);
    return { screen, listing: this.#listing.id };
  }

  /** A picture of the screen, and the same with the numbers of the newest listing on it. */
  async marked(signal: AbortSignal): Promise<{ readonly clean: PhonePicture; readonly bytes: Buffer }> {
    const marks = this.#listing.controls().map(({ id, rect }) => ({ box: rect, label: id, colour: MARK }));
    const clean = await this.#phone.picture(signal);
    const read = readPng(clean.bytes);
    if ('why' in read) throw new PhoneFault('NOT_RESPONDING', `the picture of the device cannot be read: ${read.why}`);
    return { clean, bytes: pngOf(drawMarks(read.picture, marks)) };
  }

  async click(meant: Meant, signal: AbortSignal): Promise<PhoneControl> {
    const control = await this.#found(meant, signal);
    this.#listing.end();
    await this.#phone.tap(centreOf(control.rect), signal);
    return control;
  }

  async tap(point: Point, seen: SeenScreen | undefined, signal: AbortSignal): Promise<void> {
    await this.#onScreen([point], seen, signal);
    this.#listing.end();
    await this.#phone.tap(point, signal);
  }

  async swipe(
    { from, to, ms }: { readonly from: Point; readonly to: Point; readonly ms: number },
    seen: SeenScreen | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    await this.#onScreen([from, to], seen, signal);
    this.#listing.end();
    await this.#phone.swipe({ from, to, ms }, signal);
  }

  async press(key: string, seen: SeenScreen | undefined, signal: AbortSignal): Promise<void> {
    await this.#sameFront(seen, signal);
    this.#listing.end();
    await this.#phone.press(key, signal);
  }

  async launch(name: string, signal: AbortSignal): Promise<void> {
    this.#listing.end();
    await this.#phone.launch(name, signal);
  }

  /** Types into a field, and nowhere else: only when the field that was meant has the focus. */
  async type(
    { text, clear, ...meant }: Meant & { readonly text: string; readonly clear: boolean },
    signal: AbortSignal,
  ): Promise<PhoneControl> {
    const pieces = await this.#phone.typing(text, signal);
    const control = await this.#found(meant, signal);
    if (control.state.includes('password')) {
      throw new PhoneFault(
        'PASSWORD',
        `${control.type} ${JSON.stringify(control.name)} is for a password: no text is typed there`,
      );
    }
    if (!isEditable(control)) {
      throw new PhoneFault('NOT_INTERACTABLE', `${control.type} ${JSON.stringify(control.name)} takes no text`);
    }
    this.#listing.end();
    await this.#phone.tap(centreOf(control.rect), signal);
    const field = await this.#focused(control, signal);
    const before = Array.from(field.value ?? '').length;
    if (clear && before > 0) await this.#phone.clear(Math.min(before, FIELD_CHARS_MAX), signal);
    await this.#phone.type(pieces, signal);
    return field;
  }

  async #found({ id, name, seen }: Meant, signal: AbortSignal): Promise<PhoneControl> {
    const control = this.#listing.control(id, name, seen);
    if (control.state.includes('disabled')) {
      throw new PhoneFault('NOT_INTERACTABLE', `${control.type} ${JSON.stringify(control.name)} is switched off`);
    }
    this.#listing.compare(await this.#phone.screen(signal), seen, control);
    return control;
  }

  async #focused(control: PhoneControl, signal: AbortSignal): Promise<PhoneControl> {
    for (let look = 0; look < FOCUS_LOOKS; look++) {
      const { controls } = await this.#phone.screen(signal);
      const field = controls.find(({ state }) => state.includes('focused'));
      const isMeant =
        field?.type === control.type && field.resource === control.resource && field.name === control.name;
      if (isMeant && !field.state.includes('password')) return field;
    }
    throw new PhoneFault(
      'NOT_INTERACTABLE',
      `${control.type} ${JSON.stringify(control.name)} was tapped and did not get the focus; nothing was typed`,
    );
  }

  async #onScreen(points: readonly Point[], seen: SeenScreen | undefined, signal: AbortSignal): Promise<void> {
    const now = await this.#phone.screen(signal);
    this.#listing.compare(now, seen);
    const [left, top, right, bottom] = now.rect;
    const outside = points.find(([x, y]) => x < left || y < top || x >= right || y >= bottom);
    if (outside === undefined) return;
    throw new PhoneFault(
      'OUTSIDE',
      `${outside.join(',')} is not on the screen, which goes from ${left},${top} to ${right},${bottom}`,
    );
  }

  async #sameFront(seen: SeenScreen | undefined, signal: AbortSignal): Promise<void> {
    if (seen !== undefined) this.#listing.compare(await this.#phone.screen(signal), seen);
  }
}
