import { createConnection, type Socket } from 'node:net';
import { DesktopFault, inTime } from '../faults/index.js';
import { objectIn, UnoMemory, UnoReader, UnoWriter, type UnoObject, type UnoValue } from './urp-values.js';

/** A program that is asked for a table of ten thousand cells. */
const ANSWER_MS = 10_000;
const BLOCK_HEAD = 8;
const BLOCK_BYTES_MAX = 32 * 1024 * 1024;

const X_INTERFACE = 'com.sun.star.uno.XInterface';
const QUERY_INTERFACE = 0;
/** Bits of the first byte of a message. */
const HEAD = { long: 0x80, request: 0x40, type: 0x20, object: 0x10, thread: 0x08, wide: 0x04, more: 0x01 } as const;
/** Of an answer that is an error. */
const FAILED = 0x20;
/** The object by which both sides agree on how they speak; its methods by their numbers. */
const PROTOCOL = { oid: 'UrpProtocolProperties', request: 4, commit: 5 } as const;
/** All is asked on one thread, one after the other. */
const THREAD = Buffer.from('orrery');

/** A method of an interface, by its place in it. */
export interface UnoMethod {
  readonly interface: string;
  readonly place: number;
  readonly takes: readonly string[];
  readonly gives: string;
}

/** Objects of a LibreOffice that listens at a pipe of its own user. One question at a time. */
export class UnoPipe {
  readonly #socket: Socket;
  readonly #memory = new UnoMemory();
  #received = Buffer.alloc(0);
  #waiting: { readonly gives: string; resolve(value: UnoValue): void; reject(error: Error): void } | undefined;
  #lastThread: Buffer = THREAD;
  #last = { type: X_INTERFACE, oid: '' };
  /** From then on each question says for whom it is asked: for nobody. */
  #saysContext = false;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (bytes) => this.#take(bytes));
    socket.on('error', () => this.#end());
    socket.on('close', () => this.#end());
  }

  static async open(path: string): Promise<UnoPipe> {
    const socket = createConnection({ path });
    const { promise: there, resolve, reject } = Promise.withResolvers<void>();
    socket.once('connect', resolve).once('error', () => reject(gone()));
    const pipe = new UnoPipe(socket);
    await inTime(there, ANSWER_MS, 'NOT_RESPONDING', 'the spreadsheet does not answer');
    return pipe;
  }

  close(): void {
    this.#socket.destroy();
  }

  /** The object of this name. */
  async named(oid: string): Promise<UnoObject> {
    return this.as({ oid, type: X_INTERFACE }, X_INTERFACE);
  }

  /** The same object by another of its sides. Rejects when it has not got it. */
  async as({ oid }: UnoObject, type: string): Promise<UnoObject> {
    const query = { interface: X_INTERFACE, place: QUERY_INTERFACE, takes: ['type'], gives: 'any' };
    const answer = await this.ask({ oid, type: X_INTERFACE }, query, type);
    const found = typeof answer === 'object' && answer !== null && 'value' in answer && objectIn(answer.value);
    if (!found) throw new DesktopFault('NOT_FOUND', `what is open there is no ${type.split('.').at(-1) ?? type}`);
    return { oid: found.oid, type };
  }

  async ask({ oid }: UnoObject, method: UnoMethod, ...given: readonly UnoValue[]): Promise<UnoValue> {
    if (this.#socket.destroyed) throw gone();
    const writer = new UnoWriter()
      .byte(HEAD.long | HEAD.request | HEAD.type | HEAD.object | HEAD.thread)
      .byte(method.place)
      .type(method.interface)
      .object(oid)
      .thread(THREAD);
    if (this.#saysContext) writer.object('');
    for (const [index, type] of method.takes.entries()) writer.value(type, given[index] ?? null);
    const { promise, resolve, reject } = Promise.withResolvers<UnoValue>();
    this.#waiting = { gives: method.gives, resolve, reject };
    this.#send(writer);
    return inTime(promise, ANSWER_MS, 'NOT_RESPONDING', 'the spreadsheet does not answer').catch((error: unknown) => {
      // An answer that comes too late would be taken for that of the next question.
      if (error instanceof DesktopFault && error.code === 'NOT_RESPONDING') this.close();
      throw error;
    });
  }

  #send(writer: UnoWriter): void {
    const message = writer.bytes();
    const head = Buffer.alloc(BLOCK_HEAD);
    head.writeUInt32BE(message.length, 0);
    head.writeUInt32BE(1, 4);
    this.#socket.write(Buffer.concat([head, message]));
  }

  #take(bytes: Buffer): void {
    this.#received = Buffer.concat([this.#received, bytes]);
    try {
      while (this.#received.length >= BLOCK_HEAD) {
        const size = this.#received.readUInt32BE(0);
        if (size > BLOCK_BYTES_MAX) throw new RangeError('it is too long');
        if (this.#received.length < BLOCK_HEAD + size) return;
        const block = this.#received.subarray(BLOCK_HEAD, BLOCK_HEAD + size);
        this.#received = this.#received.subarray(BLOCK_HEAD + size);
        this.#read(new UnoReader(block, this.#memory));
      }
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      this.#waiting?.reject(
        new DesktopFault('NOT_FOUND', `the spreadsheet has answered with what cannot be read: ${error.message}`),
      );
      this.close();
    }
  }

  /** One message: each comes in a block of its own. */
  #read(reader: UnoReader): void {
    const head = reader.byte();
    const isLong = (head & HEAD.long) !== 0;
    if (isLong && (head & HEAD.request) === 0) this.#answered(reader, head);
    else this.#asked(reader, head, isLong);
  }

  #answered(reader: UnoReader, head: number): void {
    if ((head & HEAD.thread) !== 0) this.#lastThread = reader.thread();
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting === undefined) return;
    if ((head & FAILED) === 0) waiting.resolve(reader.value(waiting.gives));
    else waiting.reject(new DesktopFault('NOT_FOUND', `the spreadsheet says: ${reader.failure().slice(0, 200)}`));
  }

  /** The other side asks for nothing but how to speak. */
  #asked(reader: UnoReader, head: number, isLong: boolean): void {
    let place = head & 0x3f;
    if (isLong) {
      if ((head & HEAD.more) !== 0) reader.byte();
      place = (head & HEAD.wide) === 0 ? reader.byte() : reader.short();
      if ((head & HEAD.type) !== 0) this.#last.type = reader.type();
      if ((head & HEAD.object) !== 0) this.#last.oid = reader.object();
      if ((head & HEAD.thread) !== 0) this.#lastThread = reader.thread();
    }
    if (this.#last.oid !== PROTOCOL.oid) return;
    const answer = new UnoWriter().byte(HEAD.long | HEAD.thread).thread(this.#lastThread);
    if (place === PROTOCOL.request) this.#send(answer.value('long', 1));
    if (place !== PROTOCOL.commit) return;
    this.#send(answer);
    this.#saysContext = true;
  }

  #end(): void {
    this.#waiting?.reject(gone());
    this.#waiting = undefined;
  }
}

const gone = (): DesktopFault => new DesktopFault('NOT_RESPONDING', 'the connection to the spreadsheet is over');
