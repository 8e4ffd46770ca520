import { Inject, Module, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import { readSecret } from '#libs/keys';
import { untypedLines } from '#libs/planner';
import {
  CLOCK,
  ConfigError,
  loadConfig,
  LOGGER,
  Metrics,
  NATS,
  PlatformModule,
  SERVICE_CONFIG,
  ServicePorts,
  type Clock,
  type ServiceConfig,
} from '#libs/platform';
import type { Experiences } from './experience/postgres/index.js';
import { meteredEmbedder } from './experience/index.js';
import { PLANNER_SERVICE, meteredModel, roundRecords } from './rounds/index.js';
import { loadPlannerKit } from './planner-kit.adapter.js';
import { PlannerConfig } from './planner.config.js';
import { startPlanner, type Planner, type PlannerOptions } from './planner.runner.js';

const UNTYPED_LINES =
  'lines of a runbook have no type and are success-only: after a failure what they lead to is skipped';
const OPTIONS = Symbol('OPTIONS');
const EXPERIENCES = Symbol('EXPERIENCES');

/**
 * The service that proposes constellations: rounds with a model or a runbook, what was learnt from runs that ended, and the door for other
 * planners. What is proposed is judged by the orchestrator, and what a planner does next is said in libs/planner.
 */
@Module({
  imports: [PlatformModule.forService(PLANNER_SERVICE)],
  providers: [
    {
      provide: EXPERIENCES,
      inject: [LOGGER],
      useFactory: async (logger: Logger): Promise<Experiences | null> => {
        if (!loadConfig(PlannerConfig).experience) return null;
        // Only who keeps examples pays for the mapper.
        const { openExperiences } = await import('./experience/postgres/index.js');
        return openExperiences(logger);
      },
    },
    {
      provide: OPTIONS,
      inject: [NATS, SERVICE_CONFIG, CLOCK, LOGGER, Metrics, EXPERIENCES],
      useFactory: async (
        nc: NatsConnection,
        { instance, bind, nats }: ServiceConfig,
        clock: Clock,
        logger: Logger,
        metrics: Metrics,
        experiences: Experiences | null,
      ): Promise<PlannerOptions> => {
        const config = loadConfig(PlannerConfig);
        const { model, embedder, ...kit } = await loadPlannerKit(config, process.env);
        for (const problem of kit.problems) logger.warn({ problem }, 'a runbook cannot be used');
        for (const { info, file } of kit.runbooks) {
          const lines = untypedLines(file);
          if (lines.length > 0) logger.warn({ runbook: info.name, lines }, UNTYPED_LINES);
        }
        const { mcpPort: port, mcpHosts: hosts } = config;
        return {
          nc,
          instance,
          clock,
          logger,
          emit: roundRecords(logger, metrics),
          ...config,
          ...kit,
          model: model === null ? null : meteredModel(model, metrics),
          experiences: experiences?.store ?? null,
          embedder: embedder === null ? null : meteredEmbedder(embedder, metrics),
          endpoint: port === null ? null : { port, hosts, bind, seed: await readSeed(nats.seedFile) },
        };
      },
    },
  ],
})
export class PlannerModule implements OnApplicationBootstrap, BeforeApplicationShutdown {
  readonly #options: PlannerOptions;
  readonly #metrics: Metrics;
  readonly #ports: ServicePorts;
  #planner: Planner | undefined;

  constructor(
    @Inject(OPTIONS) options: PlannerOptions,
    @Inject(Metrics) metrics: Metrics,
    @Inject(ServicePorts) ports: ServicePorts,
  ) {
    this.#options = options;
    this.#metrics = metrics;
    this.#ports = ports;
  }

  async onApplicationBootstrap(): Promise<void> {
    const planner = await startPlanner(this.#options);
    this.#planner = planner;
    if (planner.mcpPort !== null) this.#ports.register('mcp', planner.mcpPort);
    const gauge = this.#metrics.gauge('planner_rounds_live', 'Runs that this replica works on');
    Object.assign(gauge, { collect: () => gauge.set(planner.rounds) });
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.#planner?.stop();
  }
}

/** Edits that come over MCP are sent in the name of whoever allowed them, and signed by the planner that passes them on. */
async function readSeed(file: string | undefined): Promise<string> {
  const seed = file === undefined ? undefined : await readSecret(file);
  if (seed !== undefined) return seed;
  throw new ConfigError(
    'ORRERY_NATS_SEED_FILE must name the file with the seed of the planner, or ORRERY_MCP_PORT must be off: edits over MCP are signed with it.',
  );
}
