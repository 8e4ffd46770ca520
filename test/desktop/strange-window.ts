import { createClient, type XDisplay } from 'x11';

/** A window that a test makes, with any title: its program is in no list of a device. */
export class StrangeWindow {
  readonly #display: XDisplay;
  #window = 0;
  /** What of mouse and keyboard has come to it. */
  events = 0;

  private constructor(display: XDisplay) {
    this.#display = display;
  }

  /** `over`: nobody manages it, it takes no keyboard, and it lies over what is there. */
  static async open(name: string, title: string, over?: readonly number[]): Promise<StrangeWindow> {
    const { promise, resolve, reject } = Promise.withResolvers<XDisplay>();
    createClient({ display: name, shm: false }, (error, answer) =>
      error === null || error === undefined ? resolve(answer) : reject(error),
    );
    const display = await promise;
    const strange = new StrangeWindow(display);
    const { client, screen } = display;
    client.on('error', () => undefined);
    client.on('event', ({ type }) => {
      if (INPUT.has(type)) strange.events++;
    });
    const window = client.AllocID();
    const [left = 0, top = 0, right = 0, bottom = 0] = over ?? [100, 100, 400, 300];
    const values = { eventMask: INPUT_MASK, overrideRedirect: over === undefined ? 0 : 1 };
    const root = screen[0]?.root ?? 0;
    client.CreateWindow(window, root, left, top, right - left, bottom - top, 0, 0, 0, 0, values);
    strange.#window = window;
    await strange.rename(title);
    client.MapWindow(window);
    await strange.#done();
    return strange;
  }

  /** Whether it has the keyboard, and who manages windows says so, too: the one comes a moment before the other. */
  async isInFront(): Promise<boolean> {
    const { client, screen } = this.#display;
    const name = await atomOf(this.#display, '_NET_ACTIVE_WINDOW');
    const active = await asked<{ readonly data: Buffer }>((answered) =>
      client.GetProperty(0, screen[0]?.root ?? 0, name, ANY_TYPE, 0, 1, answered),
    );
    const { focus } = await asked<{ readonly focus: number }>((answered) => client.GetInputFocus(answered));
    return focus === this.#window && active.data.length >= 4 && active.data.readUInt32LE(0) === this.#window;
  }

  async rename(title: string): Promise<void> {
    const [type, property] = await Promise.all(
      ['UTF8_STRING', '_NET_WM_NAME'].map((atom) => atomOf(this.#display, atom)),
    );
    this.#display.client.ChangeProperty(0, this.#window, property ?? 0, type ?? 0, 8, Buffer.from(title));
    await this.#done();
  }

  /** When this is answered, the display has done all before it. */
  async #done(): Promise<void> {
    await new Promise((resolve) => this.#display.client.GetInputFocus(resolve));
  }

  close(): void {
    this.#display.client.terminate();
  }
}

/** KeyPress and ButtonPress. */
const INPUT: ReadonlySet<number> = new Set([2, 4]);
const INPUT_MASK = 0b101;

const ANY_TYPE = 0;

const asked = <Answer>(ask: (answered: (error: Error | null | undefined, answer: Answer) => void) => void) =>
  new Promise<Answer>((resolve, reject) =>
    ask((error, answer) => (error === null || error === undefined ? resolve(answer) : reject(error))),
  );

const atomOf = ({ client }: XDisplay, name: string): Promise<number> =>
  asked<number>((answered) => client.InternAtom(false, name, answered));
