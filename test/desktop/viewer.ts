import { WebSocket, type RawData } from 'ws';

const VERSION = 'RFB 003.008\n';
/** No password: who may look has been said by the login. */
const NONE = 1;
const SHARED = 1;
const HEAD_BYTES = 24;
const UPDATE_HEAD_BYTES = 4;
const RECTANGLE_BYTES = 12;
const PIXEL_BYTES = 4;
const UPDATE = 0;

export interface ScreenPicture {
  readonly width: number;
  readonly height: number;
  /** Blue, green, red and nothing for each place. */
  readonly bgrx: Buffer;
}

/** Who looks on at a screen through the console, with the token of a person: as much of RFB as pictures and keys take. */
export class Viewer {
  readonly #socket: WebSocket;
  readonly #said: { bytes: Buffer };
  #heard: (() => void) | undefined;
  #over: Error | undefined;
  #width = 0;
  #height = 0;

  private constructor(url: string, token: string) {
    this.#socket = new WebSocket(url, 'binary', { headers: { authorization: `Bearer ${token}` } });
    this.#said = { bytes: Buffer.alloc(0) };
    const over = (error: Error): void => {
      this.#over ??= error;
      this.#heard?.();
    };
    this.#socket.on('message', (data: RawData) => {
      this.#said.bytes = Buffer.concat([this.#said.bytes, data as Buffer]);
      this.#heard?.();
    });
    this.#socket.on('error', over);
    this.#socket.on('close', (code) => over(new Error(`the screen was closed with ${code}`)));
  }

  /** `console`: its address. Throws what it was refused with. */
  static async open(consoleUrl: string, device: string, token: string): Promise<Viewer> {
    const viewer = new Viewer(`${consoleUrl.replace(/^http/u, 'ws')}/v1/devices/${device}/screen`, token);
    await viewer.#read(VERSION.length);
    viewer.#socket.send(VERSION);
    const kinds = (await viewer.#read(1)).readUInt8(0);
    await viewer.#read(kinds);
    viewer.#socket.send(Buffer.from([NONE]));
    await viewer.#read(4);
    viewer.#socket.send(Buffer.from([SHARED]));
    const head = await viewer.#read(HEAD_BYTES);
    await viewer.#read(head.readUInt32BE(HEAD_BYTES - 4));
    [viewer.#width, viewer.#height] = [head.readUInt16BE(0), head.readUInt16BE(2)];
    return viewer;
  }

  /** The whole screen as it is now. */
  async picture(): Promise<ScreenPicture> {
    const [width, height] = [this.#width, this.#height];
    const ask = Buffer.alloc(10);
    ask.writeUInt8(3, 0);
    ask.writeUInt16BE(width, 6);
    ask.writeUInt16BE(height, 8);
    this.#socket.send(ask);
    const bgrx = Buffer.alloc(width * height * PIXEL_BYTES);
    const head = await this.#read(UPDATE_HEAD_BYTES);
    if (head.readUInt8(0) !== UPDATE) throw new Error(`the screen says ${head.readUInt8(0)}, which is no picture`);
    for (let left = head.readUInt16BE(2); left > 0; left -= 1) {
      const place = await this.#read(RECTANGLE_BYTES);
      const [x = 0, y = 0, w = 0, h = 0] = [0, 2, 4, 6].map((at) => place.readUInt16BE(at));
      const pixels = await this.#read(w * h * PIXEL_BYTES);
      for (let row = 0; row < h; row += 1) {
        const from = row * w * PIXEL_BYTES;
        pixels.copy(bgrx, ((y + row) * width + x) * PIXEL_BYTES, from, from + w * PIXEL_BYTES);
      }
    }
    return { width, height, bgrx };
  }

  /** Presses a key and lets it go. */
  key(symbol: number): void {
    for (const isDown of [1, 0]) {
      const said = Buffer.from([4, isDown, 0, 0, 0, 0, 0, 0]);
      said.writeUInt32BE(symbol, 4);
      this.#socket.send(said);
    }
  }

  close(): void {
    this.#socket.terminate();
  }

  async #read(bytes: number): Promise<Buffer> {
    while (this.#said.bytes.length < bytes) {
      if (this.#over !== undefined) throw this.#over;
      await new Promise<void>((resolve) => (this.#heard = resolve));
    }
    const read = this.#said.bytes.subarray(0, bytes);
    this.#said.bytes = this.#said.bytes.subarray(bytes);
    return read;
  }
}

/** How many colours a picture has, up to this many: a screen with nothing on it has one or two. */
export function coloursOf({ bgrx }: ScreenPicture, most: number): number {
  const colours = new Set<number>();
  for (let at = 0; at < bgrx.length && colours.size < most; at += PIXEL_BYTES) colours.add(bgrx.readUIntLE(at, 3));
  return colours.size;
}
