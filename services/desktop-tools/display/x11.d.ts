/** What is used of the package, which has no types. Callbacks get an error or the answer; requests without one are not answered. */
declare module 'x11' {
  type Answered<T> = (error: Error | null | undefined, answer: T) => void;

  export interface Property {
    readonly type: number;
    readonly format: number;
    readonly data: Buffer;
  }
  export interface Geometry {
    readonly xPos: number;
    readonly yPos: number;
    readonly width: number;
    readonly height: number;
  }
  /** With what an answer of another program about a selection has. */
  export interface XEvent {
    readonly type: number;
    readonly requestor?: number;
    readonly target?: number;
    readonly property?: number;
  }
  export interface XTest {
    readonly KeyPress: number;
    readonly KeyRelease: number;
    readonly ButtonPress: number;
    readonly ButtonRelease: number;
    readonly MotionNotify: number;
    FakeInput(type: number, detail: number, time: number, window: number, x: number, y: number): void;
  }
  export interface ClientId {
    readonly mask: number;
    readonly value: readonly number[];
  }
  export interface XRes {
    readonly ClientIdMask: { readonly LocalClientPID: number };
    QueryVersion(major: number, minor: number, answered: Answered<unknown>): void;
    QueryClientIds(
      specs: readonly { readonly client: number; readonly mask: number }[],
      answered: Answered<readonly ClientId[]>,
    ): void;
  }
  export interface XClient {
    on(event: 'error' | 'end', listener: (error?: Error) => void): void;
    require(name: 'xtest', answered: Answered<XTest>): void;
    require(name: 'res', answered: Answered<XRes>): void;
    /** Numbers of names, as far as they were asked for. */
    atoms: Readonly<Record<string, number>>;
    InternAtom(onlyIfExists: boolean, name: string, answered: Answered<number>): void;
    GetProperty(
      remove: number,
      window: number,
      name: number,
      type: number,
      offset: number,
      length: number,
      answered: Answered<Property>,
    ): void;
    GetGeometry(drawable: number, answered: Answered<Geometry>): void;
    TranslateCoordinates(
      from: number,
      to: number,
      x: number,
      y: number,
      answered: Answered<{ readonly destX: number; readonly destY: number; readonly child: number }>,
    ): void;
    GetImage(
      format: number,
      drawable: number,
      x: number,
      y: number,
      width: number,
      height: number,
      planes: number,
      answered: Answered<{ readonly depth: number; readonly data: Buffer }>,
    ): void;
    GetKeyboardMapping(first: number, count: number, answered: Answered<readonly (readonly number[])[]>): void;
    ChangeKeyboardMapping(first: number, symbolsPerKey: number, symbols: readonly number[]): void;
    GetInputFocus(answered: Answered<{ readonly focus: number }>): void;
    GetSelectionOwner(selection: number, answered: Answered<number>): void;
    SetSelectionOwner(owner: number, selection: number, time: number): void;
    CreateWindow(
      window: number,
      parent: number,
      x: number,
      y: number,
      width: number,
      height: number,
      border: number,
      depth: number,
      kind: number,
      visual: number,
      values: Readonly<Record<string, number>>,
    ): void;
    on(event: 'event', listener: (event: XEvent) => void): void;
    off(event: 'event', listener: (event: XEvent) => void): void;
    ConvertSelection(window: number, selection: number, target: number, property: number, time: number): void;
    AllocID(): number;
    MapWindow(window: number): void;
    ChangeProperty(mode: number, window: number, name: number, type: number, format: number, data: Buffer): void;
    SendClientMessage(destination: number, window: number, type: number, format: number, data: readonly number[]): void;
    terminate(): void;
  }
  export interface XDisplay {
    readonly client: XClient;
    readonly screen: readonly {
      readonly root: number;
      readonly pixel_width: number;
      readonly pixel_height: number;
      readonly root_depth: number;
    }[];
    readonly min_keycode: number;
    readonly max_keycode: number;
  }
  export function createClient(
    options: { readonly display: string; readonly shm: false },
    answered: Answered<XDisplay>,
  ): XClient;
  export const keySyms: Readonly<Record<string, { readonly code: number } | undefined>>;
}
