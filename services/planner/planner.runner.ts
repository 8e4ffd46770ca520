import { randomBytes } from 'node:crypto';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import { DURABLES, type Member } from '#proto';
import { openPlanLog, openRunLog } from '#libs/event-log';
import { StoringModelDesk, type ChatModel, type Embedder } from '#libs/llm';
import {
  Actors,
  consumeDurable,
  handAgain,
  Members,
  putArtifact,
  serveQueries,
  type ConsumeEvent,
  type Served,
} from '#libs/messaging';
import type { PlannerPrompter, Runbook } from '#libs/planner';
import type { Clock } from '#libs/platform';
import { actorQueries, EvaluationHandler, LearningHandler, Reflection } from './learning/index.js';
import { startConstellationEndpoint, type McpEndpoint } from './endpoint/index.js';
import { ExampleEmbeddings, examplesFrom, type ExperienceStore } from './experience/index.js';
import { watchFleet, PlanningFleet, MatchHandler } from './fleet/index.js';
import {
  LiveRounds,
  PlanCommits,
  PLANNER_SERVICE,
  type Emit,
  RoundHandler,
  RoundsConsumer,
  Thinking,
} from './rounds/index.js';
import { warmPrompts } from './planner-kit.adapter.js';

const DEVICE_AGENT = 'device-agent';
/** Most commits of runs only pass by; their acks go together. */
const ACK_INTERVAL_MS = 100;
/** What the first prompt needs is loaded once the service is ready and has a moment. */
const WARM_AFTER_MS = 250;
/** How long a replica that stops waits for models, and for everything. */
const ABANDON_MS = 3_000;
const DRAIN_MS = 5_000;
/** Bytes of the text that the words of others are fenced with in a prompt. */
const BOUNDARY_BYTES = 16;

export interface PlannerOptions {
  readonly nc: NatsConnection;
  readonly instance: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly emit: Emit;
  /** Null: runbooks and rules only. */
  readonly model: ChatModel | null;
  readonly prompter: PlannerPrompter;
  readonly runbooks: readonly Runbook[];
  readonly problems: readonly string[];
  readonly roundsMax: number;
  readonly keepPrompts: boolean;
  /** Every run of a goal is judged when it has ended. */
  readonly evaluation: boolean;
  /** Null: no examples are kept. */
  readonly experiences: ExperienceStore | null;
  /** None: examples are found by their words alone. */
  readonly embedder?: Embedder | null;
  /** How long a replica that stops waits for models that were asked; 3 s when absent. */
  readonly abandonMs?: number;
  /** Null: no Constellation MCP server. */
  readonly endpoint: {
    readonly port: number;
    readonly bind: string;
    readonly hosts: readonly string[];
    readonly seed: string;
  } | null;
}

export interface Planner {
  /** Runs that this replica works on. */
  readonly rounds: number;
  /** Where the Constellation MCP server listens; null when there is none. */
  readonly mcpPort: number | null;
  /** Takes no more, waits a while for the models that were asked, and leaves the rest to the other replicas. Safe to call twice. */
  stop(): Promise<void>;
}

/** Puts the parts together and gives them their order: what is known of the world first, work last, and back at the end. */
export async function startPlanner(options: PlannerOptions): Promise<Planner> {
  const { nc, instance, clock, logger } = options;
  const fleet = new PlanningFleet();
  const live = new LiveRounds();
  const stopped = new AbortController();
  const watch = await watchFleet(nc, fleet, logger);
  const actors = await Actors.open(nc, (error) => logger.warn({ err: error }, 'actors'));
  const parts = partsOf(options, { fleet, live, signal: stopped.signal });
  const queries = await serve(options, { ...parts, fleet, actors });
  const endpoint = await startEndpoint(options);
  const members = new Members(nc, {
    service: PLANNER_SERVICE,
    instance,
    clock,
    // The orchestrator only looks whether somebody is there; rounds come from one durable.
    changed: () => undefined,
    seen: (all) => fleet.served(agentsOf(all), performance.now()),
    report: (error) => logger.warn({ err: error }, 'membership'),
  });
  members.begin();
  const consumption = consumeDurable(nc, DURABLES.plannerRounds, (message) => parts.consumer.handle(message), {
    service: PLANNER_SERVICE,
    clock,
    concurrency: options.roundsMax,
    ackIntervalMs: ACK_INTERVAL_MS,
    report: (event) => report(logger, event),
  });
  const warming = warmLater(options);
  const stop = async (): Promise<void> => {
    clearTimeout(warming);
    await queries.stop();
    await endpoint?.stop();
    await members.end();
    const drained = consumption.stop(DRAIN_MS);
    const abandon = (): void => {
      live.shutDown();
      stopped.abort();
    };
    const abandoning = setTimeout(abandon, options.abandonMs ?? ABANDON_MS);
    await drained;
    clearTimeout(abandoning);
    abandon();
    await watch.end();
    await actors.end();
  };
  let stopping: Promise<void> | undefined;
  return {
    get rounds() {
      return live.size;
    },
    mcpPort: endpoint?.port ?? null,
    stop: () => (stopping ??= stop()),
  };
}

interface World {
  readonly fleet: PlanningFleet;
  readonly live: LiveRounds;
  /** Aborted when this replica stops. */
  readonly signal: AbortSignal;
}

interface Parts {
  readonly consumer: RoundsConsumer;
  readonly evaluations: EvaluationHandler;
  readonly learning: LearningHandler | null;
}

function partsOf(options: PlannerOptions, { fleet, live, signal }: World): Parts {
  const { nc, instance, clock, logger, emit, model, prompter, runbooks, keepPrompts, experiences } = options;
  const runs = openRunLog(nc);
  const commits = new PlanCommits({ plans: openPlanLog(nc), clock, instance });
  const artifacts = { put: (content: Uint8Array) => putArtifact(nc, content) };
  const random = (): string => randomBytes(BOUNDARY_BYTES).toString('hex');
  const desk = model === null ? null : new StoringModelDesk({ model, artifacts, keepPrompts, logger });
  const embeddings = embeddingsOf(options, signal);
  const examples = experiences === null ? async () => [] : examplesFrom(experiences, logger, { embeddings });
  const infos = runbooks.map(({ info }) => info);
  const thinking =
    desk === null ? null : new Thinking({ desk, prompter, fleet, runbooks: infos, examples, clock, random });
  const reflection = desk === null ? null : new Reflection({ desk, prompter, random, signal });
  const rounds = new RoundHandler({ runs, commits, live, thinking, runbooks, fleet, clock, logger, emit });
  const evaluations = new EvaluationHandler({ runs, commits, reflection, fleet, logger });
  const learnt = (): void => embeddings?.catchUp();
  const learning =
    experiences === null
      ? null
      : new LearningHandler({ runs, commits, store: experiences, reflection, clock, logger, learnt });
  const consumer = new RoundsConsumer({
    rounds,
    live,
    runs,
    evaluations: reflection === null ? null : evaluations,
    evaluateAll: options.evaluation,
    logger,
  });
  return { consumer, evaluations, learning };
}

/** Those of examples that are not embedded yet are made at once. */
function embeddingsOf(
  { experiences, embedder, logger }: PlannerOptions,
  signal: AbortSignal,
): ExampleEmbeddings | null {
  if (experiences === null || embedder === undefined || embedder === null) return null;
  const embeddings = new ExampleEmbeddings({ embedder, store: experiences, logger, signal });
  embeddings.catchUp();
  return embeddings;
}

function serve(
  { nc, logger, clock, runbooks, problems, model }: PlannerOptions,
  {
    consumer,
    evaluations,
    learning,
    fleet,
    actors,
  }: Parts & { readonly fleet: PlanningFleet; readonly actors: Actors },
): Promise<Served> {
  const matches = new MatchHandler({ runbooks, problems, fleet, hasModel: model !== null });
  return serveQueries(
    nc,
    PLANNER_SERVICE,
    {
      'dlq-retry': (request) => handAgain(nc, request, { RUNS: (message) => consumer.handle(message) }),
      match: (request) => matches.match(request),
      runbooks: () => matches.runbooks(),
      runbook: (request) => matches.runbook(request),
      ...actorQueries({ learning, evaluations, actors, clock }),
    },
    { report: (error, query) => logger.warn({ err: error, query }, 'the query could not be answered') },
  );
}

async function startEndpoint({ nc, clock, logger, endpoint }: PlannerOptions): Promise<McpEndpoint | undefined> {
  return endpoint === null ? undefined : startConstellationEndpoint({ nc, clock, logger, ...endpoint });
}

/** Who has no model makes no prompts. */
function warmLater({ model, prompter, logger }: PlannerOptions): NodeJS.Timeout | undefined {
  if (model === null) return undefined;
  const warm = (): void => {
    try {
      warmPrompts(prompter);
    } catch (error) {
      logger.warn({ err: error }, 'a prompt of nothing could not be made'); // a round will say more
    }
  };
  return setTimeout(warm, WARM_AFTER_MS).unref();
}

function agentsOf(members: readonly Member[]): string[] {
  return members.flatMap(({ service, agents = [] }) => (service === DEVICE_AGENT ? agents : []));
}

function report(logger: Logger, event: ConsumeEvent): void {
  const { kind, ...rest } = event;
  if (event.kind === 'interrupted') logger.warn({ durable: event.durable, err: event.error }, 'consumer: interrupted');
  else if (kind === 'poison') logger.error(rest, 'consumer: poison');
  else logger.warn(rest, 'consumer: retry');
}
