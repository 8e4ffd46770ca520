import type { Socket } from 'node:net';
import { Inject } from '@nestjs/common';
import { WebSocketGateway } from '@nestjs/websockets';
import type { WebSocket } from 'ws';
import { wsTransport, type LivenessPolicy, type Transport } from '#libs/aip';
import { ServicePorts, token } from '#libs/platform';
import type { Identity } from '#proto';
import { ConstellationConnection, type ClientServices } from '../clients/index.js';
import type { Connection } from '../connection/index.js';
import { DeviceConnection, type Surroundings } from '../devices/index.js';
import { Admission, type Admitted } from './admission.js';
import { AipSockets } from './aip-sockets.adapter.js';
import { Connections } from './connections.js';
import { Contention } from './contention.js';

interface ConnectionGround extends Surroundings {
  readonly clients: ClientServices;
  /** When a silent peer is dead. */
  readonly liveness: LivenessPolicy;
}

/** What all connections share. */
export const GROUND = token<ConnectionGround>('GROUND');

const TICK_MS = 250;
const STOP_MS = 3_000;

/** The AIP endpoint: who is let in gets a connection of his own, by his role. */
@WebSocketGateway()
export class AipGateway {
  readonly #ground: ConnectionGround;
  readonly #sockets: AipSockets;
  readonly #admission: Admission;
  readonly #connections: Connections;
  readonly #contention: Contention;
  readonly #ports: ServicePorts;
  #ticking: NodeJS.Timeout | undefined;

  constructor(
    @Inject(GROUND) ground: ConnectionGround,
    @Inject(AipSockets) sockets: AipSockets,
    @Inject(Admission) admission: Admission,
    @Inject(Connections) connections: Connections,
    @Inject(Contention) contention: Contention,
    @Inject(ServicePorts) ports: ServicePorts,
  ) {
    this.#ground = ground;
    this.#sockets = sockets;
    this.#admission = admission;
    this.#connections = connections;
    this.#contention = contention;
    this.#ports = ports;
  }

  async onApplicationBootstrap(): Promise<void> {
    this.#ports.register('aip', await this.#sockets.listen());
    this.#ticking = setInterval(() => this.#tick(), TICK_MS);
  }

  /** Takes nobody new, says goodbye to all and gives their keys back, so that another gateway may have them at once. */
  async beforeApplicationShutdown(): Promise<void> {
    clearInterval(this.#ticking);
    this.#sockets.shut();
    const connections = this.#connections.all();
    for (const connection of connections) connection.shutDown();
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, STOP_MS);
    await Promise.race([Promise.all(connections.map((connection) => connection.gone())), late]);
    clearTimeout(timer);
  }

  handleConnection(webSocket: WebSocket, { identity, bearer, foreign }: Admitted, raw: Socket): void {
    const { clock, injection, largeFrames: frames, liveness } = this.#ground;
    const { id, role } = identity;
    const bytesRead = (): number => raw.bytesRead;
    const secrets = (): readonly string[] => injection.secretsOf(id);
    const isWanted = (): boolean => connection.waitsForResult ?? false;
    const refused = (bytes: number): void => connection.refusedFrame?.(bytes);
    const transport = wsTransport(webSocket, {
      clock,
      bytesRead,
      liveness,
      ...(foreign && role === 'device' && { large: { frames, raw, secrets, isWanted, refused } }),
    });
    const connection = role === 'device' ? this.#device(identity, transport) : this.#client(identity, transport);
    this.#connections.add(connection, bearer);
  }

  #client(identity: Identity, transport: Transport): Connection {
    const ended = (connection: Connection): void => this.#connections.remove(connection);
    return new ConstellationConnection(identity, transport, this.#ground, { ended });
  }

  #device(identity: Identity, transport: Transport): Connection {
    const { id } = identity;
    const connection: Connection = new DeviceConnection(identity, transport, this.#ground, {
      identify: async (renewed) => {
        const holder = await this.#admission.holderOf(renewed);
        if (holder?.id === id) this.#connections.renewed(connection, renewed);
        return holder;
      },
      replacing: () => this.#contention.replaced(id, this.#ground.clock.now()),
      claimed: (winner) => this.#connections.of(id).forEach((other) => other !== winner && other.look?.()),
      ended: (ended) => this.#connections.remove(ended),
    });
    return connection;
  }

  #tick(): void {
    const nowMs = this.#ground.clock.now();
    this.#sockets.sweep(nowMs);
    for (const connection of this.#connections.all()) connection.tick(nowMs);
  }
}
