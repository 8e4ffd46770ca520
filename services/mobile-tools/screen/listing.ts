import { PhoneFault } from '../faults/index.js';
import { isSameControl, isSameScreen, type PhoneControl, type PhoneScreen } from './controls.js';

/** What an agent saw when it chose what to do, as far as it is told. */
export interface SeenScreen {
  readonly application: string;
  readonly control?: { readonly id: string; readonly type: string; readonly name: string } | undefined;
  readonly snapshot: string;
}

/**
 * The newest listing of the screen. Ids belong to it and to no other: an action ends it, since nobody knows what the screen shows then.
 */
export class ScreenListing {
  readonly #name: string;
  #count = 0;
  #screen: PhoneScreen | undefined;

  /** `name` is new for every process: ids that an earlier one gave mean nothing here. */
  constructor(name: string) {
    this.#name = name;
  }

  get id(): string {
    return `${this.#name}.${this.#count}`;
  }

  replace(screen: PhoneScreen): void {
    this.#count++;
    this.#screen = screen;
  }

  end(): void {
    this.#screen = undefined;
  }

  /** All that is listed. */
  controls(): readonly PhoneControl[] {
    return this.#current(undefined).controls;
  }

  /** The control that is meant, if it is surely that one. */
  control(id: string, name: string, seen: SeenScreen | undefined): PhoneControl {
    const screen = this.#current(seen);
    const control = screen.controls.find((one) => one.id === id);
    if (control === undefined) {
      throw new PhoneFault('NOT_FOUND', `the listing has no control ${quoted(id)}; it has ${screen.controls.length}`);
    }
    const said = [name, ...(seen?.control === undefined ? [] : [seen.control.name])];
    const other = said.find((one) => one !== control.name);
    if (other !== undefined) {
      throw new PhoneFault('MISMATCH', `control ${id} is called ${quoted(control.name)}, not ${quoted(other)}`);
    }
    if (seen?.control !== undefined && (seen.control.type !== control.type || seen.control.id !== id)) {
      throw new PhoneFault('MISMATCH', `control ${id} is a ${control.type}, and not what was chosen`);
    }
    return control;
  }

  /** Throws unless the screen still shows what was listed, as far as it matters for this. */
  compare(now: PhoneScreen, seen: SeenScreen | undefined, control?: PhoneControl): void {
    const listed = control === undefined && seen === undefined ? undefined : this.#current(seen);
    if (listed !== undefined && listed.application !== now.application) {
      throw new PhoneFault('WINDOW_CHANGED', `${quoted(now.application)} is in front by now: list the controls again`);
    }
    if (control === undefined || listed === undefined) return;
    if (!now.controls.some((one) => isSameControl(one, control))) {
      throw new PhoneFault(
        'WINDOW_CHANGED',
        `${control.type} ${quoted(control.name)} is not where it was: list the controls again`,
      );
    }
    // The same button in the same place of another dialog is another button.
    if (!isSameScreen(listed, now)) {
      throw new PhoneFault('WINDOW_CHANGED', 'the screen shows something else by now: list the controls again');
    }
  }

  #current(seen: SeenScreen | undefined): PhoneScreen {
    if (this.#count === 0) throw new PhoneFault('NO_WINDOW', 'nothing is listed yet: list the controls first');
    const screen = this.#screen;
    if (screen === undefined || (seen !== undefined && seen.snapshot !== this.id)) {
      throw new PhoneFault('WINDOW_CHANGED', 'the listing is not the newest any more: list the controls again');
    }
    if (seen !== undefined && seen.application !== screen.application) {
      throw new PhoneFault('MISMATCH', `${quoted(screen.application)} was listed, not ${quoted(seen.application)}`);
    }
    return screen;
  }
}

const SHOWN_MAX = 80;

/** What a screen or a caller said, short and visible. */
const quoted = (text: string): string => JSON.stringify(text.slice(0, SHOWN_MAX).toWellFormed());
