import { z } from 'zod';
import { LIVE_CLOSE, parseWith, type LiveMessage, type LiveTopic } from '#proto';
import { Observable } from '../model/index.js';
import { goToLogin } from './api.client.js';
import { Silence } from './silence.js';

/** How well what is shown can be trusted to be what is. */
export type LiveState = 'connecting' | 'live' | 'away';

interface Follower {
  /** Said anew at every connection: with what is known by then. */
  readonly topic: () => LiveTopic;
  /** By which what is said of it is read. */
  readonly reads: z.ZodType<LiveMessage>;
  readonly hear: (message: LiveMessage) => void;
}

const BACKOFF_MS = 500;
const BACKOFF_MS_MAX = 10_000;
/** So long a question whether one may come back waits for its answer. */
const ANSWER_MS_MAX = 10_000;
const LOOK_MS = 5_000;

/**
 * One socket for all that a page follows. It comes back by itself, and every channel goes on from what it knows: nothing is missing and
 * nothing comes twice. One that has become silent is asked, and given up if nobody answers.
 */
export class Live {
  readonly connection = new Observable<LiveState>('connecting');
  readonly #followers = new Map<number, Follower>();
  #socket: WebSocket | undefined;
  #channels = 0;
  #failures = 0;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #silence = new Silence(0);
  #looking: ReturnType<typeof setInterval> | undefined;

  /** Gives back what ends it. */
  follow(follower: Follower): () => void {
    this.#channels += 1;
    const channel = this.#channels;
    this.#followers.set(channel, follower);
    if (this.#socket === undefined) this.#connect();
    else this.#say({ op: 'open', channel, topic: follower.topic() });
    return () => {
      if (!this.#followers.delete(channel)) return;
      this.#say({ op: 'close', channel });
    };
  }

  #connect(): void {
    clearTimeout(this.#retry);
    // A page that was opened while the connection was away has come first.
    if (this.#socket !== undefined) return;
    const socket = new WebSocket(`${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/v1/live`);
    this.#socket = socket;
    this.#silence = new Silence(Date.now());
    if (this.#looking === undefined) this.#looking = setInterval(() => this.#look(), LOOK_MS);
    socket.addEventListener('open', () => {
      this.#failures = 0;
      this.connection.set('live');
      for (const [channel, { topic }] of this.#followers) this.#say({ op: 'open', channel, topic: topic() });
    });
    socket.addEventListener('message', ({ data }) => {
      if (this.#socket === socket) this.#hear(data);
    });
    socket.addEventListener('close', ({ code }) => {
      if (this.#socket === socket) this.#lose(code);
    });
  }

  #lose(code?: number): void {
    this.connection.set('away');
    this.#socket = undefined;
    if (code === LIVE_CLOSE.revoked) return goToLogin();
    this.#comeBack();
  }

  /** Whether somebody is still at the other end: what is open there already is refused at once, and costs nothing. */
  #look(): void {
    const socket = this.#socket;
    if (socket === undefined) return;
    const found = this.#silence.look(Date.now());
    if (found === 'fine') return;
    if (found !== 'ask') this.connection.set('away');
    if (found === 'lost') {
      socket.close();
      return this.#lose();
    }
    const open = [...this.#followers].map(([channel, { topic }]) => ({ channel, topic: topic() }));
    const asked = open.find(({ topic }) => LISTS.has(topic.kind)) ?? open[0];
    if (asked === undefined) this.#silence.heard(Date.now());
    else this.#say({ op: 'open', ...asked });
  }

  /** A socket that was refused does not say why: a session that is over is found out by asking. */
  #comeBack(): void {
    const waitMs = Math.min(BACKOFF_MS * 2 ** this.#failures, BACKOFF_MS_MAX);
    this.#failures += 1;
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => {
      void fetch('/v1/me', { credentials: 'same-origin', signal: AbortSignal.timeout(ANSWER_MS_MAX) }).then(
        ({ status }) => (status === 401 ? goToLogin() : this.#connect()),
        () => this.#comeBack(),
      );
    }, waitMs);
  }

  #say(word: object): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(word));
  }

  #hear(data: unknown): void {
    this.#silence.heard(Date.now());
    this.connection.set('live');
    const said: unknown = JSON.parse(String(data));
    const follower = this.#followers.get(Addressed.safeParse(said).data?.channel ?? 0);
    if (follower === undefined) return;
    const parsed = parseWith(follower.reads, said);
    if (!parsed.ok) {
      console.warn('the console said something that is not known here', parsed.issues);
      return;
    }
    const message = parsed.value;
    if (message.kind === 'error' && message.code === 'IN_USE') return;
    if (message.kind === 'end' || message.kind === 'error') this.#followers.delete(message.channel ?? 0);
    follower.hear(message);
  }
}

const Addressed = z.looseObject({ channel: z.int().nullable() });

/** Channels of these do not end. */
const LISTS: ReadonlySet<LiveTopic['kind']> = new Set(['runs', 'fleet', 'attention']);

/** Of this page. */
export const live = new Live();
