import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { ownPort } from '#libs/testing';

const VERSION = 'RFB 003.008\n';
const SIZE = { width: 64, height: 40 };
const LENGTHS: Readonly<Record<number, number>> = { 0: 20, 3: 10, 4: 8, 5: 6 };

export type Colour = readonly [red: number, green: number, blue: number];

/** A VNC server (RFC 6143) of a screen that has one colour, and that notes which keys it hears of. */
export class StandInVnc {
  /** Signs of the keys that have gone down, in order. */
  readonly pressed: string[] = [];
  /** Those that are down. */
  readonly down = new Set<number>();
  #colour: Colour = [20, 60, 200];
  #server: Server | undefined;
  #port = 0;
  readonly #viewers = new Set<Viewer>();

  get port(): number {
    return this.#port;
  }

  /** At the port that it had before, if it had one. */
  async start(): Promise<void> {
    const server = createServer((socket) => {
      const viewer = new Viewer(socket, {
        colour: () => this.#colour,
        key: (sign, isDown) => this.#key(sign, isDown),
      });
      this.#viewers.add(viewer);
      socket.once('close', () => this.#viewers.delete(viewer));
    });
    this.#server = server;
    // Of those that nobody is given while it is stopped.
    if (this.#port === 0) this.#port = await ownPort();
    server.listen(this.#port, '127.0.0.1');
    await once(server, 'listening');
  }

  /** As when it is killed. */
  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    const closed = once(server, 'close');
    server.close();
    for (const viewer of this.#viewers) viewer.end();
    await closed;
  }

  /** Something happens on the screen. */
  paint(colour: Colour): void {
    this.#colour = colour;
    for (const viewer of this.#viewers) viewer.changed();
  }

  #key(sign: number, isDown: boolean): void {
    if (!isDown) return void this.down.delete(sign);
    this.down.add(sign);
    this.pressed.push(String.fromCodePoint(sign));
  }
}

interface Screen {
  readonly colour: () => Colour;
  readonly key: (sign: number, isDown: boolean) => void;
}

/** Who looks at it: the console, for somebody. */
class Viewer {
  readonly #socket: Socket;
  readonly #screen: Screen;
  #said = Buffer.alloc(0);
  #step = 0;
  #isWaiting = false;

  constructor(socket: Socket, screen: Screen) {
    this.#socket = socket;
    this.#screen = screen;
    socket.on('error', () => socket.destroy());
    socket.on('data', (piece: Buffer) => {
      this.#said = Buffer.concat([this.#said, piece]);
      while (this.#hear());
    });
    socket.write(VERSION);
  }

  end(): void {
    this.#socket.destroy();
  }

  changed(): void {
    if (this.#isWaiting) this.#show();
  }

  /** Takes the next whole message, if there is one. */
  #hear(): boolean {
    const greeting = [VERSION.length, 1, 1][this.#step];
    const length = greeting ?? this.#length();
    if (length === undefined || this.#said.length < length) return false;
    const message = this.#said.subarray(0, length);
    this.#said = this.#said.subarray(length);
    if (greeting === undefined) this.#take(message);
    else this.#greet();
    return true;
  }

  #length(): number | undefined {
    if (this.#said.length === 0) return undefined;
    const type = this.#said.readUInt8(0);
    if (type !== 2) return LENGTHS[type];
    return this.#said.length < 4 ? undefined : 4 + 4 * this.#said.readUInt16BE(2);
  }

  #greet(): void {
    this.#step += 1;
    const answers = [Buffer.from([1, 1]), Buffer.alloc(4), opening()];
    this.#socket.write(answers[this.#step - 1] ?? '');
  }

  #take(message: Buffer): void {
    const type = message.readUInt8(0);
    if (type === 4) this.#screen.key(message.readUInt32BE(4), message.readUInt8(1) !== 0);
    if (type !== 3) return;
    // Incremental: when there is something new.
    if (message.readUInt8(1) === 0) this.#show();
    else this.#isWaiting = true;
  }

  /** The whole screen, raw: as many bytes of each colour as browsers ask for. */
  #show(): void {
    this.#isWaiting = false;
    const head = Buffer.alloc(16);
    head.writeUInt16BE(1, 2);
    head.writeUInt16BE(SIZE.width, 8);
    head.writeUInt16BE(SIZE.height, 10);
    const pixels = Buffer.alloc(SIZE.width * SIZE.height * 4, Buffer.from([...this.#screen.colour(), 0]));
    this.#socket.write(Buffer.concat([head, pixels]));
  }
}

/** Size, format of a pixel, and a name. */
function opening(): Buffer {
  const head = Buffer.alloc(24);
  head.writeUInt16BE(SIZE.width, 0);
  head.writeUInt16BE(SIZE.height, 2);
  Buffer.from([32, 24, 0, 1, 0, 255, 0, 255, 0, 255, 0, 8, 16]).copy(head, 4);
  head.writeUInt32BE(2, 20);
  return Buffer.concat([head, Buffer.from('it')]);
}
