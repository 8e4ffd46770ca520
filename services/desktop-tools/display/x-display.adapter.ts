import { createClient, type Property, type XClient, type XDisplay, type XEvent, type XRes, type XTest } from 'x11';
import { pictureOfBgrx, type Picture } from '#libs/picture';
import { commonRect, rectHeight, isEmptyRect, rectOf, rectWidth, type Rect } from '#libs/screen';
import { DesktopFault, inTime } from '../faults/index.js';

/** A server that is there answers within milliseconds. */
const ANSWER_MS = 5_000;
/** The one format of pictures that is read: 24 bits of colour in 32. */
const DEPTH = 24;
const Z_PIXMAP = 2;
const ALL_PLANES = 0xff_ff_ff_ff;
const ANY_TYPE = 0;
/** In units of four bytes: titles and lists of windows are never as long. */
const PROPERTY_LENGTH = 4_096;
/** Who works on a display owns this, so that a second one does not. */
const LOCK = '_ORRERY_DESKTOP';
/** A window that nobody sees. */
const INPUT_ONLY = 2;
/** Where other programs put what was copied in them. */
const COPIED = '_ORRERY_COPIED';
const COPIED_MS = 2_000;
/** In units of four bytes. */
const COPIED_LENGTH = 1_048_576;
const SELECTION_NOTIFY = 31;

/** What was copied, and what is selected, which the middle button inserts. */
export type Selection = 'CLIPBOARD' | 'PRIMARY';

type Answered<T> = (error: Error | null | undefined, answer: T) => void;

/** One connection to a display; when it is over, it stays over. */
export class XScreen {
  readonly #display: XDisplay;
  readonly #test: XTest;
  readonly #resources: XRes | undefined;
  #isOver = false;
  /** A window that nobody sees: answers to what is asked of other programs come to it. */
  #own: number | undefined;

  private constructor(display: XDisplay, test: XTest, resources: XRes | undefined) {
    this.#display = display;
    this.#test = test;
    this.#resources = resources;
    // The library keeps names of one server for all: another one in its place has others under the same numbers.
    display.client.atoms = { ...display.client.atoms };
    const end = (): void => void (this.#isOver = true);
    display.client.on('end', end);
    // An error that belongs to no request is that of a window which is gone by now; a broken connection also ends.
    display.client.on('error', (error) => {
      if (error !== undefined && 'code' in error) end();
    });
  }

  /** Connects to the display that is named, and to no other. */
  static async open(name: string): Promise<XScreen> {
    const why = `the display ${name} cannot be reached`;
    const connected = new Promise<XDisplay>((resolve, reject) => {
      createClient({ display: name, shm: false }, (error, display) => {
        if (error === null || error === undefined) resolve(display);
        else reject(new DesktopFault('DISPLAY', why));
      });
    });
    const display = await inTime(connected, ANSWER_MS, 'DISPLAY', why);
    const { client } = display;
    const test = await asked<XTest>((answered) => client.require('xtest', answered), `${name} has no extension XTEST`);
    const resources = await asked<XRes>((answered) => client.require('res', answered), '').catch(() => undefined);
    if (resources !== undefined) await asked((answered) => resources.QueryVersion(1, 2, answered), '');
    return new XScreen(display, test, resources);
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  get root(): number {
    return this.#display.screen[0]?.root ?? 0;
  }

  get rect(): Rect {
    const { pixel_width: width, pixel_height: height } = this.#display.screen[0] ?? { pixel_width: 0, pixel_height: 0 };
    return rectOf(0, 0, width, height);
  }

  get keycodes(): readonly [first: number, last: number] {
    return [this.#display.min_keycode, this.#display.max_keycode];
  }

  get client(): XClient {
    return this.#display.client;
  }

  /** The answer to a request. Rejects when there is none: the window that it was about may be gone. */
  ask<T>(request: (client: XClient, answered: Answered<T>) => void): Promise<T> {
    if (this.#isOver) return Promise.reject(new DesktopFault('DISPLAY', 'the connection to the display is over'));
    return asked((answered) => request(this.client, answered), 'the display does not answer');
  }

  async property(window: number, name: string): Promise<Property | undefined> {
    const atom = await this.atom(name);
    const found = await this.ask<Property>((client, answered) =>
      client.GetProperty(0, window, atom, ANY_TYPE, 0, PROPERTY_LENGTH, answered),
    );
    return found.type === 0 ? undefined : found;
  }

  atom(name: string): Promise<number> {
    return this.ask((client, answered) => client.InternAtom(false, name, answered));
  }

  /** The process that made the window, as the server knows it: what a window says of itself is no proof. */
  async processOf(window: number): Promise<number | undefined> {
    const resources = this.#resources;
    if (resources !== undefined) {
      const mask = resources.ClientIdMask.LocalClientPID;
      const ids = await asked<readonly { readonly value: readonly number[] }[]>(
        (answered) => resources.QueryClientIds([{ client: window, mask }], answered),
        'the display does not answer',
      );
      return ids[0]?.value[0];
    }
    const said = await this.property(window, '_NET_WM_PID');
    return said?.format === 32 && said.data.length >= 4 ? said.data.readUInt32LE(0) : undefined;
  }

  /** What is seen there now, whatever it belongs to. */
  async pictureOf(rect: Rect): Promise<Picture> {
    const { data, width, height } = await this.bytesOf(rect);
    return pictureOfBgrx(data, width, height);
  }

  async bytesOf(rect: Rect): Promise<{ readonly data: Buffer; readonly width: number; readonly height: number }> {
    const seen = commonRect(rect, this.rect);
    if (isEmptyRect(seen)) throw new DesktopFault('OUTSIDE', 'nothing of it is on the screen');
    const [width, height] = [rectWidth(seen), rectHeight(seen)];
    const { depth, data } = await this.ask<{ depth: number; data: Buffer }>((client, answered) =>
      client.GetImage(Z_PIXMAP, this.root, seen[0], seen[1], width, height, ALL_PLANES, answered),
    );
    if (depth !== DEPTH || data.length < width * height * 4) {
      throw new DesktopFault('DISPLAY', `the display has ${depth} bits of colour, and pictures are made of ${DEPTH}`);
    }
    return { data, width, height };
  }

  /** One event of mouse or keyboard, as if it came from the hardware. */
  input(kind: 'KeyPress' | 'KeyRelease' | 'ButtonPress' | 'ButtonRelease', detail: number): void {
    this.#test.FakeInput(this.#test[kind], detail, 0, this.root, 0, 0);
  }

  moveTo([x, y]: readonly [number, number]): void {
    this.#test.FakeInput(this.#test.MotionNotify, 0, 0, this.root, x, y);
  }

  /** Every event before it has been taken by the server. */
  async settled(): Promise<void> {
    await this.ask((client, answered) => client.GetInputFocus(answered));
  }

  /** Takes the display for this process. Otherwise who has it, until its connection ends. */
  async take(): Promise<{ readonly process: number | undefined } | undefined> {
    const selection = await this.atom(LOCK);
    const owner = (): Promise<number> => this.ask((client, answered) => client.GetSelectionOwner(selection, answered));
    let other = await owner();
    if (other === 0) {
      const window = this.#hidden();
      this.client.SetSelectionOwner(window, selection, 0);
      other = await owner();
      if (other === window) return undefined;
    }
    return { process: await this.processOf(other).catch(() => undefined) };
  }

  /**
   * What was copied, in one of its forms; undefined: nothing was, or not in that form. Throws where its program does not say it, or
   * where it is more than a program gives at once.
   */
  async copied(selection: Selection, form: string): Promise<Buffer | undefined> {
    const [of, target, property] = await Promise.all([selection, form, COPIED].map((name) => this.atom(name)));
    const owner = await this.ask<number>((client, answered) => client.GetSelectionOwner(of ?? 0, answered));
    if (owner === 0) return undefined;
    const window = this.#hidden();
    const told = this.#notified(window, target ?? 0);
    this.client.ConvertSelection(window, of ?? 0, target ?? 0, property ?? 0, 0);
    const why = 'the program in which it was copied does not say what';
    if (!(await inTime(told, COPIED_MS, 'NOT_RESPONDING', why))) return undefined;
    const found = await this.ask<Property>((client, answered) =>
      client.GetProperty(1, window, property ?? 0, ANY_TYPE, 0, COPIED_LENGTH, answered),
    );
    if (found.type === (await this.atom('INCR')))
      throw new DesktopFault('FORMULA', 'what was copied is too much to be looked at');
    return found.type === 0 ? undefined : found.data;
  }

  /** Whether there is an answer in this form. */
  #notified(window: number, target: number): Promise<boolean> {
    return new Promise((resolve) => {
      const hear = (event: XEvent): void => {
        if (event.type !== SELECTION_NOTIFY || event.requestor !== window || event.target !== target) return;
        this.client.off('event', hear);
        resolve(event.property !== 0);
      };
      this.client.on('event', hear);
    });
  }

  #hidden(): number {
    if (this.#own !== undefined) return this.#own;
    const window = this.client.AllocID();
    this.client.CreateWindow(window, this.root, -1, -1, 1, 1, 0, 0, INPUT_ONLY, 0, {});
    this.#own = window;
    return window;
  }

  close(): void {
    if (!this.#isOver) this.client.terminate();
    this.#isOver = true;
  }
}

function asked<T>(request: (answered: Answered<T>) => void, why: string): Promise<T> {
  const answer = new Promise<T>((resolve, reject) => {
    request((error, result) => {
      if (error === null || error === undefined) resolve(result);
      else reject(new DesktopFault('WINDOW_CHANGED', 'a window of it is not there any more'));
    });
  });
  return inTime(answer, ANSWER_MS, 'DISPLAY', why);
}
