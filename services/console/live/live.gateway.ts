import { Inject } from '@nestjs/common';
import { WebSocketGateway } from '@nestjs/websockets';
import type { Logger } from 'pino';
import type { WebSocket } from 'ws';
import { LOGGER } from '#libs/platform';
import { LIVE_CLOSE } from '#proto';
import { AccessDesk, peerOf } from '../access/index.js';
import type { ConsoleCaller } from '../callers/index.js';
import { Door, OpenAnswers, type CalledRequest } from '../http/index.js';
import { LiveSession } from './live-session.js';
import { LiveSocket } from './live-socket.adapter.js';
import { LiveTopics } from './live-topics.js';

/** The live stream: who is let in gets a session, which ends when its client goes, may not listen any more or is too slow, and when the service stops. */
@WebSocketGateway()
export class LiveGateway {
  readonly #door: Door;
  readonly #topics: LiveTopics;
  readonly #desk: AccessDesk;
  readonly #answers: OpenAnswers;
  readonly #logger: Logger;
  readonly #open = new Set<LiveSocket>();

  constructor(
    @Inject(Door) door: Door,
    @Inject(LiveTopics) topics: LiveTopics,
    @Inject(AccessDesk) desk: AccessDesk,
    @Inject(OpenAnswers) answers: OpenAnswers,
    @Inject(LOGGER) logger: Logger,
  ) {
    this.#door = door;
    this.#topics = topics;
    this.#desk = desk;
    this.#answers = answers;
    this.#logger = logger;
  }

  beforeApplicationShutdown(): void {
    for (const socket of this.#open) socket.close(LIVE_CLOSE.goingAway, 'the console stops');
  }

  handleConnection(webSocket: WebSocket, caller: ConsoleCaller, request: CalledRequest): void {
    const wire = new LiveSocket(webSocket, this.#answers);
    this.#open.add(wire);
    const peer = peerOf(request);
    const session = new LiveSession({
      wire,
      caller,
      follow: (topic, channel) => this.#topics.follow(topic, caller, channel),
      reads: (reading) => this.#desk.reads(caller, reading, peer),
      logger: this.#logger,
    });
    webSocket.on('message', (data: Buffer) => session.take(data));
    const unwatched = this.#door.watch(request, () => wire.close(LIVE_CLOSE.revoked, 'the login is over'));
    wire.signal.addEventListener('abort', () => {
      unwatched();
      this.#open.delete(wire);
    });
    if (request.headers.authorization !== undefined) {
      this.#desk.uses(caller, peer).catch((err: unknown) => {
        this.#logger.warn({ err }, 'the use of a token could not be recorded');
      });
    }
  }
}
