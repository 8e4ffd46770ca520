import { randomUUID } from 'node:crypto';
import type { DeviceAnswer, DeviceRequest } from '#proto';
import { CheckFailed, demand, demandEqual } from './check.js';
import { Client } from './client.js';
import type { Driver, Revoker } from './driver.js';
import { constellationRegisterOf, registerOf, revisedRegisterOf, type Fields } from './frames.js';
import { Peer, Refused, type DialOptions, type Frame } from './peer.js';

/** A credential of the server under test. */
export interface Account {
  readonly id: string;
  readonly token: string;
}

export interface Target {
  readonly url: string;
  readonly answerMs: number;
  /** How long a TASK may take to its end: words may go through a model. */
  readonly taskMs: number;
  readonly driver?: Driver | undefined;
  readonly revoker?: Revoker | undefined;
}

/** Servers of other systems need a moment to forget a connection that has ended. */
const REGISTER_TRIES_MAX = 5;
const FORGETS_WITHIN_MS = 100;
const SEEN_AGAIN_MS = 10;

/** What a check works with: accounts that are its own for as long as it runs, and connections that end with it. */
export class Lab {
  readonly target: Target;
  readonly devices: readonly Account[];
  readonly constellations: readonly Account[];
  readonly #peers: Peer[] = [];
  #isOver = false;

  constructor(target: Target, devices: readonly Account[], constellations: readonly Account[]) {
    this.target = target;
    this.devices = devices;
    this.constellations = constellations;
  }

  get device(): Account {
    return at(this.devices, 0);
  }

  get otherDevice(): Account {
    return at(this.devices, 1);
  }

  get constellationAccount(): Account {
    return at(this.constellations, 0);
  }

  get driver(): Driver {
    const { driver } = this.target;
    if (driver === undefined) throw new Error('the check does not say that it needs a driver');
    return driver;
  }

  get revoker(): Revoker {
    const { revoker } = this.target;
    if (revoker === undefined) throw new Error('the check does not say that it needs the registry');
    return revoker;
  }

  /** An open socket that has not said a word; in the name of the first device unless told otherwise. */
  async dial(options: Partial<DialOptions> = {}): Promise<Peer> {
    const { url, answerMs, taskMs } = this.target;
    const peer = await Peer.dial({ url, answerMs, taskMs, token: this.device.token, ...options });
    this.#peers.push(peer);
    return peer;
  }

  /** The HTTP status that refuses such an upgrade; 101 when it is let in. */
  async statusOf(options: Partial<DialOptions>): Promise<number> {
    try {
      await this.dial(options);
      return 101;
    } catch (error) {
      if (error instanceof Refused) return error.status;
      throw error;
    }
  }

  /** A device of another system, registered and answering as such devices do. Known to the system when that can be seen. */
  async registered(account: Account = this.device): Promise<Client> {
    const { driver } = this.target;
    const before = await driver?.sessionOf(account.id);
    const client = await this.#registered(account);
    if (driver !== undefined) await this.untilKnown(account.id, before ?? null);
    return client;
  }

  async #registered(account: Account): Promise<Client> {
    for (let tries = 1; ; tries++) {
      const peer = await this.dial({ token: account.token });
      peer.send(registerOf(account.id));
      const answer = await peer.next('the answer to REGISTER', ({ type }) => type === 'heartbeat' || type === 'error');
      if (answer.type === 'heartbeat') return new Client(peer, { id: account.id, role: 'device' }).answering();
      if (tries === REGISTER_TRIES_MAX) throw new CheckFailed(`REGISTER was refused: ${String(answer['error'])}`);
      await new Promise((resolve) => setTimeout(resolve, FORGETS_WITHIN_MS));
    }
  }

  /** The session under which the system knows the device now, another one than before. Needs a driver. */
  async untilKnown(deviceId: string, before: string | null): Promise<string> {
    for (const began = performance.now(); ;) {
      const sessionId = await this.driver.sessionOf(deviceId);
      if (sessionId !== null && sessionId !== before) return sessionId;
      demand(this.#isInTime(began), 'the device is not known to the system after it has named its tools');
      await new Promise((resolve) => setTimeout(resolve, SEEN_AGAIN_MS));
    }
  }

  /** A device of a revision of ours, confirmed; of revision 2 not resumed yet. */
  async revised(revision: number, account: Account = this.device, register: Fields = {}): Promise<Revised> {
    const peer = await this.dial({ token: account.token, tokenIn: 'header' });
    peer.send({ ...revisedRegisterOf(account.id, revision), ...register });
    const { orrery } = await peer.nextOf('heartbeat');
    demand(typeof orrery === 'object' && orrery !== null, 'the confirmation has no `orrery`');
    const { session_id: sessionId, revision: agreed } = orrery as Fields;
    demandEqual(typeof sessionId, 'string', 'the type of the session id of the confirmation');
    return new Revised(peer, account.id, { sessionId: String(sessionId), numbered: agreed === 2 });
  }

  /** A device of revision 2 that has resumed: commands may come. */
  async resumed(account: Account = this.device): Promise<Revised> {
    const device = await this.revised(2, account);
    device.resume();
    await device.peer.nextOf('resumed');
    return device;
  }

  /** A constellation client that has registered for this device, or for none. */
  async constellation(targetId: string | null, account: Account = this.constellationAccount): Promise<Client> {
    const id = `interop@${targetId ?? 'any'}`;
    const peer = await this.dial({ token: account.token });
    peer.send(constellationRegisterOf(id, targetId));
    const answer = await peer.next('the answer to REGISTER', ({ type }) => type === 'heartbeat' || type === 'error');
    demandEqual(
      answer.type,
      'heartbeat',
      `the answer to REGISTER of a constellation client (${String(answer['error'])})`,
    );
    return new Client(peer, { id, role: 'constellation' });
  }

  /** The same for a device that has just registered: a server may need a moment to know it. */
  async constellationFor(deviceId: string): Promise<Client> {
    for (const began = performance.now(); ;) {
      try {
        return await this.constellation(deviceId);
      } catch (error) {
        if (!(error instanceof CheckFailed) || !this.#isInTime(began)) throw error;
        await new Promise((resolve) => setTimeout(resolve, FORGETS_WITHIN_MS));
      }
    }
  }

  /** What becomes of a command: who hears that it waits or runs asks again, as the system does. Needs a driver. */
  ended(request: DeviceRequest): Promise<DeviceAnswer> {
    const end = this.#untilEnded(request);
    // A check that has failed already waits for it no more.
    end.catch(() => undefined);
    return end;
  }

  async #untilEnded(request: DeviceRequest): Promise<DeviceAnswer> {
    for (;;) {
      const answer = await this.driver.ask(request);
      if (this.#isOver || (answer.state !== 'running' && answer.state !== 'queued')) return answer;
    }
  }

  #isInTime(beganMs: number): boolean {
    return performance.now() - beganMs < this.target.answerMs;
  }

  /** A name that nothing else has, on this server or on its next run. */
  unique(what: string): string {
    return `${what}-${randomUUID().slice(0, 13)}`;
  }

  /** Ends what the check has left open. Throws when a server sent a frame that is none on any of its connections. */
  async end(): Promise<void> {
    const { answerMs } = this.target;
    this.#isOver = true;
    for (const peer of this.#peers) if (peer.isOpen) peer.cut();
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, answerMs);
    await Promise.race([Promise.all(this.#peers.map(({ closed }) => closed)), late]);
    clearTimeout(timer);
    const malformed = this.#peers.flatMap((peer) => peer.malformed);
    demand(malformed.length === 0, `the server sent ${malformed[0] ?? ''}`);
  }
}

/** A device that speaks a revision of ours. */
export class Revised extends Client {
  readonly sessionId: string;
  readonly journalId: string;

  constructor(
    peer: Peer,
    id: string,
    { sessionId, numbered }: { readonly sessionId: string; readonly numbered: boolean },
  ) {
    super(peer, { id, role: 'device', numbered });
    this.sessionId = sessionId;
    this.journalId = `journal-${id}`;
  }

  resume(running: readonly string[] = [], finished: readonly string[] = [], more = false): void {
    this.send({ type: 'resume', orrery: { running, finished, more } });
  }

  /** The frame with these fields of ours. The system may say the same about commands from before this check. */
  about(type: string, orrery: Fields, withinMs?: number): ReturnType<Peer['next']> {
    const wanted = JSON.stringify(orrery);
    const passes = (frame: Frame): boolean => frame.type === type && JSON.stringify(frame['orrery']) === wanted;
    return this.peer.next(`${type.toUpperCase()} ${wanted}`, passes, withinMs);
  }

  /** The COMMAND with this id, as soon as it is here. */
  command(commandId: string): ReturnType<Peer['next']> {
    return this.peer.next(
      `COMMAND ${commandId}`,
      (frame) => frame.type === 'command' && commandIdOf(frame) === commandId,
    );
  }
}

export function commandIdOf(frame: Fields): unknown {
  const orrery = frame['orrery'];
  return typeof orrery === 'object' && orrery !== null ? (orrery as Fields)['command_id'] : frame['response_id'];
}

function at(accounts: readonly Account[], index: number): Account {
  const account = accounts[index];
  if (account === undefined) throw new Error('the check does not say how many accounts it needs');
  return account;
}
