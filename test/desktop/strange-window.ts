import { createClient, type XDisplay } from 'x11';

/** A window that a test makes, with any title: its program is in no list of a device. */
export class StrangeWindow {
  readonly #display: XDisplay;
  /** What of mouse and keyboard has come to it. */
  events = 0;

  private constructor(display: XDisplay) {
    this.#display = display;
  }

  static async open(name: string, title: string): Promise<StrangeWindow> {
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
    client.CreateWindow(window, screen[0]?.root ?? 0, 100, 100, 300, 200, 0, 0, 0, 0, { eventMask: INPUT_MASK });
    const [type, property] = await Promise.all(['UTF8_STRING', '_NET_WM_NAME'].map((atom) => atomOf(display, atom)));
    client.ChangeProperty(0, window, property ?? 0, type ?? 0, 8, Buffer.from(title));
    client.MapWindow(window);
    return strange;
  }

  close(): void {
    this.#display.client.terminate();
  }
}

/** KeyPress and ButtonPress. */
const INPUT: ReadonlySet<number> = new Set([2, 4]);
const INPUT_MASK = 0b101;

const atomOf = ({ client }: XDisplay, name: string): Promise<number> =>
  new Promise((resolve, reject) =>
    client.InternAtom(false, name, (error, atom) =>
      error === null || error === undefined ? resolve(atom) : reject(error),
    ),
  );
