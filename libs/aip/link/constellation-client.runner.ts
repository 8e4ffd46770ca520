// The constellation client's end of AIP (paper section 7.1, L5):
//
//   connect ──101──► registering ──confirmed──► ready ──closed──► over, or with `reconnect`: backoff ──► connect ...
//                         └── refused: throws at the first time, waits longer afterwards ──▲
//
// A connection that breaks takes its tasks with it: the server cancels them, so they end here as `unknown`.
import { setTimeout as sleep } from 'node:timers/promises';
import { AIP_CLOSE, AIP_LIMITS, type Json } from '#proto';
import {
  delayMs,
  failuresAfter,
  type BackoffPolicy,
  type Closed,
  type Transport,
  connectWs,
} from '../transport/index.js';
import { ConstellationLink, type ConstellationLinkEvent, type TaskCall, type TaskEnd } from './constellation-link.js';
import { decodeServerMessage } from '../frames/index.js';

/** The server does not want this client as it is: another name, another device, or another credential is needed. */
export class RegistrationRefused extends Error {
  override readonly name = 'RegistrationRefused';
}

/** The device's server does not say, or nobody answers any more. */
export class DeviceInfoUnavailable extends Error {
  override readonly name = 'DeviceInfoUnavailable';
}

export type ConstellationFact =
  | { readonly fact: 'registered' }
  | { readonly fact: 'disconnected'; readonly code: number; readonly reason: string }
  | { readonly fact: 'not-connected'; readonly reason: string }
  | { readonly fact: 'complaint' | 'unreadable'; readonly error: string };

export interface ConstellationEndpointOptions {
  readonly url: string;
  /** Asked for at every try. */
  readonly credential: () => Promise<string>;
  /** `query`: as `?token=`, for servers of UFO, which take it nowhere else. A URL ends up in logs: ours want the header. */
  readonly credentialIn?: 'header' | 'query';
  /** What the client calls itself; UFO's are called `<task name>@<device>`. */
  readonly clientId: string;
  /** The device for which there will be tasks. It has to be connected. */
  readonly targetId?: string;
  /** Milliseconds since the epoch: also the time in frames. */
  readonly clock: { now(): number };
  readonly heartbeatMs?: number;
  /** Absent: the first end of the connection is the end. */
  readonly reconnect?: { readonly policy: BackoffPolicy; readonly random: () => number };
  readonly onFact?: (fact: ConstellationFact) => void;
}

interface Question {
  readonly resolve: (info: Json) => void;
  readonly reject: (error: Error) => void;
}

interface Connected {
  readonly sinceMs: number;
  /** Resolves when the connection is over. */
  readonly ended: Promise<Closed>;
}

const HEARTBEAT_MS = 30_000;
const TICK_MS = 1_000;
const GONE: TaskEnd = { status: 'failed', result: null, error: 'there is no connection to the server' };
const TAKEN: TaskEnd = {
  status: 'failed',
  result: null,
  error: 'not sent: another task has this session id, or too many are open',
};

/** Drives the devices of an AIP server: ours, and as far as its protocol goes UFO's. */
export class ConstellationEndpoint {
  readonly #options: ConstellationEndpointOptions;
  readonly #tasks = new Map<string, (end: TaskEnd) => void>();
  readonly #infos = new Map<string, Question>();
  readonly #over = Promise.withResolvers<Closed>();
  readonly #stopping = new AbortController();
  #link: ConstellationLink | undefined;
  #transport: Transport | undefined;
  #questions = 0;

  private constructor(options: ConstellationEndpointOptions) {
    this.#options = options;
  }

  /** Connects and registers. Throws HandshakeRefused, RegistrationRefused, or the network's error. */
  static async connect(options: ConstellationEndpointOptions): Promise<ConstellationEndpoint> {
    const endpoint = new ConstellationEndpoint(options);
    void endpoint.#goOn(await endpoint.#connectOnce());
    return endpoint;
  }

  /** Registered now, not between two connections. */
  get isConnected(): boolean {
    return this.#link?.isReady === true;
  }

  /** Resolves when there is no connection and will be none. */
  get closed(): Promise<Closed> {
    return this.#over.promise;
  }

  /** Gives a device a task and resolves with its end; never rejects. The session id must be new on this connection. */
  task(call: TaskCall): Promise<TaskEnd> {
    if (this.#link?.isReady !== true) return Promise.resolve(GONE);
    const message = this.#link.task(call, this.#now());
    if (message === undefined) return Promise.resolve(TAKEN);
    const { promise, resolve } = Promise.withResolvers<TaskEnd>();
    this.#tasks.set(call.sessionId, resolve);
    this.#transport?.send(JSON.stringify(message));
    return promise;
  }

  /** What the server knows of a device, by default that of the registration. Throws DeviceInfoUnavailable. */
  async deviceInfo(targetId?: string): Promise<Json> {
    const requestId = `device_info_${++this.#questions}`;
    const message = this.#link?.isReady === true ? this.#link.deviceInfo(requestId, targetId, this.#now()) : undefined;
    if (message === undefined) throw new DeviceInfoUnavailable('there is no connection, or too much is asked already');
    const { promise, resolve, reject } = Promise.withResolvers<Json>();
    this.#infos.set(requestId, { resolve, reject });
    this.#transport?.send(JSON.stringify(message));
    return promise;
  }

  /** Says goodbye; tasks that are open end as `unknown`, and the server cancels them. */
  async close(): Promise<void> {
    this.#stopping.abort();
    this.#transport?.close(AIP_CLOSE.normal, '');
    await this.closed;
  }

  #now(): number {
    return this.#options.clock.now();
  }

  /** Resolves when registered. */
  async #connectOnce(): Promise<Connected> {
    const { clientId, targetId, heartbeatMs = HEARTBEAT_MS } = this.#options;
    const transport = await this.#dial();
    const link = new ConstellationLink({ clientId, targetId }, this.#now());
    const registered = Promise.withResolvers<void>();
    const { promise: ended, resolve: over } = Promise.withResolvers<Closed>();
    const take = (events: readonly ConstellationLinkEvent[]): void => {
      for (const event of events) this.#perform(event, registered);
    };
    const ticking = setInterval(() => take(link.tick(this.#now())), TICK_MS);
    const beating = setInterval(() => this.#beat(), heartbeatMs);
    [this.#link, this.#transport] = [link, transport];
    transport.handle({
      frame: (text) => take(this.#read(text, link)),
      closed: (why) => {
        clearInterval(ticking);
        clearInterval(beating);
        this.#link = undefined;
        take(link.close(`the connection ended (${why.code}${why.reason === '' ? '' : ` ${why.reason}`})`));
        over(why);
      },
    });
    transport.send(JSON.stringify(link.register(this.#now())));
    try {
      await registered.promise;
    } catch (error) {
      transport.close(AIP_CLOSE.normal, '');
      throw error;
    }
    this.#options.onFact?.({ fact: 'registered' });
    this.#beat();
    return { sinceMs: this.#now(), ended };
  }

  async #dial(): Promise<Transport> {
    const { url, credential, credentialIn = 'header', clock } = this.#options;
    const token = await credential();
    const more = { clock, frameBytesMax: AIP_LIMITS.foreignFrameBytesMax, signal: this.#stopping.signal };
    if (credentialIn === 'header') return connectWs({ url, token, ...more });
    const whole = new URL(url);
    whole.searchParams.set('token', token);
    return connectWs({ url: whole.href, ...more });
  }

  /** Until the connection ends for good. */
  async #goOn(first: Connected): Promise<void> {
    const { reconnect, onFact } = this.#options;
    let failures = 0;
    for (let connected: Connected | undefined = first; connected !== undefined;) {
      const why = await connected.ended;
      onFact?.({ fact: 'disconnected', ...why });
      if (reconnect === undefined || this.#stopping.signal.aborted) return this.#over.resolve(why);
      failures = failuresAfter(reconnect.policy, failures, this.#now() - connected.sinceMs);
      connected = undefined;
      while (connected === undefined) {
        await this.#wait(delayMs(reconnect.policy, failures, reconnect.random()));
        if (this.#stopping.signal.aborted) return this.#over.resolve(why);
        connected = await this.#tryAgain();
        if (connected === undefined) failures += 1;
      }
    }
  }

  async #tryAgain(): Promise<Connected | undefined> {
    try {
      return await this.#connectOnce();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#options.onFact?.({ fact: 'not-connected', reason });
      return undefined;
    }
  }

  #wait(ms: number): Promise<void> {
    return sleep(ms, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
  }

  #beat(): void {
    if (this.#link?.isReady === true) this.#transport?.send(JSON.stringify(this.#link.heartbeat(this.#now())));
  }

  #read(text: string | null, link: ConstellationLink): ConstellationLinkEvent[] {
    const decoded = decodeServerMessage(text);
    if (decoded.ok) return link.take(decoded.message, this.#now());
    this.#options.onFact?.({ fact: 'unreadable', error: decoded.error });
    return [];
  }

  #perform(event: ConstellationLinkEvent, registered: PromiseWithResolvers<void>): void {
    switch (event.kind) {
      case 'registered':
        return registered.resolve();
      case 'refused':
        return registered.reject(new RegistrationRefused(event.error));
      case 'acknowledged':
        return;
      case 'task-ended':
        this.#tasks.get(event.sessionId)?.(event.end);
        this.#tasks.delete(event.sessionId);
        return;
      case 'device-info':
        return this.#answered(event.requestId, (question) => question.resolve(event.info));
      case 'device-info-failed':
        return this.#answered(event.requestId, (question) => question.reject(new DeviceInfoUnavailable(event.error)));
      case 'complaint':
        return this.#options.onFact?.({ fact: 'complaint', error: event.error });
    }
  }

  #answered(requestId: string, settle: (question: Question) => void): void {
    const question = this.#infos.get(requestId);
    this.#infos.delete(requestId);
    if (question !== undefined) settle(question);
  }
}
