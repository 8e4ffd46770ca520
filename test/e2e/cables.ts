// What lies between a device and its gateway, so that it can be cut. Where this machine lets us, each device has a network namespace
// of its own and a cable (a veth pair) to a bridge:
//
//   namespace of the device ──veth──┐
//   namespace of the device ──veth──┤ bridge (198.18.n.1) ──forwarder──► gateway on loopback
//
// A cable whose end on the bridge is down carries nothing, and nobody is told: no reset, no end of a connection. Elsewhere a
// proxy for each device that goes silent stands in, and the tests say so.
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { ChaosProxy } from '#libs/testing';
import { exec } from './system.js';

/** The way of one device. */
export interface Cable {
  /** Where its gateway is, as the device sees it. */
  readonly url: string;
  /** What its process is started with. */
  readonly within: readonly string[];
  cut(): Promise<void>;
  mend(): Promise<void>;
}

export interface Cables {
  /** What they are made of, for who reads what was shown. */
  readonly kind: 'network namespaces' | 'proxies';
  lay(): Promise<Cable>;
  remove(): Promise<void>;
}

/** For benchmarks of networks, routed nowhere. */
const SUBNET = '198.18';

/** Whatever this machine permits. */
export async function layCables(gateway: string): Promise<Cables> {
  const bridge = await Bridge.build(gateway);
  return bridge ?? new Proxies(gateway);
}

class Bridge implements Cables {
  readonly kind = 'network namespaces';
  readonly #name: string;
  readonly #net: number;
  readonly #forwarder: Forwarder;
  readonly #spaces: string[] = [];

  private constructor(name: string, net: number, forwarder: Forwarder) {
    this.#name = name;
    this.#net = net;
    this.#forwarder = forwarder;
  }

  /** Undefined where it may not be built, which the system is asked by trying. */
  static async build(gateway: string): Promise<Bridge | undefined> {
    const name = `orr${process.pid}`;
    const net = freeNet();
    if (net === undefined || !(await isDone('link', 'add', name, 'type', 'bridge'))) return undefined;
    try {
      await ip('addr', 'add', `${SUBNET}.${net}.1/24`, 'dev', name);
      await ip('link', 'set', name, 'up');
      const bridge = new Bridge(name, net, await Forwarder.start(`${SUBNET}.${net}.1`, gateway));
      if (await bridge.#isPassable()) return bridge;
      await bridge.remove();
    } catch {
      await isDone('link', 'del', name);
    }
    return undefined;
  }

  async lay(): Promise<Cable> {
    const number = this.#spaces.length + 2;
    const space = `${this.#name}-${number}`;
    const [near, far] = [`o${process.pid}n${number}`, `o${process.pid}f${number}`];
    await ip('netns', 'add', space);
    this.#spaces.push(space);
    await ip('link', 'add', near, 'type', 'veth', 'peer', 'name', far, 'netns', space);
    await ip('link', 'set', near, 'master', this.#name, 'up');
    await ip('-n', space, 'addr', 'add', `${SUBNET}.${this.#net}.${number}/24`, 'dev', far);
    for (const link of ['lo', far]) await ip('-n', space, 'link', 'set', link, 'up');
    return {
      url: this.#forwarder.url,
      within: ['ip', 'netns', 'exec', space],
      cut: () => ip('link', 'set', near, 'down'),
      mend: () => ip('link', 'set', near, 'up'),
    };
  }

  async remove(): Promise<void> {
    await this.#forwarder.stop();
    for (const space of this.#spaces) await isDone('netns', 'del', space);
    await isDone('link', 'del', this.#name);
  }

  /** Programs may run in a namespace, and somebody answers them there. */
  async #isPassable(): Promise<boolean> {
    const { within, url } = await this.lay();
    const { hostname, port } = new URL(url);
    const [program = '', ...words] = within;
    const dial = `require('node:net').connect(${port}, '${hostname}').once('connect', () => process.exit(0))`;
    const { code } = await exec(program, [...words, process.execPath, '-e', dial], {}, { timeoutMs: DIAL_MS_MAX });
    return code === 0;
  }
}

const DIAL_MS_MAX = 5_000;

/** Gives every connection on to the gateway. It stands on the bridge, which no cable takes down. */
class Forwarder {
  readonly url: string;
  readonly #server: Server;
  readonly #sockets: Set<Socket>;

  private constructor(server: Server, sockets: Set<Socket>, url: string) {
    this.#server = server;
    this.#sockets = sockets;
    this.url = url;
  }

  static async start(host: string, gateway: string): Promise<Forwarder> {
    const target = new URL(gateway);
    const sockets = new Set<Socket>();
    const server = createServer((client) => {
      const onward = connect(Number(target.port), target.hostname);
      for (const [socket, other] of [
        [client, onward],
        [onward, client],
      ] as const) {
        sockets.add(socket);
        socket.on('error', () => other.destroy()).once('close', () => (sockets.delete(socket), other.destroy()));
        socket.pipe(other);
      }
    });
    server.listen(0, host);
    await once(server, 'listening');
    const address = server.address();
    const url = new URL(gateway);
    url.host = `${host}:${typeof address === 'object' ? address?.port : ''}`;
    return new Forwarder(server, sockets, url.href);
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

class Proxies implements Cables {
  readonly kind = 'proxies';
  readonly #gateway: string;
  readonly #proxies: ChaosProxy[] = [];

  constructor(gateway: string) {
    this.#gateway = gateway;
  }

  async lay(): Promise<Cable> {
    const proxy = await ChaosProxy.start(this.#gateway);
    this.#proxies.push(proxy);
    return {
      url: proxy.url,
      within: [],
      cut: async () => proxy.goSilent(),
      mend: async () => proxy.mend(),
    };
  }

  async remove(): Promise<void> {
    await Promise.all(this.#proxies.map((proxy) => proxy.close()));
  }
}

/** One that no interface of this machine is in; tests of others may run at the same time. */
function freeNet(): number | undefined {
  const taken = new Set(
    Object.values(networkInterfaces()).flatMap((addresses) => (addresses ?? []).map(({ address }) => address)),
  );
  const nets = Array.from({ length: 256 }, (_, index) => (process.pid + index) % 256);
  return nets.find((net) => !taken.has(`${SUBNET}.${net}.1`));
}

async function ip(...words: readonly string[]): Promise<void> {
  const { code, stderr } = await exec('ip', words);
  if (code !== 0) throw new Error(`ip ${words.join(' ')}: ${stderr}`);
}

async function isDone(...words: readonly string[]): Promise<boolean> {
  return ip(...words).then(
    () => true,
    () => false,
  );
}
