import { randomBytes } from 'node:crypto';
import { Module } from '@nestjs/common';
import { DURABLES, type RunbookInfo } from '#proto';
import { meteredLog, openPlanLog, openRunLog, PLAN_LOG, type RunLog } from '#libs/event-log';
import { readSecret } from '#libs/keys';
import { meteredModel, StoringModelDesk } from '#libs/llm';
import { Actors, agentsOf, BusStrategy, Members, putArtifact } from '#libs/messaging';
import type { Runbook } from '#libs/planner';
import {
  CLOCK,
  ConfigError,
  INSTANCE,
  knowsActors,
  loadConfig,
  LOGGER,
  Metrics,
  NATS,
  part,
  SERVICE_CONFIG,
  ServicePorts,
  token,
} from '#libs/platform';
import { McpEndpoint } from './endpoint/index.js';
import { ExampleEmbeddings, examplesFrom, meteredEmbedder, type ExperienceStore } from './experience/index.js';
import { FleetWatch, MatchQueries, PlanningFleet } from './fleet/index.js';
import { loadPlannerKit, PLANNER_KIT, RunbookShelf, SettingsQueries, Warming } from './kit/index.js';
import { EvaluationHandler, LEARNING, LearningHandler, LearningQueries, Reflection } from './learning/index.js';
import { PlannerConfig } from './planner.config.js';
import {
  LiveRounds,
  PlanCommits,
  PLANNER_SERVICE,
  RoundHandler,
  ROUNDS,
  roundRecords,
  RoundsConsumer,
  Thinking,
} from './rounds/index.js';
/** Bytes of the text that the words of others are fenced with in a prompt. */
const BOUNDARY_BYTES = 16;
const random = (): string => randomBytes(BOUNDARY_BYTES).toString('hex');

export const PLANNER_CONFIG = token<PlannerConfig>('PLANNER_CONFIG');
/** What edits over MCP are signed with; null when there is no endpoint. */
export const MCP_SEED = token<string | null>('MCP_SEED');
/** Null: no examples are kept. */
export const EXPERIENCES = token<{ readonly store: ExperienceStore } | null>('EXPERIENCES');
const RUNS = token<RunLog>('RUNS');
/** These are null without a model, or without examples. */
const DESK = token<StoringModelDesk | null>('DESK');
const EMBEDDINGS = token<ExampleEmbeddings | null>('EMBEDDINGS');
const THINKING = token<Thinking | null>('THINKING');
const REFLECTION = token<Reflection | null>('REFLECTION');
const ENDPOINT = token<McpEndpoint | null>('ENDPOINT');

/**
 * One replica of the planner. What is proposed is judged by the orchestrator, and what a planner does next is said in libs/planner.
 *
 *   RUNS ──EDIT_OPENED──► RoundHandler ──runbook, rule, Thinking──► PLANS
 *     └────end of a run──► EvaluationHandler ──► PLANS      learn, demonstrate ──► LearningHandler ──► examples
 *   other planners ──MCP──► McpEndpoint ──► verbs of the orchestrator
 */
@Module({
  controllers: [RoundsConsumer, MatchQueries, LearningQueries, SettingsQueries],
  providers: [
    part(PLANNER_CONFIG, [], () => loadConfig(PlannerConfig)),
    part(PLANNER_KIT, [PLANNER_CONFIG, LOGGER, Metrics], async (config, logger, metrics) => {
      const { model, embedder, ...kit } = await loadPlannerKit(config, process.env, logger);
      return {
        ...kit,
        model: meteredModel(model, metrics),
        embedder: meteredEmbedder(embedder, metrics),
      };
    }),
    part(RunbookShelf, [PLANNER_KIT], ({ shelf }) => shelf),
    part(Warming, [PLANNER_KIT, LOGGER], (kit, logger) => new Warming(kit, logger)),
    part(MCP_SEED, [PLANNER_CONFIG, SERVICE_CONFIG], async ({ mcpPort }, { nats }) =>
      mcpPort === null ? null : readSeed(nats.seedFile),
    ),
    part(EXPERIENCES, [PLANNER_CONFIG, LOGGER], async ({ experience }, logger) => {
      if (!experience) return null;
      // Only who keeps examples pays for the mapper.
      const { openExperiences } = await import('./experience/postgres/index.js');
      return openExperiences(logger);
    }),
    PlanningFleet,
    part(FleetWatch, [NATS, PlanningFleet, LOGGER], (nc, fleet, logger) => new FleetWatch(nc, fleet, logger)),
    knowsActors(),
    part(LiveRounds, [PLANNER_CONFIG, BusStrategy, Metrics], ({ roundsMax }, bus, metrics) => {
      bus.limit(DURABLES.plannerRounds, { concurrency: () => roundsMax });
      const live = new LiveRounds();
      const gauge = metrics.gauge('planner_rounds_live', 'Runs that this replica works on');
      Object.assign(gauge, { collect: () => gauge.set(live.size) });
      return live;
    }),
    part(RUNS, [NATS], openRunLog),
    part(
      PlanCommits,
      [NATS, CLOCK, INSTANCE, Metrics],
      (nc, clock, instance, metrics) =>
        new PlanCommits({ plans: meteredLog(openPlanLog(nc), { metrics, stream: PLAN_LOG.stream }), clock, instance }),
    ),
    part(DESK, [PLANNER_KIT, PLANNER_CONFIG, NATS, LOGGER], ({ model }, { keepPrompts }, nc, logger) => {
      const artifacts = { put: (content: Uint8Array) => putArtifact(nc, content) };
      return model && new StoringModelDesk({ model, artifacts, keepPrompts, logger });
    }),
    part(
      EMBEDDINGS,
      [PLANNER_KIT, EXPERIENCES, LiveRounds, LOGGER],
      ({ embedder }, experiences, { signal }, logger) =>
        experiences && embedder && new ExampleEmbeddings({ embedder, store: experiences.store, logger, signal }),
    ),
    part(
      THINKING,
      [DESK, PLANNER_KIT, PlanningFleet, EXPERIENCES, EMBEDDINGS, CLOCK, LOGGER],
      (desk, { prompter, shelf }, fleet, experiences, embeddings, clock, logger) => {
        const examples = experiences ? examplesFrom(experiences.store, logger, { embeddings }) : async () => [];
        const runbooks = (): RunbookInfo[] => shelf.runbooks.map(({ info }) => info);
        return desk && new Thinking({ desk, prompter, fleet, runbooks, examples, clock, random });
      },
    ),
    part(
      REFLECTION,
      [DESK, PLANNER_KIT, LiveRounds],
      (desk, { prompter }, { signal }) => desk && new Reflection({ desk, prompter, random, signal }),
    ),
    part(
      RoundHandler,
      [RUNS, PlanCommits, LiveRounds, THINKING, PLANNER_KIT, PlanningFleet, CLOCK, LOGGER, Metrics],
      (runs, commits, live, thinking, { shelf }, fleet, clock, logger, metrics) => {
        const emit = roundRecords(logger, metrics);
        const runbooks = (): readonly Runbook[] => shelf.runbooks;
        return new RoundHandler({ runs, commits, live, thinking, runbooks, fleet, clock, logger, emit });
      },
    ),
    part(
      EvaluationHandler,
      [RUNS, PlanCommits, REFLECTION, PlanningFleet, LOGGER],
      (runs, commits, reflection, fleet, logger) => new EvaluationHandler({ runs, commits, reflection, fleet, logger }),
    ),
    part(
      LEARNING,
      [RUNS, PlanCommits, EXPERIENCES, REFLECTION, EMBEDDINGS, CLOCK, LOGGER],
      (runs, commits, experiences, reflection, embeddings, clock, logger) => {
        const learnt = (): void => embeddings?.catchUp();
        const parts = { runs, commits, reflection, clock, logger, learnt };
        return experiences && new LearningHandler({ ...parts, store: experiences.store });
      },
    ),
    part(
      ROUNDS,
      [RoundHandler, LiveRounds, RUNS, EvaluationHandler, REFLECTION, PLANNER_CONFIG, LOGGER],
      (rounds, live, runs, handler, reflection, { evaluation: evaluateAll }, logger) => {
        const evaluations = reflection && handler;
        return { rounds, live, runs, evaluations, evaluateAll, logger };
      },
    ),
    part(
      ENDPOINT,
      [MCP_SEED, PLANNER_CONFIG, SERVICE_CONFIG, NATS, Actors, ServicePorts, CLOCK, LOGGER],
      (seed, { mcpPort, mcpHosts: hosts }, { bind }, nc, actors, ports, clock, logger) => {
        if (seed === null || mcpPort === null) return null;
        return new McpEndpoint({ nc, actors, ports, port: mcpPort, bind, hosts, seed, clock, logger });
      },
    ),
    part(
      Members,
      [NATS, INSTANCE, CLOCK, LOGGER, PlanningFleet, THINKING],
      (nc, instance, clock, logger, fleet, thinking) =>
        new Members(nc, {
          service: PLANNER_SERVICE,
          model: thinking !== null,
          instance,
          clock,
          // The orchestrator only looks whether somebody is there; rounds come from one durable.
          changed: () => undefined,
          seen: (all) => fleet.served(agentsOf(all), performance.now()),
          report: (error) => logger.warn({ err: error }, 'membership'),
        }),
    ),
  ],
})
export class PlannerModule {}

/** Edits that come over MCP are sent in the name of the person who allowed them, and signed by the planner that passes them on. */
async function readSeed(file: string | undefined): Promise<string> {
  const seed = file === undefined ? undefined : await readSecret(file);
  if (seed !== undefined) return seed;
  throw new ConfigError(
    'ORRERY_NATS_SEED_FILE must name the file with the seed of the planner, or ORRERY_MCP_PORT must be off: edits over MCP are signed with it.',
  );
}
