import { Module } from '@nestjs/common';
import { APP_FILTER, APP_GUARD } from '@nestjs/core';
import type { Logger } from 'pino';
import { readSecret } from '#libs/keys';
import { CLOCK, LOGGER, NATS, part, PlatformModule, SERVICE_CONFIG, token } from '#libs/platform';
import { AccessController, AccessDesk, AccessGuard, AccessList, peerOf } from './access/index.js';
import { AppFiles } from './app/index.js';
import { Logins, Sessions, TokenUses } from './callers/index.js';
import { loadConsoleConfig, type ConsoleConfig } from './console.config.js';
import { LoginController, MeController, OidcProvider, Providers } from './login/index.js';
import {
  ApprovalsController,
  AttentionController,
  ContentApprovalsController,
  ControlController,
  MetricsController,
  DevicesController,
  RegistryWords,
  RequestsController,
  RunNamesGuard,
  RunVerbs,
  RunsController,
  SearchController,
} from './runs/index.js';
import { DeviceOffers, EnrolmentController } from './enrolment/index.js';
import { LiveGateway, LiveLists, LiveSockets, LiveTopics } from './live/index.js';
import { Questions, QuestionsController } from './questions/index.js';
import { OpenApiController } from './openapi/index.js';
import {
  ArtifactFiles,
  ArtifactsController,
  OutputController,
  RecordedOutputs,
  RecordsController,
  RunEvents,
  RunOutput,
  RunRecords,
} from './streams/index.js';
import { ScreenDesk, ScreensController, ScreenSockets } from './screens/index.js';
import { ConsoleAdmission, ADMISSION_LIMITS, Door, OpenAnswers, RefusalsFilter, RolesGuard } from './http/index.js';

const CONSOLE_CONFIG = token<ConsoleConfig>('CONSOLE_CONFIG');
/** Of the console's bus key. */
const SEED = token<{ readonly seed: string | undefined }>('SEED');

/**
 * The service for people's own programs: requests, runs and verbs over HTTP, with live streams. It asks the bus and passes on what it
 * hears; nothing is decided or stored here.
 */
@Module({
  imports: [PlatformModule.forService('console')],
  controllers: [
    RequestsController,
    RunsController,
    SearchController,
    MetricsController,
    OutputController,
    ControlController,
    ApprovalsController,
    AttentionController,
    ContentApprovalsController,
    DevicesController,
    ScreensController,
    QuestionsController,
    EnrolmentController,
    ArtifactsController,
    RecordsController,
    OpenApiController,
    LoginController,
    MeController,
    AccessController,
  ],
  providers: [
    part(OpenAnswers, [], () => new OpenAnswers(ADMISSION_LIMITS.waitingBytesMax)),
    part(ConsoleAdmission, [OpenAnswers], (answers) => new ConsoleAdmission(answers)),
    part(RunEvents, { nc: NATS, answers: OpenAnswers }, (parts) => new RunEvents(parts)),
    part(RunOutput, { nc: NATS, answers: OpenAnswers }, (parts) => new RunOutput(parts)),
    part(RecordedOutputs, { nc: NATS, answers: OpenAnswers }, (parts) => new RecordedOutputs(parts)),
    part(RunRecords, { nc: NATS, answers: OpenAnswers }, (parts) => new RunRecords(parts)),
    part(CONSOLE_CONFIG, [], () => loadConsoleConfig()),
    part(SEED, [SERVICE_CONFIG], async ({ nats }) => ({
      seed: nats.seedFile === undefined ? undefined : await readSecret(nats.seedFile),
    })),
    part(RunVerbs, { nc: NATS, clock: CLOCK, key: SEED }, ({ key, ...parts }) => new RunVerbs({ ...parts, ...key })),
    part(
      RegistryWords,
      { nc: NATS, clock: CLOCK, key: SEED },
      ({ key, ...parts }) => new RegistryWords({ ...parts, ...key }),
    ),
    part(
      Logins,
      { nc: NATS, clock: CLOCK, logger: LOGGER, config: CONSOLE_CONFIG },
      ({ config: { adminTokenFile }, ...parts }) => new Logins({ ...parts, adminTokenFile }),
    ),
    part(AppFiles, [CONSOLE_CONFIG], ({ appFolder }) => new AppFiles(appFolder)),
    part(AccessDesk, { nc: NATS, clock: CLOCK, logger: LOGGER }, (parts) => new AccessDesk(parts)),
    part(
      AccessList,
      { nc: NATS, clock: CLOCK, key: SEED },
      ({ key, ...parts }) => new AccessList({ ...parts, ...key }),
    ),
    part(Sessions, { nc: NATS, clock: CLOCK }, (parts) => new Sessions(parts)),
    part(
      TokenUses,
      { nc: NATS, clock: CLOCK, logger: LOGGER, key: SEED },
      ({ key, ...parts }) => new TokenUses({ ...parts, ...key }),
    ),
    part(
      Providers,
      [CONSOLE_CONFIG],
      ({ oidc }) => new Providers(oidc === undefined ? undefined : new OidcProvider(oidc)),
    ),
    part(
      Door,
      { logins: Logins, sessions: Sessions, uses: TokenUses, desk: AccessDesk, app: AppFiles, config: CONSOLE_CONFIG },
      ({ config: { hosts, origin }, uses, desk, ...parts }) =>
        new Door({
          ...parts,
          hosts,
          origin,
          used: (caller) => uses.used(caller),
          refused: (request) => desk.refused(peerOf(request)),
        }),
    ),
    part(Questions, { nc: NATS, clock: CLOCK, key: SEED }, ({ key, ...parts }) => new Questions({ ...parts, ...key })),
    part(
      DeviceOffers,
      [CONSOLE_CONFIG],
      ({ gatewayUrl, offerDir }) => new DeviceOffers({ url: gatewayUrl, dir: offerDir }),
    ),
    part(ArtifactFiles, { nc: NATS, answers: OpenAnswers }, (parts) => new ArtifactFiles(parts)),
    part(
      ScreenDesk,
      { config: CONSOLE_CONFIG, door: Door, desk: AccessDesk, words: RegistryWords, logger: LOGGER },
      ({ config: { screens }, ...parts }) => new ScreenDesk({ ...parts, screens }),
    ),
    part(ScreenSockets, [Door, ScreenDesk], (door, desk) => new ScreenSockets(door, desk)),
    part(LiveSockets, [Door], (door) => new LiveSockets(door)),
    part(LiveLists, { nc: NATS, clock: CLOCK, key: SEED }, ({ key, ...parts }) => new LiveLists({ ...parts, ...key })),
    part(LiveTopics, { nc: NATS, lists: LiveLists }, (parts) => new LiveTopics(parts)),
    LiveGateway,
    { provide: APP_GUARD, useFactory: () => new RolesGuard() },
    {
      provide: APP_GUARD,
      inject: [RunVerbs],
      useFactory: (verbs: RunVerbs) => new RunNamesGuard(verbs),
    },
    // Behind the one that refuses, and the one that knows which run is meant: what nobody is shown needs no record.
    {
      provide: APP_GUARD,
      inject: [AccessDesk, LOGGER],
      useFactory: (desk: AccessDesk, logger: Logger) => new AccessGuard(desk, logger),
    },
    { provide: APP_FILTER, inject: [LOGGER], useFactory: (logger: Logger) => new RefusalsFilter(logger) },
  ],
})
export class ConsoleModule {}
