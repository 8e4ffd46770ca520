import { createClient, TimeoutError, type MessageBus } from 'dbus-native';
import { DesktopFault, inTime } from '../faults/index.js';
import type { Accessible } from './accessible.js';

/** What one program may take for one answer. Programs that have stopped take all of it. */
const ANSWER_MS = 2_000;
const A11Y_PREFIX = 'org.a11y.atspi.';
const ROOT = '/org/a11y/atspi/accessible/root';
const PROPERTIES = 'org.freedesktop.DBus.Properties';
const MESSAGE_BYTES_MAX = 16 * 1024 * 1024;
/** Some lists of buses name commands to be started: a bus is a socket here, and nothing else. */
const SOCKET = /^unix:/u;
/** What a program says of the place where it answers itself: one socket. */
const OWN_SOCKET = /^unix:(?:path|abstract)=[^,;]+$/u;

/** One call of a method: its interface without the part that all have. */
export interface BusCall {
  readonly at: Accessible;
  readonly interface: string;
  readonly member: string;
  readonly signature?: string;
  readonly body?: readonly unknown[];
}

/** The bus on which programs tell what is in their windows. */
export class AccessBus {
  readonly #bus: MessageBus;
  /** Programs that are asked without the bus between; undefined for one that is not to be had like that. */
  readonly #met = new Map<string, MessageBus | undefined>();
  #isOver = false;

  private constructor(bus: MessageBus) {
    this.#bus = bus;
    const end = (): void => void (this.#isOver = true);
    bus.connection.on('close', end);
    bus.connection.on('error', end);
  }

  /** Finds it by the session bus of the desktop, where it is told. */
  static async open(sessionAddress: string): Promise<AccessBus> {
    const why =
      'the accessibility bus of the desktop cannot be reached; is at-spi2-core installed, and is this the right bus';
    const session = new AccessBus(client(sessionAddress, why));
    try {
      const asked = session.#bus.invoke<unknown>(
        { destination: 'org.a11y.Bus', path: '/org/a11y/bus', interface: 'org.a11y.Bus', member: 'GetAddress' },
        { timeout: ANSWER_MS * 2 },
      );
      const address = await inTime(Promise.resolve(asked), ANSWER_MS * 2, 'DISPLAY', why).catch(() => undefined);
      if (typeof address !== 'string') throw new DesktopFault('DISPLAY', why);
      return new AccessBus(client(address, why));
    } finally {
      session.close();
    }
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  async call(call: BusCall): Promise<unknown> {
    const { at, interface: name, member, signature, body } = call;
    return this.#invoke({
      destination: at.bus,
      path: at.path,
      interface: A11Y_PREFIX + name,
      member,
      ...(signature !== undefined && { signature, body: [...(body ?? [])] }),
    });
  }

  async property(at: Accessible, name: string, property: string): Promise<unknown> {
    return this.#invoke({
      destination: at.bus,
      path: at.path,
      interface: PROPERTIES,
      member: 'Get',
      signature: 'ss',
      body: [A11Y_PREFIX + name, property],
    });
  }

  /**
   * From now on a program is asked at a socket of its own, where it has one: a window takes hundreds of calls, and the bus between
   * takes half of their time. Whose name it is was asked of the bus before.
   */
  async meet(name: string): Promise<void> {
    if (this.#met.has(name)) return;
    const asked = this.call({
      at: { bus: name, path: ROOT },
      interface: 'Application',
      member: 'GetApplicationBusAddress',
    });
    const address = await asked.catch(unlessSilent);
    const peer = typeof address === 'string' && OWN_SOCKET.test(address) ? await peerAt(address) : undefined;
    if (this.#isOver) peer?.connection.end();
    else this.#met.set(name, peer);
    peer?.connection.on('close', () => void this.#met.set(name, undefined));
  }

  /** The process behind a name of the bus. */
  async processOf(name: string): Promise<number> {
    const answer = await this.#invoke({
      destination: 'org.freedesktop.DBus',
      path: '/org/freedesktop/DBus',
      interface: 'org.freedesktop.DBus',
      member: 'GetConnectionUnixProcessID',
      signature: 's',
      body: [name],
    });
    return typeof answer === 'number' ? answer : 0;
  }

  close(): void {
    if (!this.#isOver) this.#bus.connection.end();
    this.#isOver = true;
    for (const peer of this.#met.values()) peer?.connection.end();
  }

  async #invoke(message: Parameters<MessageBus['invoke']>[0]): Promise<unknown> {
    if (this.#isOver) throw new DesktopFault('DISPLAY', 'the connection to the accessibility bus is over');
    try {
      const bus = this.#met.get(message.destination ?? '') ?? this.#bus;
      return await bus.invoke<unknown>(message, { timeout: ANSWER_MS });
    } catch (error) {
      if (error instanceof TimeoutError) throw new DesktopFault('NOT_RESPONDING', 'the application does not answer');
      throw error;
    }
  }
}

function client(busAddress: string, why: string, direct = false): MessageBus {
  if (!SOCKET.test(busAddress)) throw new DesktopFault('DISPLAY', why);
  const bus = createClient({ busAddress, authMethods: ['EXTERNAL'], maxMessageSize: MESSAGE_BYTES_MAX, direct });
  // Without a handler an error of the connection would end the process.
  bus.connection.on('error', () => undefined);
  return bus;
}

/** A program at its own socket, once it answers there; undefined when it does not. */
async function peerAt(address: string): Promise<MessageBus | undefined> {
  const peer = client(address, '', true);
  const { promise: met, resolve, reject } = Promise.withResolvers<void>();
  peer.connection.on('connect', resolve);
  peer.connection.on('error', reject);
  peer.connection.on('close', reject);
  return inTime(met, ANSWER_MS, 'NOT_RESPONDING', '').then(
    () => peer,
    () => {
      peer.connection.end();
      return undefined;
    },
  );
}

function unlessSilent(error: unknown): undefined {
  if (error instanceof DesktopFault) throw error;
  return undefined;
}
