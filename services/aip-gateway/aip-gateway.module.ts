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
  part,
  PlatformModule,
  SERVICE_CONFIG,
  token,
  type Clock,
} from '#libs/platform';
import { LIMITS } from '#proto';
import { AipGatewayConfig } from './aip-gateway.config.js';
import { ClientRuns, DeviceDirectory } from './clients/index.js';
import { gatewayMetrics, type GatewayMetrics } from './connection/index.js';
import { InjectionFile, NO_INJECTION, PresenceBook, type ParameterInjection } from './devices/index.js';
import { ArtifactSweep, fileDesks, LargeFrameDesk } from './files/index.js';
import { IdentityHttp, registryOnBus, RevocationWatch, type RegistryPort } from './identity/index.js';
import { OfferHttp } from './offer/index.js';
import {
  Admission,
  AipGateway,
  AipSockets,
  checkAgain,
  Connections,
  Contention,
  GROUND,
  PresenceWatch,
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
export const PLACE = token<GatewayPlace>('PLACE');
const CONFIG = token<AipGatewayConfig>('CONFIG');
const INJECTION = token<ParameterInjection>('INJECTION');

/** The waiting answer leaves earlier than it is due: the caller's clock started before ours. */
const ANSWER_WITHIN_MS = LIMITS.commandAnswerMs - 1_000;

/**
 * The parts of the AIP endpoint, wherever it stands.
 *
 *   socket ──AipSockets: who is it?──Admission──► AipGateway ──device──► DeviceConnection ──► PRESENCE, commands, files
 *                                                     └──────client────► ConstellationConnection ──► runs
 */
export const AIP_ENDPOINT: Provider[] = [
  part(PresenceBook, [PLACE], ({ nc }) => PresenceBook.open(nc)),
  part(DeviceDirectory, [PLACE], ({ nc }) => DeviceDirectory.open(nc)),
  part(ClientRuns, [PLACE], (place) => new ClientRuns(place)),
  part(LargeFrameDesk, [PLACE], ({ nc, logger }) => new LargeFrameDesk(nc, logger)),
  part(
    GROUND,
    [PLACE, PresenceBook, LargeFrameDesk, ClientRuns, DeviceDirectory],
    (place, book, largeFrames, runs, directory) => ({
      ...place,
      book,
      largeFrames,
      fileDesk: fileDesks(place),
      clients: { runs, directory },
    }),
  ),
  Connections,
  Contention,
  part(
    PresenceWatch,
    [PLACE, Connections],
    ({ nc, logger }, connections) => new PresenceWatch({ nc, connections, logger }),
  ),
  part(
    RevocationWatch,
    [PLACE, Connections],
    (place, connections) => new RevocationWatch({ ...place, heard: (id) => checkAgain(id, { ...place, connections }) }),
  ),
  part(
    Admission,
    [PLACE, RevocationWatch, Connections, Contention, PresenceBook],
    (place, revocations, connections, contention, book) =>
      new Admission({ ...place, revocations, connections, contention, book }),
  ),
  part(IdentityHttp, [PLACE], (place) => new IdentityHttp(place)),
  part(OfferHttp, [PLACE], (place) => new OfferHttp(place)),
  part(
    AipSockets,
    [PLACE, Admission, IdentityHttp, OfferHttp],
    (place, admission, identityHttp, offerHttp) => new AipSockets({ ...place, admission, identityHttp, offerHttp }),
  ),
  AipGateway,
];

/**
 * The service between devices and the bus: their sockets, and those of clients that send tasks, on one AIP endpoint. What a
 * frame means is said in libs/aip; what a task is to a device, in services/device-agent. Of the bus it takes nothing as a
 * service: what comes for a device comes to the connection that has it.
 */
@Module({
  imports: [PlatformModule.forService('aip-gateway')],
  providers: [
    part(CONFIG, [], () => loadConfig(AipGatewayConfig)),
    part(INJECTION, [CONFIG, LOGGER], ({ injectFile }, logger) =>
      injectFile === undefined ? NO_INJECTION : InjectionFile.open(injectFile, logger),
    ),
    part(
      PLACE,
      [CONFIG, SERVICE_CONFIG, NATS, CLOCK, LOGGER, Metrics, INJECTION],
      async (config, { bind, instance, nats: { seedFile } }, nc, clock, logger, metrics, injection) => ({
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
    ),
    ...AIP_ENDPOINT,
    part(ArtifactSweep, [PLACE], (place) => new ArtifactSweep(place)),
  ],
})
export class AipGatewayModule {}
