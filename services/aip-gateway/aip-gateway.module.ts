import { Module, type Provider } from '@nestjs/common';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import { readSecret } from '#libs/keys';
import {
  CLOCK,
  loadConfig,
  LOGGER,
  Metrics,
  NATS,
  PlatformModule,
  SERVICE_CONFIG,
  type Clock,
  type ServiceConfig,
} from '#libs/platform';
import { LIMITS } from '#proto';
import { AipGatewayConfig } from './aip-gateway.config.js';
import { ClientRuns, DeviceDirectory } from './clients/index.js';
import { gatewayMetrics, type GatewayMetrics } from './connection/index.js';
import { InjectionFile, NO_INJECTION, PresenceBook, type ParameterInjection } from './devices/index.js';
import { ArtifactSweep, fileDesks, LargeFrameDesk } from './files/index.js';
import { IdentityHttp, registryOnBus, RevocationWatch, type RegistryPort } from './identity/index.js';
import {
  Admission,
  AipGateway,
  AipSockets,
  checkAgain,
  Connections,
  Contention,
  GROUND,
  PresenceWatch,
  type ConnectionGround,
} from './sockets/index.js';

/** Where the endpoint stands: what the environment and the bus give to its parts. */
export interface GatewayPlace extends Omit<AipGatewayConfig, 'injectFile'> {
  readonly bind: string;
  readonly instance: string;
  /** Of the gateway's bus key; undefined without one. */
  readonly seed: string | undefined;
  readonly answerWithinMs: number;
  readonly nc: NatsConnection;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: GatewayMetrics;
  readonly registry: RegistryPort;
  readonly injection: ParameterInjection;
}
export const PLACE = Symbol('PLACE');
const CONFIG = Symbol('CONFIG');
const INJECTION = Symbol('INJECTION');

/** The waiting answer leaves earlier than it is due: the caller's clock started before ours. */
const ANSWER_WITHIN_MS = LIMITS.commandAnswerMs - 1_000;

/** The parts of the AIP endpoint, wherever it stands. */
export const AIP_ENDPOINT: Provider[] = [
  { provide: PresenceBook, inject: [PLACE], useFactory: ({ nc }: GatewayPlace) => PresenceBook.open(nc) },
  { provide: DeviceDirectory, inject: [PLACE], useFactory: ({ nc }: GatewayPlace) => DeviceDirectory.open(nc) },
  { provide: ClientRuns, inject: [PLACE], useFactory: (place: GatewayPlace) => new ClientRuns(place) },
  {
    provide: LargeFrameDesk,
    inject: [PLACE],
    useFactory: ({ nc, logger }: GatewayPlace) => new LargeFrameDesk(nc, logger),
  },
  {
    provide: GROUND,
    inject: [PLACE, PresenceBook, LargeFrameDesk, ClientRuns, DeviceDirectory],
    useFactory: (
      place: GatewayPlace,
      book: PresenceBook,
      largeFrames: LargeFrameDesk,
      runs: ClientRuns,
      directory: DeviceDirectory,
    ): ConnectionGround => ({
      ...place,
      book,
      largeFrames,
      fileDesk: fileDesks(place),
      clients: { runs, directory },
    }),
  },
  { provide: Connections, useFactory: () => new Connections() },
  { provide: Contention, useFactory: () => new Contention() },
  {
    provide: PresenceWatch,
    inject: [PLACE, PresenceBook, Connections],
    useFactory: ({ logger }: GatewayPlace, book: PresenceBook, connections: Connections) =>
      new PresenceWatch({ book, connections, logger }),
  },
  {
    provide: RevocationWatch,
    inject: [PLACE, Connections],
    useFactory: (place: GatewayPlace, connections: Connections) =>
      new RevocationWatch({ ...place, heard: (id) => checkAgain(id, { ...place, connections }) }),
  },
  {
    provide: Admission,
    inject: [PLACE, RevocationWatch, Connections, Contention, PresenceBook],
    useFactory: (
      place: GatewayPlace,
      revocations: RevocationWatch,
      connections: Connections,
      contention: Contention,
      book: PresenceBook,
    ) => new Admission({ ...place, revocations, connections, contention, book }),
  },
  { provide: IdentityHttp, inject: [PLACE], useFactory: (place: GatewayPlace) => new IdentityHttp(place) },
  {
    provide: AipSockets,
    inject: [PLACE, Admission, IdentityHttp],
    useFactory: (place: GatewayPlace, admission: Admission, identityHttp: IdentityHttp) =>
      new AipSockets({ ...place, admission, identityHttp }),
  },
  AipGateway,
];

/**
 * The service between devices and the bus: their sockets, and those of clients that send tasks, on one AIP endpoint. What a
 * frame means is said in libs/aip; what a task is to a device, in services/device-agent.
 */
@Module({
  imports: [PlatformModule.forService('aip-gateway')],
  providers: [
    { provide: CONFIG, useFactory: () => loadConfig(AipGatewayConfig) },
    {
      provide: INJECTION,
      inject: [CONFIG, LOGGER],
      useFactory: async ({ injectFile }: AipGatewayConfig, logger: Logger): Promise<ParameterInjection> =>
        injectFile === undefined ? NO_INJECTION : InjectionFile.open(injectFile, logger),
    },
    {
      provide: PLACE,
      inject: [CONFIG, SERVICE_CONFIG, NATS, CLOCK, LOGGER, Metrics, INJECTION],
      useFactory: async (
        config: AipGatewayConfig,
        { bind, instance, nats: { seedFile } }: ServiceConfig,
        nc: NatsConnection,
        clock: Clock,
        logger: Logger,
        metrics: Metrics,
        injection: ParameterInjection,
      ): Promise<GatewayPlace> => ({
        ...config,
        bind,
        instance,
        nc,
        clock,
        logger,
        injection,
        seed: seedFile === undefined ? undefined : await readSecret(seedFile),
        answerWithinMs: ANSWER_WITHIN_MS,
        metrics: gatewayMetrics(metrics),
        registry: registryOnBus(nc),
      }),
    },
    ...AIP_ENDPOINT,
    { provide: ArtifactSweep, inject: [PLACE], useFactory: (place: GatewayPlace) => new ArtifactSweep(place) },
  ],
})
export class AipGatewayModule {}
